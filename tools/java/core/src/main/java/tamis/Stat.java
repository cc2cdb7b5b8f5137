// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is known of a filter or of a segment: fields by the names that tamis_stat.h gives them.
 * {@link Field} says what each means; later versions of the library add fields.
 */
public final class Stat {
  /** A bit of {@link #state()}: as many keys as it was made for, or no room for more. */
  public static final int FULL = 1;

  /** A sync failed, and no later one has brought all to the disk. */
  public static final int DEGRADED = 2;

  /** The machine went down: keys that were added then may be missing. */
  public static final int UNCLEAN = 4;

  /** Wrong bytes were found in it. */
  public static final int DAMAGED = 8;

  /** More keys than the rate that was asked for allows. */
  public static final int OVER = 16;

  /** The tables of fields do not change while the library is loaded. */
  private static final List<List<Field>> FIELDS =
      List.of(Field.all(Field.FILTER, 0), Field.all(Field.SEGMENT, 0));

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** From a row that has the values of all fields that a member has, in the order of the table. */
  Stat(int of, Row row) {
    for (Field field : FIELDS.get(of - Field.FILTER)) {
      switch (field.type()) {
        case MADE -> {}
        case TEXT -> values.put(field.name(), row.text());
        case WORD -> {
          String word = row.text();
          values.put(field.name(), word);
          row.number();
        }
        case REAL -> values.put(field.name(), row.real());
        case YES -> values.put(field.name(), row.number() != 0);
        default -> values.put(field.name(), row.number());
      }
    }
  }

  static List<Stat> list(List<Row> rows) {
    List<Stat> list = new ArrayList<>();
    rows.forEach(row -> list.add(new Stat(Field.FILTER, row)));
    return list;
  }

  /** Returns all fields: String, Long, Double, Boolean, or null for a word that there is not. */
  public Map<String, Object> asMap() {
    return Collections.unmodifiableMap(values);
  }

  /** Returns a field that is a number; times are nanoseconds since 1970. */
  public long number(String field) {
    return ((Number) get(field)).longValue();
  }

  /** Returns a field that is a real number. */
  public double real(String field) {
    return ((Number) get(field)).doubleValue();
  }

  /** Returns a field that is a text or a word. */
  public String text(String field) {
    return (String) get(field);
  }

  private Object get(String field) {
    if (!values.containsKey(field)) {
      throw new IllegalArgumentException(
          "no such field: " + field + "; there are " + values.keySet());
    }
    return values.get(field);
  }

  /** Returns the name of the filter. */
  public String name() {
    return text("name");
  }

  /** Returns how it works. */
  public Kind kind() {
    return Kind.of(text("kind"));
  }

  /** Returns the keys that were told new, less those that were removed. */
  public long items() {
    return number("items");
  }

  /** Returns the distinct keys for which the rate holds. */
  public long capacity() {
    return number("capacity");
  }

  /** Returns the rate that it was made for. */
  public double fpRate() {
    return real("fp_rate");
  }

  /** Returns {@link #FULL} and the other states, as bits; 0 is well. */
  public int state() {
    return (int) number("state");
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
