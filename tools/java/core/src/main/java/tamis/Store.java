// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A store: a directory with filters, which all processes share. Any number of threads may use it,
 * and close it at any time. Filters that were opened from it stay open when it is closed.
 */
public final class Store extends Handle {
  /** A flag of {@link #filter(String, int)}: for reading only. */
  public static final int READ_ONLY = 0x10;

  /**
   * A flag of {@link #filter(String, int)}: closing brings nothing to the disk, a later sync does.
   */
  public static final int NO_SYNC = 0x40;

  /** A flag of {@link #filter(String, int)}: brings all of it into memory before it is asked. */
  public static final int POPULATE = 0x80;

  /** A flag of {@link #merged}: the keys that are in all sources. */
  public static final int INTERSECT = 0x1000000;

  private static final int IF_MISSING = 0x200;

  /** The number of the listener. Filters keep their Store reachable, so it outlives them all. */
  private final AtomicLong listener = new AtomicLong();

  private Store(long address, long listener) {
    super(new Core("store", address, Native::storeClose, null));
    owns(listener);
  }

  /** The store of a filter that was opened without one; it lives as long as the filter. */
  Store(Filter filter) {
    super(new Core("store", filter.call(Native::filterStore), store -> 0, filter.core()));
  }

  /** Opens the store in a directory, and makes it if there is none. */
  public static Store open(Path directory) {
    return open(directory, new StoreOptions().create());
  }

  /** Opens the store in a directory. */
  public static Store open(Path directory, StoreOptions options) {
    return open(text(directory), options);
  }

  /** A Path makes redis:/host of redis://host, which would become a folder and is to be refused. */
  static String text(Path path) {
    return path.toString().replaceFirst("^([a-z][a-z0-9+.-]*):/", "$1://");
  }

  /** Opens the store in a directory, and makes it if there is none. */
  public static Store open(String directory) {
    return open(directory, new StoreOptions().create());
  }

  /** Opens the store in a directory. */
  public static Store open(String directory, StoreOptions options) {
    long listener = listen(options.listener);
    try {
      return new Store(
          TamisException.check(
              Native.storeOpen(
                  Text.terminated(directory),
                  options.flags,
                  options.mode,
                  options.busyMillis,
                  listener)),
          listener);
    } catch (RuntimeException | Error e) {
      Upcalls.LISTENERS.remove(listener);
      throw e;
    }
  }

  /** The listener goes when the Store does. */
  void owns(long number) {
    AtomicLong last = listener;
    last.set(number);
    CLEANER.register(this, () -> Upcalls.LISTENERS.remove(last.get()));
  }

  /** A number for the listener; 0 for null. */
  static long listen(BusyListener listener) {
    if (listener == null) {
      return 0;
    }
    long number = Upcalls.LAST_LISTENER.incrementAndGet();
    Upcalls.LISTENERS.put(number, listener);
    return number;
  }

  /** Sets how long calls on the store and its filters wait for other processes. */
  public void setBusyTimeout(Duration timeout) {
    call(store -> Native.storeSetBusyTimeout(store, timeout.toMillis()));
  }

  /**
   * Has a listener told while a call waits; null ends that. Call it before another thread uses the
   * store or a filter of it.
   */
  public void setBusyListener(BusyListener told) {
    long number = listen(told);
    call(store -> Native.storeSetBusyListener(store, number));
    Upcalls.LISTENERS.remove(listener.getAndSet(number));
  }

  // ---- Filters
  // -----------------------------------------------------------------------------------

  private Filter opened(java.util.function.LongUnaryOperator how) {
    return new Filter(call(how), this);
  }

  /** Makes an empty filter and opens it. */
  public Filter create(String name, FilterSpec spec) {
    return opened(
        store -> Native.filterCreate(store, Text.terminated(name), FilterSpec.rowOf(spec)));
  }

  /** Opens a filter. */
  public Filter filter(String name) {
    return filter(name, 0);
  }

  /** Opens a filter with flags: {@link #READ_ONLY}, {@link #NO_SYNC}, {@link #POPULATE}. */
  public Filter filter(String name, int flags) {
    return opened(store -> Native.filterOpen(store, Text.terminated(name), flags));
  }

  /** Opens the filter, or makes it; {@link ErrorCode#MISMATCH} if it is not what the spec says. */
  public Filter openOrCreate(String name, FilterSpec spec) {
    return opened(
        store -> Native.filterOpenOrCreate(store, Text.terminated(name), FilterSpec.rowOf(spec)));
  }

  private static byte[] row(Iterable<String> names) {
    Row row = new Row();
    names.forEach(row::put);
    return row.toBytes();
  }

  /**
   * Makes many filters of one spec.
   *
   * @param ifMissing one that is there and is what the spec says is left as it is
   * @return how many were made
   */
  public long createMany(List<String> names, FilterSpec spec, boolean ifMissing) {
    byte[] bytes = row(names);
    return call(
        store ->
            Native.filterCreateMany(
                store, bytes, names.size(), FilterSpec.rowOf(spec), ifMissing ? IF_MISSING : 0));
  }

