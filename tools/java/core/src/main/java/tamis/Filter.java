// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/**
 * An open filter. Any number of threads may use it, and close it at any time. Of all threads and
 * processes that add one key, at most one is told that it is new.
 *
 * <p>A key is a String, which is the same key as its UTF-8, a byte[], or what remains in a
 * ByteBuffer, whose position does not move.
 */
public final class Filter extends Handle {
  /** A flag of {@link #export}: also what is secret, a seed or the key of sip. */
  public static final int WITH_KEY = 0x200000;

  /** A flag of {@link #export}: without the exceptions. */
  public static final int WITHOUT_EXCEPTIONS = 0x400000;

  /** A flag of {@link #export}: the stream begins with its digest. */
  public static final int WITH_DIGEST = 0x800000;

  private static final int CHUNK = 4096;

  private final Store store;

  Filter(long address, Store store) {
    super(new Core("filter", address, Native::filterClose, null));
    this.store = store == null ? new Store(this) : store;
  }

  /** Opens a filter, and the store that it is in for it alone: the catalog is read once. */
  public static Filter openAt(Path store, StoreOptions options, String name, int flags) {
    long listener = Store.listen(options.listener);
    try {
      long address =
          Native.filterOpenAt(
              Text.terminated(Store.text(store)),
              options.flags,
              options.mode,
              options.busyMillis,
              listener,
              Text.terminated(name),
              flags);
      Filter filter = new Filter(TamisException.check(address), null);
      filter.store.owns(listener);
      return filter;
    } catch (RuntimeException | Error e) {
      Upcalls.LISTENERS.remove(listener);
      throw e;
    }
  }

  /** Returns the store of the filter. */
  public Store store() {
    return store;
  }

  // ---- One key
  // -----------------------------------------------------------------------------------

  private interface KeyCall {
    long call(long filter, long key, int bytes);
  }

  private long one(KeyCall call, Arena key) {
    try {
      long filter = enter();
      try {
        return TamisException.check(call.call(filter, key.address(), key.bytes()));
      } finally {
        leave();
      }
    } finally {
      key.give();
    }
  }

  /** Takes the thread's arena with one key in it. */
  private static Arena arena(Object key) {
    Arena arena = Arena.take();
    try {
      return arena.putKey(key);
    } catch (RuntimeException | Error e) {
      arena.give();
      throw e;
    }
  }

  /** Adds a key; returns whether it is new. Of all that add it at once, at most one is told so. */
  public boolean add(byte[] key) {
    return one(Native::add, arena(key)) == 1;
  }

  /** The same of a String. */
  public boolean add(String key) {
    return one(Native::add, arena(key)) == 1;
  }

  /** The same of a ByteBuffer. */
  public boolean add(ByteBuffer key) {
    return one(Native::add, arena(key)) == 1;
  }

  /** Returns whether the key was added; of one that was not, true at the filter's rate. */
  public boolean contains(byte[] key) {
    return one(Native::contains, arena(key)) == 1;
  }

  /** The same of a String. */
  public boolean contains(String key) {
    return one(Native::contains, arena(key)) == 1;
  }

  /** The same of a ByteBuffer. */
  public boolean contains(ByteBuffer key) {
    return one(Native::contains, arena(key)) == 1;
  }

  /**
   * Asks for a name and its parents; returns the nearest that is in the filter, as the name spells
   * it, or null.
   */
  public byte[] containsName(byte[] name) {
    long found = one(Native::containsName, arena(name));
    return found == 0 ? null : Arrays.copyOfRange(name, (int) found - 1, name.length);
  }

  /** The same of a String. */
  public String containsName(String name) {
    return Text.of(containsName(Text.utf8(name)));
  }

  /** Of kind counting: takes a key off once; returns whether it was there. */
  public boolean remove(byte[] key) {
    return one(Native::remove, arena(key)) == 1;
  }

  /** The same of a String. */
  public boolean remove(String key) {
    return one(Native::remove, arena(key)) == 1;
  }

