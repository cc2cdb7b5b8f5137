// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** What a stream does not tell of itself. Each method sets one thing and returns this spec. */
public final class ImportSpec {
  /** The source ends after the head of the stream. */
  public static final int HEAD = 0x20000;

  /** A full filter goes on as in RedisBloom. */
  public static final int AS_THERE = 0x40000;

  /** The filter has {@link FilterSpec#OWNED}. */
  public static final int OWNED = 0x80000;

  /** The filter has {@link FilterSpec#DURABLE}. */
  public static final int DURABLE = 0x100000;

  private String hashSet;
  private long bits;
  private int k;
  private long capacity;
  private double fpRate;
  private long sealCapacity;
  private double sealRate;
  private int flags;
  private long createdAt;
  private String origin;

  /** Nothing to say. */
  public ImportSpec() {}

  /** Of format redis-bitmap: needed. */
  public ImportSpec hashSet(String hashSet) {
    this.hashSet = hashSet;
    return this;
  }

  /** The same: number of bits. */
  public ImportSpec bits(long bits) {
    this.bits = bits;
    return this;
  }

  /** The same: hashes for each key, unless the hash set says it. */
  public ImportSpec k(int k) {
    this.k = k;
    return this;
  }

  /** Distinct keys; 0: those at which bits and k are best. */
  public ImportSpec capacity(long keys) {
    capacity = keys;
    return this;
  }

  /** The rate; 0: the predicted one. */
  public ImportSpec fpRate(double rate) {
    fpRate = rate;
    return this;
  }

  /** Puts an empty segment of that capacity and rate on top, where new keys go. */
  public ImportSpec seal(long keys, double rate) {
    sealCapacity = keys;
    sealRate = rate;
    return this;
  }

  /** {@link #AS_THERE}, {@link #OWNED}, {@link #DURABLE}, {@link #HEAD}. */
  public ImportSpec flags(int flags) {
    this.flags |= flags;
    return this;
  }

  /** When it was created, in nanoseconds since 1970; 0: now. */
  public ImportSpec createdAt(long nanos) {
    createdAt = nanos;
    return this;
  }

  /** Where the stream is: a path, a URL. */
  public ImportSpec origin(String origin) {
    this.origin = origin;
    return this;
  }

  /** The members in the order of struct tamis_import_spec. */
  static byte[] rowOf(ImportSpec spec) {
    return spec == null
        ? null
        : new Row()
            .put(spec.hashSet)
            .put(spec.bits)
            .put(spec.k)
            .put(spec.capacity)
            .put(spec.fpRate)
            .put(spec.sealCapacity)
            .put(spec.sealRate)
            .put(spec.flags)
            .put(spec.createdAt)
            .put(spec.origin)
            .toBytes();
  }
}
