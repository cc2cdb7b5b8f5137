// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** What C calls, in the thread that has called C. An exception ends the call, which throws it. */
final class Upcalls {
  private Upcalls() {}

  /** Takes rows. */
  interface Visitor {
    /** Returns false to end the call. */
    boolean visit(Row row);
  }

  /**
   * The listeners of stores by number: a filter may outlive its Store, and would call a dead one.
   */
  static final ConcurrentHashMap<Long, BusyListener> LISTENERS = new ConcurrentHashMap<>();

  static final AtomicLong LAST_LISTENER = new AtomicLong();

  static boolean visit(Visitor visitor, byte[] row) {
    return visitor.visit(new Row(row));
  }

  static void progress(Progress progress, int phase, long done, long all) {
    progress.at(phase, done, all);
  }

  static boolean busy(long number, long waitedMillis, long holder) {
    BusyListener listener = LISTENERS.get(number);
    return listener == null || listener.goOn(waitedMillis, holder);
  }

  static int read(InputStream in, byte[] buffer, int most) throws IOException {
    return Math.max(0, in.readNBytes(buffer, 0, most));
  }

  static void write(OutputStream out, byte[] buffer, int bytes) throws IOException {
    out.write(buffer, 0, bytes);
  }
}