  /** The same of a ByteBuffer. */
  public boolean remove(ByteBuffer key) {
    return one(Native::remove, arena(key)) == 1;
  }

  /** Of kind counting: returns how often a key was added and not removed. */
  public long count(byte[] key) {
    return one(Native::count, arena(key));
  }

  /** The same of a String. */
  public long count(String key) {
    return one(Native::count, arena(key));
  }

  /** The same of a ByteBuffer. */
  public long count(ByteBuffer key) {
    return one(Native::count, arena(key));
  }

  /** Has the processor fetch what a call for this key is going to read. */
  public void prefetch(byte[] key) {
    one(Native::prefetch, arena(key));
  }

  // ---- Many keys
  // ---------------------------------------------------------------------------------

  /** A batch of keys that are at an address, and of the arena's ends. */
  private long batch(int what, long keys, Arena arena) {
    long filter = enter();
    try {
      long answers = what == Native.COUNT ? arena.countsAt() : arena.answers();
      long rc = Native.batch(filter, what, keys, arena.ends(), arena.count(), answers);
      if (rc < 0) {
        throw TamisException.of(rc, what == Native.COUNT ? null : arena.copyAnswers());
      }
      return rc;
    } finally {
      leave();
    }
  }

  private <T> T many(int what, Iterable<?> keys, Function<Arena, T> answer) {
    Arena arena = Arena.take();
    try {
      arena.putAll(keys, what == Native.COUNT ? 8 : 1);
      batch(what, arena.address(), arena);
      return answer.apply(arena);
    } finally {
      arena.give();
    }
  }

  private boolean[] many(int what, ByteBuffer keys, int[] ends) {
    Arena arena = Arena.take();
    try {
      arena.putEnds(ends, keys.remaining(), 1);
      long address =
          keys.isDirect() ? Native.address(keys) + keys.position() : arena.put(keys).address();
      batch(what, address, arena);
      return arena.copyBooleans();
    } finally {
      Reference.reachabilityFence(keys);
      arena.give();
    }
  }

  /**
   * Adds keys; answers for each whether it was new. If one of them is no key, nothing is added. An
   * exception of the library has {@link TamisException#answers}.
   */
  public boolean[] addAll(Iterable<?> keys) {
    return many(Native.ADD, keys, Arena::copyBooleans);
  }

  /** The same of arrays: String[], byte[][]. */
  public boolean[] addAll(Object[] keys) {
    return addAll(Arrays.asList(keys));
  }

  /**
   * The same of what remains in a buffer: key i ends before byte ends[i], where the next one
   * begins. The keys of a direct buffer are not copied.
   */
  public boolean[] addAll(ByteBuffer keys, int[] ends) {
    return many(Native.ADD, keys, ends);
  }

  /** Asks for keys. */
  public boolean[] containsAll(Iterable<?> keys) {
    return many(Native.CONTAINS, keys, Arena::copyBooleans);
  }

  /** The same of arrays: String[], byte[][]. */
  public boolean[] containsAll(Object[] keys) {
    return containsAll(Arrays.asList(keys));
  }

  /** The same of what remains in a buffer, as {@link #addAll(ByteBuffer, int[])}. */
  public boolean[] containsAll(ByteBuffer keys, int[] ends) {
    return many(Native.CONTAINS, keys, ends);
  }

  /** Of kind counting: takes keys off once; answers for each whether it was there. */
  public boolean[] removeAll(Iterable<?> keys) {
    return many(Native.REMOVE, keys, Arena::copyBooleans);
  }

  /** Of kind counting: answers for each how often it was added and not removed. */
  public long[] countAll(Iterable<?> keys) {
    return many(Native.COUNT, keys, Arena::copyCounts);
  }

