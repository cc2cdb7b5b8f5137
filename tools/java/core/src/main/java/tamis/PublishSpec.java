// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.util.List;

/** How a stream is published. Each method sets one thing and returns this spec. */
public final class PublishSpec {
  private static final int IF_CHANGED = 0x2000;
  private static final int KEEP = 0x4000;
  private static final int NEWER = 0x8000;

  private ImportSpec spec;
  private int flags;
  private int keep;
  Iterable<?> except = List.of();

  /** All as it is. */
  public PublishSpec() {}

  /** What the stream does not tell. */
  public PublishSpec stream(ImportSpec spec) {
    this.spec = spec;
    return this;
  }

  /** Keys that must answer absent whatever the stream has. */
  public PublishSpec except(Iterable<?> keys) {
    except = keys;
    return this;
  }

  /** Publishes nothing if the stream's list is in force already. */
  public PublishSpec ifChanged() {
    flags |= IF_CHANGED;
    return this;
  }

  /**
   * Publishes only what was made after the list in force: an older stream is {@link
   * ErrorCode#MISMATCH}, and of the list in force nothing is published.
   */
  public PublishSpec newer() {
    flags |= NEWER;
    return this;
  }

  /** How many generations before it are kept. */
  public PublishSpec keep(int generations) {
    keep = generations;
    flags |= KEEP;
    return this;
  }

  byte[] row() {
    return new Row().put(ImportSpec.rowOf(spec)).put(flags).put(keep).toBytes();
  }
}
