// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.util.ArrayList;
import java.util.List;

/**
 * A field of what is known of a filter or a segment.
 *
 * @param name of the field
 * @param infoName as `tamis info` shows it; null: it does not
 * @param replyName as TAMIS.INFO shows it; null: it does not
 * @param unit "keys", "bits", ...; "" for none
 * @param sentence what it means
 * @param lacking why one of them does not show it; null: all do
 * @param of {@link #FILTER} or {@link #SEGMENT}
 * @param number from 0, the same for every order
 * @param type what its value is
 * @param sum what it is of a filter in shards, a number of enum tamis_field_sum
 */
public record Field(
    String name,
    String infoName,
    String replyName,
    String unit,
    String sentence,
    String lacking,
    int of,
    int number,
    Type type,
    int sum) {
  /** Fields of filters. */
  public static final int FILTER = 1;

  /** Fields of segments. */
  public static final int SEGMENT = 2;

  /** What a value is. */
  public enum Type {
    /** No member: who shows it makes it of others. */
    MADE,
    /** A text. */
    TEXT,
    /** A word for a number. */
    WORD,
    /** A number. */
    NUMBER,
    /** A number; -1 (2^64 - 1): none, or not known. */
    LIMIT,
    /** True or false. */
    YES,
    /** A real number. */
    REAL,
    /** Nanoseconds since 1970; 0: never. */
    TIME,
    /** Nanoseconds. */
    SPAN
  }

  /**
   * Returns the fields, in the order of who shows them.
   *
   * @param of {@link #FILTER} or {@link #SEGMENT}
   * @param shownBy 0 for all, 1 `tamis info`, 2 TAMIS.INFO, 3 other bindings
   */
  public static List<Field> all(int of, int shownBy) {
    List<Field> fields = new ArrayList<>();
    for (byte[] bytes; (bytes = Native.field(of, shownBy, fields.size())) != null; ) {
      Row row = new Row(bytes);
      fields.add(
          new Field(
              row.text(),
              row.text(),
              row.text(),
              row.text(),
              row.text(),
              row.text(),
              row.integer(),
              row.integer(),
              Type.values()[row.integer()],
              row.integer()));
    }
    return fields;
  }
}
