// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * The functions of the library, which jni/ has. Each returns what the library returns: a code below
 * zero is an error. Those that return a row of bytes throw the exception of a code instead. Handles
 * and memory of C are addresses; keys are an address of bytes and one of their ends ({@link
 * Arena}). A text has a NUL behind it ({@link Text#terminated}).
 */
final class Native {
  /** What `bytes` is asked for. */
  static final int VERSION = 0;

  static final int SIMD = 1;
  static final int ERROR_NAME = 2;
  static final int ERROR_MESSAGE = 3;
  static final int LAST_ERROR = 4;
  static final int KIND_NAME = 5;
  static final int ON_FULL_NAME = 6;
  static final int PAGES_NAME = 7;
  static final int FORMAT_NAME = 8;
  static final int SEGMENT_FILE = 9;

  /** What `batch` does. */
  static final int ADD = 0;

  static final int CONTAINS = 1;
  static final int REMOVE = 2;
  static final int COUNT = 3;

  /** What `buildKeys` does. */
  static final int AGAINST = 1;

  static final int EXCEPT = 2;

  static {
    Loader.load();
  }

  private Native() {}

  static String text(int what, long number) {
    return Text.of(bytes(what, number));
  }

  // The library.
  private static native byte[] bytes(int what, long number);

  static native byte[] nextHashSet(byte[] hashSet);

  static native byte[] weakness(byte[] hashSet);

  static native int kindHas(int kind, int property);

  static native int kindNext(int kind);

  static native long kindFromName(byte[] name);

  static native long address(ByteBuffer direct);

  static native void leaveSigbus();

  static native int setLeastDescriptor(int number);

  static native byte[] field(int of, int shownBy, int index);

  static native byte[] size(byte[] sizing);

  static native double predictRate(int kind, long bits, int k, long keys);

  static native byte[] explain(byte[] hashSet, long bits, int k, long seed, long key, int bytes);

  static native int shard(long key, int bytes, int shards);

  // Stores.
  static native long storeOpen(byte[] path, int flags, int mode, long busyMillis, long listener);

  static native long storeClose(long store);

  static native long storeSetBusyTimeout(long store, long millis);

  static native long storeSetBusyListener(long store, long listener);

  static native long storeList(long store, byte[] prefix, boolean isLive, Upcalls.Visitor visitor);

  static native long storeVerify(
      long store, byte[] name, Upcalls.Visitor visitor, Progress progress);

  static native long storeRepair(
      byte[] path, int flags, Upcalls.Visitor visitor, Progress progress);

  static native long storeBackup(long store, byte[] path, Progress progress);

  static native long watchNew(long store, byte[] prefix);

  static native long watchLook(long watch, Upcalls.Visitor visitor);

  static native long watchFree(long watch);

  // Filters.
  static native long filterCheck(byte[] path, byte[] name, byte[] spec);

  static native long filterCreate(long store, byte[] name, byte[] spec);

  static native long filterCreateMany(long store, byte[] names, int count, byte[] spec, int flags);

  static native long filterOpen(long store, byte[] name, int flags);

  static native long filterOpenAt(
      byte[] path,
      int storeFlags,
      int mode,
      long busyMillis,
      long listener,
      byte[] name,
      int flags);

  static native long filterOpenOrCreate(long store, byte[] name, byte[] spec);

  static native long filterExists(long store, byte[] name);

  static native long filterStore(long filter);

  static native long filterCreatedAt(long filter);

  static native long filterClose(long filter);

  static native long filterRelease(long filter);

  static native long filterMayWait(long filter, long keys);

  static native long filterPrepare(long filter, long keys);

  static native long filterDrop(long store, byte[] name);

  static native long filterDropMany(long store, byte[] names, int count, long[] createdAt);

  static native long filterRename(long store, byte[] oldName, byte[] newName);

  static native long filterSetOwned(long store, byte[] name, boolean isOwned);

  static native long filterSetPages(long store, byte[] name, int pages);

  static native byte[] filterMapped(long filter);

  static native long filterRotate(long filter);

  static native long filterSync(long filter);

  static native long filterSetSyncInterval(long filter, long nanos);

  static native long filterAccept(long filter);

  // Keys.
  static native int add(long filter, long key, int bytes);

  static native int contains(long filter, long key, int bytes);

  static native long containsName(long filter, long name, int bytes);

  static native int remove(long filter, long key, int bytes);

  static native long count(long filter, long key, int bytes);

  static native int prefetch(long filter, long key, int bytes);

  static native long batch(long filter, int what, long keys, long ends, int count, long answers);

  // Looking inside.
  static native byte[] filterStat(long filter);

  static native long filterItems(long filter);

  static native byte[] filterSegment(long filter, int index, boolean isFill);

  static native byte[] filterFillMap(long filter, int index, int count);

  static native byte[] filterExplain(long filter, int index, long key, int bytes);

  // Merging.
  static native long filterMerge(long filter, long[] sources, int flags, Progress progress);

  static native long filterCreateMerged(
      long store, byte[] name, long[] sources, int flags, Progress progress);

  static native byte[] filterLike(long filter);

  static native byte[] filterCompare(long filter, long other);

  // Streams.
  static native long filterImport(
      long store, byte[] name, byte[] format, byte[] spec, InputStream source) throws IOException;

  static native byte[] filterPublish(
      long store,
      byte[] name,
      byte[] format,
      byte[] spec,
      long keys,
      long ends,
      int count,
      InputStream source)
      throws IOException;

  static native long filterExport(
      long filter, byte[] format, int flags, OutputStream sink, long from, long bytes)
      throws IOException;

  static native byte[] filterReadData(long filter, int index, long offset, int bytes);

  static native long filterWriteData(long filter, int index, long offset, long data, int bytes);

  static native long filterSetBit(long filter, int index, long position);

  // Builds.
  static native long buildBegin(long store, byte[] name, byte[] spec, Progress progress);

  static native long buildKeys(long build, int what, long keys, long ends, int count);

  static native byte[] buildPublish(long build);

  static native long buildClose(long build);

  static native long filterGenerations(long store, byte[] name, Upcalls.Visitor visitor);

  static native long filterRollback(long store, byte[] name, long generation);

  static native long filterExcept(long store, byte[] name, long keys, long ends, int count);

  static native long filterUnexcept(
      long store, byte[] name, long keys, long ends, int count, long answers);

  static native long filterExceptions(long store, byte[] name, Upcalls.Visitor visitor);

  static native long filterEachException(long filter, Upcalls.Visitor visitor);
}
