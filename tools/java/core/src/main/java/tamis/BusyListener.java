// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/**
 * Told while a call waits for another process: after a second, and then once a second. It runs in
 * the thread that waits, and must not call the library.
 */
@FunctionalInterface
public interface BusyListener {
  /**
   * Decides whether to wait on.
   *
   * @param waitedMillis how long the call has waited
   * @param holder the process that has the lock, 0 where the system does not tell
   * @return true to go on waiting; false: the call fails with {@link ErrorCode#BUSY}
   */
  boolean goOn(long waitedMillis, long holder);
}
