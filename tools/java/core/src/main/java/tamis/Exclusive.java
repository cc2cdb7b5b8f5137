// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;

/** A handle that one thread at a time may use: others wait for it. */
abstract class Exclusive extends Handle {
  private final ReentrantLock lock = new ReentrantLock();
  private final Store store; // stays reachable as long as this is

  Exclusive(Core core, Store store) {
    super(core);
    this.store = store;
  }

  /** Returns the store. */
  public final Store store() {
    return store;
  }

  /** A call; a function that it calls may not come back to the handle. */
  final <T> T alone(LongFunction<T> call) {
    if (lock.isHeldByCurrentThread()) {
      throw new IllegalStateException("a function that a call has called uses its handle");
    }
    lock.lock();
    try {
      long address = enter();
      try {
        return call.apply(address);
      } finally {
        leave();
      }
    } finally {
      lock.unlock();
    }
  }
}
