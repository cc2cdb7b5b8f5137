// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/**
 * An error of the library. Its message is the library's sentence: what was tried, on what, and what
 * mends it.
 */
public class TamisException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** In {@link #answers()}: the key was not dealt with, and may be given again. */
  public static final byte REFUSED = 2;

  private final ErrorCode code;
  private final byte[] answers;

  TamisException(ErrorCode code, String message, byte[] answers) {
    super(message);
    this.code = code;
    this.answers = answers;
  }

  /** Returns what went wrong. */
  public ErrorCode code() {
    return code;
  }

  /**
   * Of a call for many keys: a byte for each key, 1 or 0 as the call would have answered, or {@link
   * #REFUSED}. So nobody loses that a key was new. Null of all other calls.
   */
  public byte[] answers() {
    return answers == null ? null : answers.clone();
  }

  /** Returns rc, or throws the exception of a code below zero, with the sentence of this thread. */
  static long check(long rc) {
    if (rc < 0) {
      throw of(rc, null);
    }
    return rc;
  }

  static TamisException of(long rc, byte[] answers) {
    return new TamisException(ErrorCode.of(rc), Native.text(Native.LAST_ERROR, 0), answers);
  }
}
