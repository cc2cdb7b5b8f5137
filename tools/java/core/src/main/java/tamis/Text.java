// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/** Strings as the library takes them: UTF-8. */
final class Text {
  private Text() {}

  /**
   * Returns the UTF-8 of a string. A lone surrogate has none: getBytes() makes a question mark of
   * it, so that two keys would become one. It is refused.
   *
   * <p>A string of ASCII alone, the usual key, is as long as its UTF-8 and equal to it. Any other
   * has lone surrogates or is shorter than its UTF-8.
   */
  static byte[] utf8(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    if (bytes.length == text.length()
        ? !new String(bytes, ISO_8859_1).equals(text)
        : hasLone(text)) {
      throw new IllegalArgumentException(
          "a string with a lone surrogate has no UTF-8, so it is no key");
    }
    return bytes;
  }

  private static boolean hasLone(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (!Character.isHighSurrogate(c)
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(++i))) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Returns the UTF-8 with a NUL behind it, for C; null of null. A NUL within would cut it short.
   */
  static byte[] terminated(String text) {
    if (text == null) {
      return null;
    }
    byte[] bytes = utf8(text);
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a NUL in " + text.replace('\0', '?'));
    }
    return Arrays.copyOf(bytes, bytes.length + 1);
  }

  /**
   * Returns the string of bytes that the library gave. They come from files, so may be no UTF-8.
   */
  static String of(byte[] bytes) {
    return bytes == null ? null : new String(bytes, UTF_8);
  }
}
