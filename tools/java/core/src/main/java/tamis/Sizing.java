// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/**
 * The size of a filter: as an argument what is known, the rest 0.
 *
 * @param kind how it works
 * @param k hashes for each key
 * @param capacity distinct keys
 * @param bits size of the bit array; of kind counting the number of counters
 * @param fpRate the rate asked for
 * @param predictedRate result: the rate when `capacity` keys are in
 * @param bitsPerKey result
 * @param dataBytes result: bytes of the bits
 * @param fileBytes result: bytes of the file
 * @param words result: words that one key touches
 * @param counterBits of kind counting
 * @param fingerprintBits result, of kind fuse
 * @param pieces result, of kind fuse
 */
public record Sizing(
    Kind kind,
    int k,
    long capacity,
    long bits,
    double fpRate,
    double predictedRate,
    double bitsPerKey,
    long dataBytes,
    long fileBytes,
    int words,
    int counterBits,
    int fingerprintBits,
    int pieces) {
  /** What is known of a filter of that kind. */
  public static Sizing known(
      Kind kind, long capacity, double fpRate, long bits, int k, int counterBits) {
    return new Sizing(kind, k, capacity, bits, fpRate, 0, 0, 0, 0, 0, counterBits, 0, 0);
  }

  /** Returns all of it; two of capacity, rate, bits and k must be known. */
  public Sizing complete() {
    byte[] known =
        new Row()
            .put(kind.ordinal())
            .put(k)
            .put(capacity)
            .put(bits)
            .put(fpRate)
            .put(counterBits)
            .toBytes();
    Row row = new Row(Native.size(known));
    return new Sizing(
        Kind.values()[row.integer()],
        row.integer(),
        row.number(),
        row.number(),
        row.real(),
        row.real(),
        row.real(),
        row.number(),
        row.number(),
        row.integer(),
        row.integer(),
        row.integer(),
        row.integer());
  }

  /**
   * Returns the predicted rate of a filter that holds so many keys; NaN: there is no such filter.
   */
  public static double predictRate(Kind kind, long bits, int k, long keys) {
    return Native.predictRate(kind.ordinal(), bits, k, keys);
  }
}
