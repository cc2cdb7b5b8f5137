// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/**
 * A filter that is made anew as a whole, under readers that never stop. Threads may share one; each
 * call waits for those of others. What was not published leaves no trace.
 */
public final class Build extends Exclusive {
  Build(long address, Store store) {
    super(new Core("build", address, Native::buildClose, null), store);
  }

  private void keys(int what, Iterable<?> keys) {
    Arena arena = Arena.take();
    try {
      arena.putAll(keys, 0);
      alone(
          build ->
              TamisException.check(
                  Native.buildKeys(build, what, arena.address(), arena.ends(), arena.count())));
    } finally {
      arena.give();
    }
  }

  /** Adds keys that the filter is to have. */
  public void addAll(Iterable<?> keys) {
    keys(Native.ADD, keys);
  }

  /**
   * Gives keys that are known to be good: those that the bits hold for others become exceptions.
   */
  public void against(Iterable<?> keys) {
    keys(Native.AGAINST, keys);
  }

  /** Gives keys that must answer absent whatever was added. */
  public void except(Iterable<?> keys) {
    keys(Native.EXCEPT, keys);
  }

  /**
   * What a build did.
   *
   * @param published false: nothing was new
   * @param keys that were added, with those that came again
   * @param keyDigest the same for the same set of keys
   */
  public record Result(
      boolean published,
      long keys,
      long distinct,
      long generation,
      long exceptions,
      long found,
      long conflicts,
      long sampled,
      long sampledYes,
      long sizeBytes,
      byte[] keyDigest) {}

  /** Makes the generation, verifies it and publishes it in one step. */
  public Result publish() {
    Row row = alone(build -> new Row(Native.buildPublish(build)));
    return new Result(
        row.number() != 0,
        row.number(),
        row.number(),
        row.number(),
        row.number(),
        row.number(),
        row.number(),
        row.number(),
        row.number(),
        row.number(),
        row.bytes());
  }
}
