// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;

/**
 * A handle of the library. The library forbids to close one beside another call on it. So each call
 * counts itself in and out, and a close that finds calls running leaves it to the last of them. No
 * call waits for another by this.
 *
 * <p>The count is spread over stripes, one for some of the threads, each in a cache line of its
 * own: threads that add to one filter would wait for each other's processor at a single one.
 *
 * <pre>
 *   a call:   its stripe + 1, then reads isClosed: if it is set, stripe - 1, and ClosedException
 *   a close:  sets isClosed, then reads all stripes: if all are 0, closes the handle
 *   its end:  its stripe - 1, then reads isClosed: if it is set, does as a close does
 * </pre>
 *
 * <p>All of these are volatile, so there is one order of them: a close that does not see the count
 * of a call is one whose mark that call sees. The last to count itself out finds all stripes 0.
 */
abstract class Handle implements AutoCloseable {
  static final Cleaner CLEANER = Cleaner.create();
  private static final int STRIPES = 8;
  private static final int LINE = 16; // ints of 4 bytes: 64 bytes
  private static final VarHandle RUNNING = MethodHandles.arrayElementVarHandle(int[].class);

  private final Core core;
  private final Cleaner.Cleanable cleanable;

  /** What the Cleaner needs when the Handle is gone. */
  static final class Core implements Runnable {
    private final String what;
    private final long address;
    private volatile LongUnaryOperator closer; // close, or release
    private final Core keeps;
    private final int[] running = new int[(STRIPES + 1) * LINE];
    private final AtomicBoolean isGone = new AtomicBoolean();
    private volatile boolean isClosed;

    /**
     * Makes it.
     *
     * @param keeps a handle in which each call is counted too, as this one is borrowed from it; or
     *     null
     */
    Core(String what, long address, LongUnaryOperator closer, Core keeps) {
      this.what = what;
      this.address = address;
      this.closer = closer;
      this.keeps = keeps;
    }

    private static int stripe() {
      return (int) (Thread.currentThread().getId() % STRIPES + 1) * LINE;
    }

    long enter() {
      RUNNING.getAndAdd(running, stripe(), 1);
      if (isClosed) {
        leaveOwn();
        throw new ClosedException(what);
      }
      if (keeps != null) {
        try {
          keeps.enter();
        } catch (ClosedException e) {
          leaveOwn();
          throw e;
        }
      }
      return address;
    }

    void leave() {
      leaveOwn();
      if (keeps != null) {
        keeps.leave();
      }
    }

    private void leaveOwn() {
      RUNNING.getAndAdd(running, stripe(), -1);
      if (isClosed) {
        finishQuietly();
      }
    }

    /** Not even what a listener throws while the handle is closed is for who has made a call. */
    private void finishQuietly() {
      try {
        report(finish());
      } catch (RuntimeException | Error e) {
        System.getLogger("tamis").log(Level.WARNING, "closing a " + what, e);
      }
    }

    private long finish() {
      for (int i = 1; i <= STRIPES; i++) {
        if ((int) RUNNING.getVolatile(running, i * LINE) != 0) {
          return 0;
        }
      }
      return isGone.compareAndSet(false, true) ? closer.applyAsLong(address) : 0;
    }

    long close(LongUnaryOperator how) {
      closer = how; // before the mark: the last call that sees it closes so
      isClosed = true;
      return finish();
    }

    /**
     * Says what went wrong where nobody can catch it. Of a filter that was dropped, or whose store
     * was removed, nothing is left that could be lost.
     */
    private void report(long rc) {
      if (rc < 0 && rc != ErrorCode.DROPPED.number() && rc != ErrorCode.NOSTORE.number()) {
        System.getLogger("tamis")
            .log(
                Level.WARNING,
                "closing a " + what + ": " + TamisException.of(rc, null).getMessage());
      }
    }

    /** For the Cleaner. */
    @Override
    public void run() {
      if (!isClosed) {
        report(close(closer));
      }
    }
  }

  Handle(Core core) {
    this.core = core;
    cleanable = CLEANER.register(this, core);
  }

  final Core core() {
    return core;
  }

  final long enter() {
    return core.enter();
  }

  final void leave() {
    core.leave();
  }

  /** A call on the handle that answers with a code or a number. */
  final long call(LongUnaryOperator call) {
    long address = enter();
    try {
      return TamisException.check(call.applyAsLong(address));
    } finally {
      leave();
    }
  }

  /** Returns whether it was closed. */
  public final boolean isClosed() {
    return core.isClosed;
  }

  /**
   * Closes it; a second close does nothing. Calls that other threads have begun end as if it were
   * open, and the last of them gives it back. Then an error of the close goes to the System.Logger
   * "tamis".
   */
  @Override
  public void close() {
    closeBy(core.closer);
  }

  final void closeBy(LongUnaryOperator how) {
    if (!core.isClosed) {
      long rc = core.close(how);
      RuntimeException error = rc < 0 ? TamisException.of(rc, null) : null;
      cleanable.clean();
      if (error != null) {
        throw error;
      }
    }
  }
}