  /** Returns whether there is a filter of that name; opens nothing and does not wait. */
  public boolean exists(String name) {
    return call(store -> Native.filterExists(store, Text.terminated(name))) != 0;
  }

  /** Removes a filter and its files; open handles get {@link ErrorCode#DROPPED}. */
  public void drop(String name) {
    call(store -> Native.filterDrop(store, Text.terminated(name)));
  }

  /**
   * Drops several filters in one change of the store.
   *
   * @param createdAt null, or when each was created: another filter of that name stays
   * @return how many were dropped
   */
  public long dropMany(List<String> names, long[] createdAt) {
    if (createdAt != null && createdAt.length != names.size()) {
      throw new IllegalArgumentException("as many times as names");
    }
    byte[] bytes = row(names);
    return call(store -> Native.filterDropMany(store, bytes, names.size(), createdAt));
  }

  /** Gives a filter another name; open handles go on. */
  public void rename(String oldName, String newName) {
    call(store -> Native.filterRename(store, Text.terminated(oldName), Text.terminated(newName)));
  }

  /** Sets or clears {@link FilterSpec#OWNED} of a filter. */
  public void setOwned(String name, boolean isOwned) {
    call(store -> Native.filterSetOwned(store, Text.terminated(name), isOwned));
  }

  /** Changes in which pages a filter is mapped, for all processes. */
  public void setPages(String name, Pages pages) {
    call(store -> Native.filterSetPages(store, Text.terminated(name), pages.ordinal()));
  }

  /** A filter of the keys of others. */
  public Filter merged(String name, List<Filter> sources, int flags, Progress progress) {
    return Filter.withAddresses(
        sources,
        addresses ->
            opened(
                store ->
                    Native.filterCreateMerged(
                        store, Text.terminated(name), addresses, flags, progress)));
  }

  // ---- Lists and checks
  // --------------------------------------------------------------------------

  /** A call that tells rows. */
  private long each(
      java.util.function.ToLongBiFunction<Long, Upcalls.Visitor> call, Upcalls.Visitor to) {
    return call(store -> call.applyAsLong(store, to));
  }

  private List<Row> rows(java.util.function.ToLongBiFunction<Long, Upcalls.Visitor> call) {
    List<Row> rows = new ArrayList<>();
    each(call, rows::add);
    return rows;
  }

  /** Returns the filters whose names begin so (null: all), as the catalog knows them. */
  public List<Stat> list(String prefix) {
    byte[] bytes = Text.terminated(prefix);
    return Stat.list(rows((store, to) -> Native.storeList(store, bytes, false, to)));
  }

  /** The same, with items, sizes and states as they are now. */
  public List<Stat> listLive(String prefix) {
    byte[] bytes = Text.terminated(prefix);
    return Stat.list(rows((store, to) -> Native.storeList(store, bytes, true, to)));
  }

  /** Returns the names of all filters. */
  public List<String> names() {
    return list(null).stream().map(Stat::name).toList();
  }

  /** A list that is looked at again and again. */
  public Watch watch(String prefix) {
    return new Watch(call(store -> Native.watchNew(store, Text.terminated(prefix))), this);
  }

  /**
   * A problem that a check has found.
   *
   * @param filter name, or "" if the file belongs to no filter
   * @param file path inside the store
   * @param offset byte in the file; 0 for all of it
   * @param error null: it only looks odd
   * @param reason a sentence
   */
  public record Problem(String filter, String file, long offset, ErrorCode error, String reason) {}

  /**
   * Checks the store, or a filter of it.
   *
   * @param name null: all
   * @param progress may be null
   */
  public List<Problem> verify(String name, Progress progress) {
    byte[] bytes = Text.terminated(name);
    List<Problem> problems = new ArrayList<>();
    each(
        (store, to) -> Native.storeVerify(store, bytes, to, progress),
        row ->
            problems.add(
                new Problem(
                    row.text(), row.text(), row.number(), error(row.number()), row.text())));
    return problems;
  }

  private static ErrorCode error(long number) {
    return number == 0 ? null : ErrorCode.of(number);
  }

  /** Copies the store into a directory that is new or empty; returns the number of filters. */
  public long backup(Path path, Progress progress) {
    return call(store -> Native.storeBackup(store, Text.terminated(text(path)), progress));
  }

  /** A flag of {@link #repair}: say what would be done, change nothing. */
  public static final int DRY_RUN = 0x2000000;

  /** A flag of {@link #repair}: make the catalog anew although it can be read. */
  public static final int REBUILD = 0x4000000;

  /**
   * What a repair did, or found and left alone.
   *
   * @param filter name, or ""
   * @param file path inside the store
   * @param error null: done
   * @param what a sentence
   */
  public record RepairStep(String filter, String file, ErrorCode error, String what) {}

