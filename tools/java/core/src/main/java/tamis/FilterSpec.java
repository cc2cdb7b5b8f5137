// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.time.Duration;

/**
 * What a filter is to be. Each method sets one thing and returns this spec. What is not set is the
 * library's default.
 */
public final class FilterSpec {
  /** An add answers true only once a power cut cannot take the key. */
  public static final int DURABLE = 1;

  /** A program has made the filter for its own use. */
  public static final int OWNED = 2;

  /** Of a window: a key is remembered from its first add on, not from its last. */
  public static final int FROM_FIRST = 4;

  private static final int SECRET_BYTES = 16;

  private long capacity;
  private double fpRate;
  private Kind kind = Kind.DEFAULT;
  private int k;
  private long bits;
  private String hashSet;
  private long seed;
  private OnFull onFull = OnFull.DEFAULT;
  private int slices;
  private long windowNanos;
  private long windowItems;
  private int counterBits;
  private int flags;
  private byte[] secret = new byte[SECRET_BYTES];
  private Pages pages = Pages.AUTO;
  private String keyRule;

  /** A spec with nothing set. */
  public FilterSpec() {}

  /** A spec for so many distinct keys, at that false-positive rate. */
  public static FilterSpec of(long capacity, double fpRate) {
    return new FilterSpec().capacity(capacity).fpRate(fpRate);
  }

  /** Distinct keys for which the rate holds. */
  public FilterSpec capacity(long keys) {
    capacity = keys;
    return this;
  }

  /** The rate at which strange keys may be taken for present; 0: 0.01. */
  public FilterSpec fpRate(double rate) {
    fpRate = rate;
    return this;
  }

  /** How it works. */
  public FilterSpec kind(Kind kind) {
    this.kind = kind;
    return this;
  }

  /** Explicit geometry, of kind bloom only. */
  public FilterSpec bits(long bits) {
    this.bits = bits;
    return this;
  }

  /** The same: hashes for each key. */
  public FilterSpec k(int k) {
    this.k = k;
    return this;
  }

  /** The rule from key to bits, such as "xxh3" or "sip". */
  public FilterSpec hashSet(String hashSet) {
    this.hashSet = hashSet;
    return this;
  }

  /** The seed of xxh3; filters that will be merged need the same. */
  public FilterSpec seed(long seed) {
    this.seed = seed;
    return this;
  }

  /** The key of sip, of 16 bytes; else it is a random one. */
  public FilterSpec secret(byte[] secret) {
    if (secret.length != SECRET_BYTES) {
      throw new IllegalArgumentException("a secret has 16 bytes, not " + secret.length);
    }
    this.secret = secret.clone();
    return this;
  }

  /** What happens when it is full. */
  public FilterSpec onFull(OnFull onFull) {
    this.onFull = onFull;
    return this;
  }

  /** Forgets keys after that time. */
  public FilterSpec window(Duration window) {
    windowNanos = window.toNanos();
    return this;
  }

  /** Forgets keys after so many others. */
  public FilterSpec windowItems(long items) {
    windowItems = items;
    return this;
  }

  /** The steps by which a window moves, 1 to 32. */
  public FilterSpec slices(int slices) {
    this.slices = slices;
    return this;
  }

  /** Of kind counting: bits of a counter, 4, 8, 16 or 32. */
  public FilterSpec counterBits(int bits) {
    counterBits = bits;
    return this;
  }

  /** Sets flags beside those that are set: {@link #DURABLE} and the like. */
  public FilterSpec flags(int flags) {
    this.flags |= flags;
    return this;
  }

  /** Sets {@link #DURABLE}. */
  public FilterSpec durable() {
    return flags(DURABLE);
  }

  /** In which pages it is mapped. */
  public FilterSpec pages(Pages pages) {
    this.pages = pages;
    return this;
  }

  /**
   * What the key of a record is: "bytes", or "name" and "url", by which all spellings of a host's
   * name or of a URL are one key.
   */
  public FilterSpec keyRule(String rule) {
    keyRule = rule;
    return this;
  }

  /** The members in the order of struct tamis_filter_spec; jni/spec.c reads and writes it. */
  Row row() {
    return new Row()
        .put(capacity)
        .put(fpRate)
        .put(kind.ordinal())
        .put(k)
        .put(bits)
        .put(hashSet)
        .put(seed)
        .put(onFull.ordinal())
        .put(slices)
        .put(windowNanos)
        .put(windowItems)
        .put(counterBits)
        .put(flags)
        .put(secret)
        .put(pages.ordinal())
        .put(keyRule);
  }

  static byte[] rowOf(FilterSpec spec) {
    return spec == null ? null : spec.row().toBytes();
  }

  static FilterSpec from(Row row) {
    FilterSpec spec = new FilterSpec();
    spec.capacity = row.number();
    spec.fpRate = row.real();
    spec.kind = Kind.values()[row.integer()];
    spec.k = row.integer();
    spec.bits = row.number();
    spec.hashSet = row.text();
    spec.seed = row.number();
    spec.onFull = OnFull.values()[row.integer()];
    spec.slices = row.integer();
    spec.windowNanos = row.number();
    spec.windowItems = row.number();
    spec.counterBits = row.integer();
    spec.flags = row.integer();
    spec.secret = row.bytes();
    spec.pages = Pages.values()[row.integer()];
    spec.keyRule = row.text();
    return spec;
  }

  /** Returns what was set, by the names of struct tamis_filter_spec; the secret is left out. */
  public java.util.Map<String, Object> asMap() {
    java.util.Map<String, Object> map = new java.util.LinkedHashMap<>();
    map.put("capacity", capacity);
    map.put("fp_rate", fpRate);
    map.put("kind", kind.word());
    map.put("k", k);
    map.put("m_bits", bits);
    map.put("hash_set", hashSet);
    map.put("seed", seed);
    map.put("on_full", onFull.word());
    map.put("slices", slices);
    map.put("window_ns", windowNanos);
    map.put("window_items", windowItems);
    map.put("counter_bits", counterBits);
    map.put("flags", flags);
    map.put("pages", pages.word());
    map.put("key_rule", keyRule);
    map.values()
        .removeIf(value -> value == null || value instanceof Number n && n.doubleValue() == 0);
    return map;
  }
}
