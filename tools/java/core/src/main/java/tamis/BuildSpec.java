// SPDX-License-Identifier: BSD-2-Clause
package tamis;

/** What to build. Each method sets one thing and returns this spec. */
public final class BuildSpec {
  private static final int IF_CHANGED = 0x400;
  private static final int KEEP = 0x800;

  private FilterSpec filter;
  private long memoryBytes;
  private int threads;
  private int flags;
  private int keep;
  Progress progress;

  /** All as it is, or the default. */
  public BuildSpec() {}

  /** A spec for a filter of that rate. */
  public static BuildSpec of(double fpRate) {
    return new BuildSpec().filter(new FilterSpec().fpRate(fpRate));
  }

  /** What the filter is to be; kind fuse by default. */
  public BuildSpec filter(FilterSpec filter) {
    this.filter = filter;
    return this;
  }

  /** Memory for the keys; what does not fit goes through a file in the store. */
  public BuildSpec memoryBytes(long bytes) {
    memoryBytes = bytes;
    return this;
  }

  /** Threads; 0: as many as processors. */
  public BuildSpec threads(int threads) {
    this.threads = threads;
    return this;
  }

  /** Publishes nothing if nothing has changed. */
  public BuildSpec ifChanged() {
    flags |= IF_CHANGED;
    return this;
  }

  /** How many generations before it are kept. */
  public BuildSpec keep(int generations) {
    keep = generations;
    flags |= KEEP;
    return this;
  }

  /** Who is told how far it is. It must not use the build. */
  public BuildSpec progress(Progress progress) {
    this.progress = progress;
    return this;
  }

  byte[] row() {
    return new Row()
        .put(FilterSpec.rowOf(filter))
        .put(memoryBytes)
        .put(threads)
        .put(flags)
        .put(keep)
        .toBytes();
  }
}
