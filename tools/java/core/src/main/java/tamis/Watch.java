// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.util.ArrayList;
import java.util.List;

/** A list of filters that is looked at again and again. Threads may share one. */
public final class Watch extends Exclusive {
  Watch(long address, Store store) {
    super(new Core("watch", address, Native::watchFree, null), store);
  }

  /** Returns the filters; new_keys of each tells how many keys were new since the look before. */
  public List<Stat> look() {
    List<Row> rows = new ArrayList<>();
    alone(watch -> TamisException.check(Native.watchLook(watch, rows::add)));
    return Stat.list(rows);
  }
}