  /** Adds keys; returns those that were new, in their order. */
  public <T> List<T> newOf(Collection<? extends T> keys) {
    List<T> given = new ArrayList<>(keys);
    boolean[] answers = addAll(given);
    List<T> fresh = new ArrayList<>();
    for (int i = 0; i < answers.length; i++) {
      if (answers[i]) {
        fresh.add(given.get(i));
      }
    }
    return fresh;
  }

  /** Adds any number of keys, some thousand at a time; returns how many were new. */
  public long update(Iterable<?> keys) {
    long news = 0;
    List<Object> chunk = new ArrayList<>(CHUNK);
    for (Object key : keys) {
      chunk.add(key);
      if (chunk.size() == CHUNK) {
        news += addChunk(chunk);
      }
    }
    return news + addChunk(chunk);
  }

  private long addChunk(List<Object> chunk) {
    Arena arena = Arena.take();
    try {
      return batch(Native.ADD, arena.putAll(chunk, 1).address(), arena);
    } finally {
      arena.give();
      chunk.clear();
    }
  }

  // ---- Looking inside
  // ----------------------------------------------------------------------------

  private Row row(java.util.function.LongFunction<byte[]> call) {
    long filter = enter();
    try {
      return new Row(call.apply(filter));
    } finally {
      leave();
    }
  }

  /** Returns what is known of the filter. Reads no bits. */
  public Stat stat() {
    return new Stat(Field.FILTER, row(Native::filterStat));
  }

  /** Returns how many keys were new so far. */
  public long items() {
    return call(Native::filterItems);
  }

  /** Returns what is known of a segment; 0 is the oldest. */
  public Stat segment(int index) {
    return new Stat(Field.SEGMENT, row(filter -> Native.filterSegment(filter, index, false)));
  }

  /** The same, and counts the set bits: reads the whole segment. */
  public Stat fill(int index) {
    return new Stat(Field.SEGMENT, row(filter -> Native.filterSegment(filter, index, true)));
  }

  /** Returns how full each of so many equal parts of a segment is, 0 to 1. */
  public double[] fillMap(int index, int parts) {
    Row row = row(filter -> Native.filterFillMap(filter, index, parts));
    double[] fill = new double[parts];
    Arrays.setAll(fill, i -> row.real());
    return fill;
  }

  /** Returns where a key goes in a segment. */
  public Explanation explain(int index, byte[] key) {
    Arena arena = arena(key);
    long filter = 0;
    try {
      filter = enter();
      return Explanation.of(Native.filterExplain(filter, index, arena.address(), arena.bytes()));
    } finally {
      if (filter != 0) {
        leave();
      }
      arena.give();
    }
  }

  /** Returns when the filter was created, in nanoseconds since 1970. */
  public long createdAt() {
    return call(Native::filterCreatedAt);
  }

  /**
   * How this process has a filter mapped.
   *
   * @param bytes mapped, of all segments
   * @param present of these, in memory
   * @param hugeBytes of these, mapped by entries of 2 MiB
   * @param wanted what the newest segment is to have now
   * @param obstacle why huge ones are wanted and not had; null: nothing is lacking
   */
  public record Mapped(long bytes, long present, long hugeBytes, Pages wanted, String obstacle) {}

  /** Tells how this process has the filter mapped. */
  public Mapped mapped() {
    Row row = row(Native::filterMapped);
    return new Mapped(
        row.number(), row.number(), row.number(), Pages.values()[row.integer()], row.text());
  }

  /** Tells each exception of the filter, in order of their bytes. */
  public void exceptions(Store.ExceptionVisitor visitor) {
    call(
        filter ->
            Native.filterEachException(filter, row -> visitor.visit(row.bytes(), row.number())));
  }

  // ---- The disk, and time
  // ------------------------------------------------------------------------

  /** Makes a checkpoint: what was added before survives a power cut. */
  public void sync() {
    call(Native::filterSync);
  }

  /** Makes a checkpoint again and again, by a thread of the handle; zero ends that. */
  public synchronized void setSyncInterval(Duration interval) {
    call(filter -> Native.filterSetSyncInterval(filter, interval.toNanos()));
  }

