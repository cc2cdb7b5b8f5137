// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** Asks small filters that are not open, by a {@link Light} of each. Threads may share one. */
public final class Cabinet extends Exclusive {
  Cabinet(long address, Store store) {
    super(new Core("cabinet", address, Native::cabinetClose, null), store);
  }

  /**
   * A filter in a drawer; only the library knows what the words mean.
   *
   * @param sheet a word
   * @param seal a word
   */
  public record Light(long sheet, long seal) {
    static Light of(byte[] bytes) {
      if (bytes == null) {
        return null;
      }
      Row row = new Row(bytes);
      return new Light(row.number(), row.number());
    }
  }

  /**
   * Finds a filter.
   *
   * @param createdAt when it was created; 0: it does not matter
   * @return null: open the filter
   */
  public Light find(String name, long createdAt) {
    return alone(cabinet -> Light.of(Native.lightFind(cabinet, Text.terminated(name), createdAt)));
  }

  /** Asks for keys. Returns null if there is no answer: open the filter. */
  public boolean[] ask(Light light, Iterable<?> keys) {
    Arena arena = Arena.take();
    try {
      arena.putAll(keys, 1);
      return alone(
          cabinet -> {
            long rc =
                Native.lightAsk(
                    cabinet,
                    light.sheet(),
                    light.seal(),
                    arena.address(),
                    arena.ends(),
                    arena.count(),
                    arena.answers());
            return TamisException.check(rc) == 0 ? null : arena.copyBooleans();
          });
    } finally {
      arena.give();
    }
  }

  /** Unmaps the drawer that has the segment of this number. */
  public void forget(long segment) {
    alone(cabinet -> Native.cabinetForget(cabinet, segment));
  }

  /** Looks at so many drawers, and unmaps what is not needed; returns how many are mapped. */
  public long tidy(int looks, boolean unused) {
    return alone(cabinet -> TamisException.check(Native.cabinetTidy(cabinet, looks, unused)));
  }
}
