// SPDX-License-Identifier: BSD-2-Clause
package tamis.suite;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much of JSON as the suite needs: numbers become Long or Double, the rest what is expected. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object read(String text) {
    return new Json(text).value();
  }

  private char next() {
    while (Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.charAt(at);
  }

  private boolean isTaken(char c) {
    if (next() != c) {
      return false;
    }
    at++;
    return true;
  }

  private Object value() {
    switch (next()) {
      case '{':
        return object();
      case '[':
        return list();
      case '"':
        return string();
      default:
        int from = at;
        while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) {
          at++;
        }
        return word(text.substring(from, at));
    }
  }

  private static Object word(String word) {
    switch (word) {
      case "null":
        return null;
      case "true":
        return 1L;
      case "false":
        return 0L;
      default:
        if (word.matches("-?[0-9]+")) {
          return Long.valueOf(word);
        }
        return Double.valueOf(word);
    }
  }

  private Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    while (!isTaken('}')) {
      next();
      String name = string();
      isTaken(':');
      map.put(name, value());
      isTaken(',');
    }
    return map;
  }

  private List<Object> list() {
    List<Object> list = new ArrayList<>();
    at++;
    while (!isTaken(']')) {
      list.add(value());
      isTaken(',');
    }
    return list;
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char c = text.charAt(at);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      c = text.charAt(++at);
      if (c == 'u') {
        out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
        at += 4;
      } else {
        int which = "nrtbf".indexOf(c);
        out.append(which < 0 ? c : "\n\r\t\b\f".charAt(which));
      }
    }
    at++;
    return out.toString();
  }

  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(out, value);
    return out.toString();
  }

  private static void write(StringBuilder out, Object value) {
    if (value instanceof Map<?, ?> map) {
      String before = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(before);
        write(out, entry.getKey());
        out.append(": ");
        write(out, entry.getValue());
        before = ", ";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Iterable<?> list) {
      String before = "";
      out.append('[');
      for (Object each : list) {
        out.append(before);
        write(out, each);
        before = ", ";
      }
      out.append(']');
    } else if (value instanceof String text) {
      out.append('"');
      text.chars().forEach(c -> write(out, (char) c));
      out.append('"');
    } else {
      out.append(value);
    }
  }

  private static void write(StringBuilder out, char c) {
    if (c == '"' || c == '\\') {
      out.append('\\').append(c);
    } else if (c < ' ' || c > '~') {
      out.append(String.format("\\u%04x", (int) c));
    } else {
      out.append(c);
    }
  }
}