  /** Begins a new slice of the window now. */
  public void rotate() {
    call(Native::filterRotate);
  }

  /** Says that keys which may be missing since the machine went down were dealt with. */
  public void accept() {
    call(Native::filterAccept);
  }

  /**
   * Returns 0: an add of so many keys waits for nothing; 1: call prepare() soon; 2: it may wait.
   */
  public int mayWait(long keys) {
    return (int) call(filter -> Native.filterMayWait(filter, keys));
  }

  /** Does what the next adds would wait for, of so many new keys; 0: their number is not known. */
  public void prepare(long keys) {
    call(filter -> Native.filterPrepare(filter, keys));
  }

  /** Closes it at once: nothing is brought to the disk. */
  public void release() {
    closeBy(Native::filterRelease);
  }

  // ---- Other filters
  // -----------------------------------------------------------------------------

  /** Calls with the addresses of filters, each of which is in a call meanwhile. */
  static <T> T withAddresses(List<Filter> filters, Function<long[], T> call) {
    long[] addresses = new long[filters.size()];
    int entered = 0;
    try {
      for (Filter filter : filters) {
        addresses[entered] = filter.enter();
        entered++;
      }
      return call.apply(addresses);
    } finally {
      for (Filter filter : filters.subList(0, entered)) {
        filter.leave();
      }
    }
  }

  /**
   * Brings all keys of the sources into this filter.
   *
   * @param flags 0
   * @param progress may be null
   */
  public void merge(List<Filter> sources, int flags, Progress progress) {
    withAddresses(
        sources,
        addresses -> call(filter -> Native.filterMerge(filter, addresses, flags, progress)));
  }

  /** Returns the spec that makes a filter like this one, which can be merged with it. */
  public FilterSpec like() {
    return FilterSpec.from(row(Native::filterLike));
  }

  /**
   * Two filters compared, by the bits that are set; numbers of keys.
   *
   * @param itemsUnion in a or b
   * @param itemsBoth in a and b
   * @param jaccard both by union; 0 where both are empty
   * @param error of itemsBoth: two times in three it is nearer than this
   */
  public record Comparison(
      double itemsA,
      double itemsB,
      double itemsUnion,
      double itemsBoth,
      double jaccard,
      double error) {}

  /** Tells how much two filters have in common; reads both completely. */
  public Comparison compare(Filter other) {
    Row row =
        withAddresses(List.of(other), with -> row(filter -> Native.filterCompare(filter, with[0])));
    return new Comparison(row.real(), row.real(), row.real(), row.real(), row.real(), row.real());
  }

  // ---- Streams
  // -----------------------------------------------------------------------------------

  /** Writes the filter as a stream; returns its length. Exceptions of the stream are thrown on. */
  public long export(String format, int flags, OutputStream sink) throws IOException {
    return exportPart(format, flags, sink, 0, 0);
  }

  /** Writes so many bytes of the stream from byte `from` on; returns the length of all of it. */
  public long exportPart(String format, int flags, OutputStream sink, long from, long bytes)
      throws IOException {
    long filter = enter();
    try {
      return TamisException.check(
          Native.filterExport(filter, Text.terminated(format), flags, sink, from, bytes));
    } finally {
      leave();
    }
  }

  /** Reads bytes of the data of a segment. */
  public byte[] readData(int index, long offset, int bytes) {
    long filter = enter();
    try {
      return Native.filterReadData(filter, index, offset, bytes);
    } finally {
      leave();
    }
  }

  /** Sets the bits of these bytes in the data of a segment, and clears none. */
  public void writeData(int index, long offset, byte[] data) {
    one(
        (filter, address, bytes) -> Native.filterWriteData(filter, index, offset, address, bytes),
        arena(data));
  }

  /** Sets a bit of a segment; returns it as it was. */
  public boolean setBit(int index, long position) {
    return call(filter -> Native.filterSetBit(filter, index, position)) != 0;
  }
}
