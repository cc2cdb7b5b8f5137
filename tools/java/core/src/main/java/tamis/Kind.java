// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** How a filter works. */
public enum Kind {
  /** Blocked; or bloom, if a number of bits, k or another hash set than xxh3 is asked for. */
  DEFAULT,
  /** Cache-line-blocked Bloom filter: one cache line for each key. */
  BLOCKED,
  /** Classic Bloom filter: k positions over all bits. */
  BLOOM,
  /** Blocked with counters for bits: keys can be removed and counted. */
  COUNTING,
  /** Static: a binary fuse filter, made by a {@link Build}. */
  FUSE;

  /** What a kind can do. */
  public enum Property {
    /** Made of all its keys by a build; nothing is ever added. */
    STATIC,
    /** Has counters, so keys can be removed and counted. */
    COUNTS,
    /** May have several segments: it grows, or has a window. */
    MAY_GROW,
    /** May have a log, so that a power cut takes no key. */
    MAY_BE_DURABLE,
    /** Any number of bits and k, any hash set, and the formats of other systems. */
    PLAIN
  }

  /** Returns whether the kind can do that. */
  public boolean has(Property property) {
    return Native.kindHas(ordinal(), 1 << property.ordinal()) != 0;
  }

  /** Returns "blocked", "bloom", "counting" or "fuse"; null for {@link #DEFAULT}. */
  public String word() {
    return Native.text(Native.KIND_NAME, ordinal());
  }

  /**
   * Returns the kind of that name; throws a {@link TamisException} that names all if there is none.
   */
  public static Kind of(String word) {
    return values()[(int) TamisException.check(Native.kindFromName(Text.terminated(word)))];
  }

  /** Returns the kind after this one in the library's order; {@link #DEFAULT} after the last. */
  public Kind next() {
    return values()[Native.kindNext(ordinal())];
  }
}
