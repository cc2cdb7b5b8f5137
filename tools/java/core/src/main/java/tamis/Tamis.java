// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The library as a whole. */
public final class Tamis {
  private Tamis() {}

  /** Returns the version of the library. */
  public static String version() {
    return Native.text(Native.VERSION, 0);
  }

  /** Returns which vector instructions batches use: "avx512", "avx2" or "portable". */
  public static String simd() {
    return Native.text(Native.SIMD, 0);
  }

  /** Returns "TAMIS_ENOTFOUND" or the like for the number of a code. */
  public static String errorName(int number) {
    return Native.text(Native.ERROR_NAME, number);
  }

  /** Returns a few words for the number of a code. */
  public static String errorMessage(int number) {
    return Native.text(Native.ERROR_MESSAGE, number);
  }

  /** Returns the sentence of the last call of this thread that has failed. */
  public static String lastError() {
    return Native.text(Native.LAST_ERROR, 0);
  }

  /** Returns the names of the hash sets. */
  public static List<String> hashSets() {
    List<String> names = new ArrayList<>();
    for (String name = null;
        (name = Text.of(Native.nextHashSet(Text.terminated(name)))) != null; ) {
      names.add(name);
    }
    return names;
  }

  /** Returns what weak hashes of that set cost; null if there is nothing to say. */
  public static String weakness(String hashSet) {
    return Text.of(Native.weakness(Text.terminated(hashSet)));
  }

  /** Returns the names of the formats of streams. */
  public static List<String> formats() {
    List<String> names = new ArrayList<>();
    for (String name; (name = Native.text(Native.FORMAT_NAME, names.size())) != null; ) {
      names.add(name);
    }
    return names;
  }

  /** Returns where a segment is, below the directory of its store. */
  public static String segmentFile(long number) {
    return Native.text(Native.SEGMENT_FILE, number);
  }

  /**
   * Would a filter of that name and spec be accepted? Throws what create() would.
   *
   * @param store where it would be made; null: name and spec only
   */
  public static void check(Path store, String name, FilterSpec spec) {
    TamisException.check(
        Native.filterCheck(
            store == null ? null : Text.terminated(Store.text(store)),
            Text.terminated(name),
            FilterSpec.rowOf(spec)));
  }

  /** Where a key goes by a hash set, without a filter. */
  public static Explanation explain(String hashSet, long bits, int k, long seed, byte[] key) {
    Arena arena = Arena.take();
    try {
      arena.put(key);
      return Explanation.of(
          Native.explain(Text.terminated(hashSet), bits, k, seed, arena.address(), arena.bytes()));
    } finally {
      arena.give();
    }
  }

  /** Returns the shard that has a key, of a filter in shards; its UTF-8 is the key. */
  public static int shard(String key, int shards) {
    return shard(Text.utf8(key), shards);
  }

  /** Returns the shard that has a key, of a filter in shards. */
  public static int shard(byte[] key, int shards) {
    Arena arena = Arena.take();
    try {
      arena.put(key);
      return Native.shard(arena.address(), arena.bytes(), shards);
    } finally {
      arena.give();
    }
  }

  /** Has descriptors that filters keep open begin at that number. */
  public static void setLeastDescriptor(int number) {
    TamisException.check(Native.setLeastDescriptor(number));
  }

  /**
   * Has the library install no handler of SIGBUS; call it before the first store is opened. Then a
   * file of a store that somebody truncates ends the JVM.
   */
  public static void leaveSigbus() {
    Native.leaveSigbus();
  }
}
