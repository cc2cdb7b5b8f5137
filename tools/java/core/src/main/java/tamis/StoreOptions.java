// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.time.Duration;

/** How a store is opened. Each method sets one thing and returns these options. */
public final class StoreOptions {
  private static final int READ_ONLY = 0x10;
  private static final int CREATE = 0x20;
  private static final int FORCE_NETWORK_FS = 0x100;

  int flags;
  int mode;
  long busyMillis;
  BusyListener listener;

  /** Opens a store that is there, for reading and writing. */
  public StoreOptions() {}

  /** Makes the store if there is none. */
  public StoreOptions create() {
    flags |= CREATE;
    return this;
  }

  /** Every filter opens read-only. */
  public StoreOptions readOnly() {
    flags |= READ_ONLY;
    return this;
  }

  /** Accepts a network file system; the user takes the risk. */
  public StoreOptions forceNetworkFs() {
    flags |= FORCE_NETWORK_FS;
    return this;
  }

  /** The store's mode: 0600 to 0666, whatever the umask. */
  public StoreOptions mode(int mode) {
    this.mode = mode;
    return this;
  }

  /** How long calls wait for other processes; zero: they do not. */
  public StoreOptions busyTimeout(Duration timeout) {
    busyMillis = timeout.isZero() ? -1 : timeout.toMillis();
    return this;
  }

  /** Who is told while a call waits. */
  public StoreOptions onBusy(BusyListener listener) {
    this.listener = listener;
    return this;
  }
}