  /**
   * Repairs a damaged store.
   *
   * @param flags {@link #DRY_RUN}, {@link #REBUILD}
   * @param progress may be null
   */
  public static List<RepairStep> repair(Path path, int flags, Progress progress) {
    List<RepairStep> steps = new ArrayList<>();
    Upcalls.Visitor to =
        row -> steps.add(new RepairStep(row.text(), row.text(), error(row.number()), row.text()));
    TamisException.check(Native.storeRepair(Text.terminated(text(path)), flags, to, progress));
    return steps;
  }

  // ---- Builds and exceptions
  // ---------------------------------------------------------------------

  /** Begins a build of the filter, which need not exist yet. */
  public Build build(String name, BuildSpec spec) {
    return new Build(
        call(store -> Native.buildBegin(store, Text.terminated(name), spec.row(), spec.progress)),
        this);
  }

  /**
   * A version of a filter's contents.
   *
   * @param inForce it answers; else it is kept
   * @param publishedAt nanoseconds since 1970
   * @param keyDigest the same for the same keys; zeros if it is not of a build
   */
  public record Generation(
      long generation,
      boolean inForce,
      Kind kind,
      int segments,
      long items,
      long sizeBytes,
      double fpRate,
      long exceptions,
      long publishedAt,
      byte[] keyDigest) {}

  /** Returns the generation in force and those that are kept, the oldest first. */
  public List<Generation> generations(String name) {
    byte[] bytes = Text.terminated(name);
    List<Generation> list = new ArrayList<>();
    each(
        (store, to) -> Native.filterGenerations(store, bytes, to),
        row ->
            list.add(
                new Generation(
                    row.number(),
                    row.number() != 0,
                    Kind.values()[row.integer()],
                    row.integer(),
                    row.number(),
                    row.number(),
                    row.real(),
                    row.number(),
                    row.number(),
                    row.bytes())));
    return list;
  }

  /** Puts a kept generation in force again; 0: the newest of those before the one in force. */
  public void rollback(String name, long generation) {
    call(store -> Native.filterRollback(store, Text.terminated(name), generation));
  }

  /** A call for keys at an address. */
  private interface KeysCall {
    long call(long store, Arena arena);
  }

  private long withKeys(Iterable<?> keys, KeysCall call) {
    Arena arena = Arena.take();
    try {
      arena.putAll(keys, 1);
      return call(store -> call.call(store, arena));
    } finally {
      arena.give();
    }
  }

  /** Has keys answer absent whatever the bits say; returns how many were no exceptions yet. */
  public long except(String name, Iterable<?> keys) {
    return withKeys(
        keys,
        (store, arena) ->
            Native.filterExcept(
                store, Text.terminated(name), arena.address(), arena.ends(), arena.count()));
  }

  /** Takes keys off the exceptions; returns which of them were some. */
  public boolean[] unexcept(String name, Iterable<?> keys) {
    boolean[][] answers = new boolean[1][];
    withKeys(
        keys,
        (store, arena) -> {
          long rc =
              Native.filterUnexcept(
                  store,
                  Text.terminated(name),
                  arena.address(),
                  arena.ends(),
                  arena.count(),
                  arena.answers());
          answers[0] = arena.copyBooleans();
          return rc;
        });
    return answers[0];
  }

  /** Takes exceptions. */
  @FunctionalInterface
  public interface ExceptionVisitor {
    /** Returns false to end; the generation is 0, or the one whose build found the key. */
    boolean visit(byte[] key, long generation);
  }

  /** Tells each exception, in order of their bytes. */
  public void exceptions(String name, ExceptionVisitor visitor) {
    byte[] bytes = Text.terminated(name);
    each(
        (store, to) -> Native.filterExceptions(store, bytes, to),
        row -> visitor.visit(row.bytes(), row.number()));
  }

  // ---- Streams
  // -----------------------------------------------------------------------------------

  /** Makes a filter of a stream and opens it. Exceptions of the stream are thrown on. */
  public Filter importFrom(String name, String format, ImportSpec spec, InputStream source)
      throws IOException {
    long store = enter();
    try {
      return new Filter(
          TamisException.check(
              Native.filterImport(
                  store,
                  Text.terminated(name),
                  Text.terminated(format),
                  ImportSpec.rowOf(spec),
                  source)),
          this);
    } finally {
      leave();
    }
  }

  /**
   * What came of a stream that was published.
   *
   * @param published false: nothing was new
   * @param digest of the stream
   */
  public record Published(
      boolean published, long generation, long exceptions, long sizeBytes, byte[] digest) {}

  /** Makes a stream the next generation of a filter. */
  public Published publish(String name, String format, PublishSpec spec, InputStream source)
      throws IOException {
    Arena arena = Arena.take();
    long store = 0;
    try {
      arena.putAll(spec.except, 1);
      store = enter();
      Row row =
          new Row(
              Native.filterPublish(
                  store,
                  Text.terminated(name),
                  Text.terminated(format),
                  spec.row(),
                  arena.address(),
                  arena.ends(),
                  arena.count(),
                  source));
      return new Published(
          row.number() != 0, row.number(), row.number(), row.number(), row.bytes());
    } finally {
      if (store != 0) {
        leave();
      }
      arena.give();
    }
  }
}
