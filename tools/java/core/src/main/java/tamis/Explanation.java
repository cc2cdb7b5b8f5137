// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/**
 * Where a key goes.
 *
 * @param hashes the hash values as text, separated by commas
 * @param positions of its bits, in the order of the hash set
 */
public record Explanation(String hashes, long[] positions) {
  static Explanation of(byte[] bytes) {
    Row row = new Row(bytes);
    String hashes = row.text();
    long[] positions = new long[row.integer()];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = row.number();
    }
    return new Explanation(hashes, positions);
  }
}
