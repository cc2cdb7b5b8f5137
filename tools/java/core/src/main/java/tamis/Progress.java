// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/**
 * Told now and then how far a long call is, by the thread that made the call. An exception that it
 * throws ends the call, which throws it.
 */
@FunctionalInterface
public interface Progress {
  /**
   * Tells how far it is.
   *
   * @param phase of a build: 0 reading, 1 sorting, 2 making, 3 verifying, 4 publishing; else 0
   * @param done of all
   * @param all 0 where nobody knows
   */
  void at(int phase, long done, long all);
}
