// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Several threads and processes, and what the system does to them. */
class ProcessesTest extends Fixture {
  private static final int KEYS = 200_000;

  /** The number of trues over threads that add the same keys at the same time. */
  static long trues(int threads, int keys, Predicate<String> add) throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(threads);
    LongAdder trues = new LongAdder();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      all.add(
          new Thread(
              () -> {
                try {
                  for (int j = 0; j < keys; j++) {
                    if (j % 100 == 0) {
                      barrier.await();
                    }
                    if (add.test("https://crawl.example/page/" + j)) {
                      trues.increment();
                    }
                  }
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              }));
    }
    all.forEach(Thread::start);
    for (Thread thread : all) {
      thread.join();
    }
    return trues.sum();
  }

  /** Tamis tells each key new once. Guava may tell two callers so (its issue 8597). */
  @Test
  void eachKeyIsNewOnceOverThreads() throws Exception {
    try (Store store = store();
        Filter seen = store.create("seen", FilterSpec.of(KEYS, 1e-9))) {
      assertEquals(KEYS, trues(4, KEYS, seen::add));
      assertEquals(KEYS, seen.items());
      BloomFilter<CharSequence> guava =
          BloomFilter.create(Funnels.unencodedCharsFunnel(), KEYS, 1e-9);
      System.out.println(
          KEYS
              + " keys, 4 threads: Tamis true "
              + KEYS
              + " times, Guava "
              + trues(4, KEYS, guava::put));
    }
  }

  /** A process that adds the same keys as others, and prints how many were new. */
  static final class Adder {
    private Adder() {}

    public static void main(String[] arguments) throws IOException {
      try (Store store = Store.open(arguments[0]);
          Filter seen = store.filter("seen")) {
        System.out.println("ready");
        System.in.read();
        long news = 0;
        List<String> batch = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
          batch.add("key " + i);
          if (batch.size() == 1000) {
            news += seen.newOf(batch).size();
            batch.clear();
          }
        }
        System.out.println(news);
      }
    }
  }

  @Test
  void eachKeyIsNewOnceOverProcesses() throws Exception {
    try (Store store = store();
        Filter seen = store.create("seen", FilterSpec.of(1000, 1e-9))) { // it grows
      List<Process> processes = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        processes.add(java(List.of(), Adder.class, folder.resolve("store").toString()).start());
      }
      List<BufferedReader> said = new ArrayList<>();
      for (Process process : processes) {
        said.add(new BufferedReader(new InputStreamReader(process.getInputStream())));
        assertEquals("ready", said.get(said.size() - 1).readLine());
      }
      long news = 0;
      for (Process process : processes) {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
      }
      for (int i = 0; i < processes.size(); i++) {
        news += Long.parseLong(said.get(i).readLine());
        assertEquals(0, processes.get(i).waitFor());
      }
      assertEquals(KEYS, news);
      assertEquals(0, seen.update(List.of("key 0", "key 199999")));
    }
  }

  @Test
  void aCallThatWaitsTellsItsListener() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/flock")));
    StoreOptions options = new StoreOptions().create();
    AtomicInteger told = new AtomicInteger();
    options.onBusy((waited, holder) -> told.incrementAndGet() < 1);
    try (Store store = Store.open(folder.resolve("store"), options)) {
      Process holder =
          new ProcessBuilder(
                  "flock", folder.resolve("store/catalog.lock").toString(), "-c", "echo; read x")
              .start();
      holder.getInputStream().read();
      failsWith(ErrorCode.BUSY, () -> store.create("seen", small()));
      assertEquals(1, told.get());
      RuntimeException mine = new RuntimeException("mine");
      store.setBusyListener(
          (waited, who) -> {
            throw mine;
          });
      assertSame(mine, assertThrows(RuntimeException.class, () -> store.create("seen", small())));
      // Seen to keep a listener for ever where one that threw an Error ended the opening.
      int kept = Upcalls.LISTENERS.size();
      Error wrong = new AssertionError("wrong");
      options.onBusy(
          (waited, who) -> {
            throw wrong;
          });
      Path path = folder.resolve("store");
      assertSame(wrong, assertThrows(Error.class, () -> Store.open(path, options)));
      assertSame(wrong, assertThrows(Error.class, () -> Filter.openAt(path, options, "seen", 0)));
      assertEquals(kept, Upcalls.LISTENERS.size());
      store.setBusyListener(null);
      store.setBusyTimeout(Duration.ZERO);
      failsWith(ErrorCode.BUSY, () -> store.create("seen", small()));
      holder.getOutputStream().close();
      holder.waitFor();
      store.create("seen", small()).close();
    }
  }

  /** Java's own error for its own mapping comes at some later instant of the thread. */
  private static boolean isAnError(MappedByteBuffer cutShort) throws InterruptedException {
    try {
      for (int i = 0; i < 100; i++) {
        cutShort.get(1 << 19);
        Thread.sleep(1);
      }
      return false;
    } catch (InternalError e) {
      return true;
    }
  }

  /** A file of a store is cut short, and so is one of Java's own. Neither ends the JVM. */
  @Test
  void filesThatAreCutShortAreErrors() throws Exception {
    Path own = folder.resolve("own");
    Files.write(own, new byte[1 << 20]);
    try (Store store = store();
        RandomAccessFile file = new RandomAccessFile(own.toFile(), "rw")) {
      Filter seen = store.create("seen", FilterSpec.of(1_000_000, 1e-3));
      seen.add("a");
      MappedByteBuffer mapped = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
      Path segment = folder.resolve("store").resolve(Tamis.segmentFile(1));
      try (FileChannel cut = FileChannel.open(segment, StandardOpenOption.WRITE)) {
        cut.truncate(4096);
      }
      TamisException e =
          assertThrows(
              TamisException.class,
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  seen.add("key " + i);
                }
              });
      assertTrue(List.of(ErrorCode.CORRUPT, ErrorCode.IO).contains(e.code()), e.getMessage());
      file.setLength(0);
      assertTrue(isAnError(mapped));
      failsWith(ErrorCode.CORRUPT, seen::close);
    }
  }

  /** Calls of all sorts, under -Xcheck:jni. */
  static final class Exercise {
    private Exercise() {}

    public static void main(String[] arguments) throws Exception {
      StoresTest all = new StoresTest();
      all.folder = Path.of(arguments[0]);
      all.everythingIsSeenInside();
      all.folder = Files.createDirectory(all.folder.resolve("2"));
      all.filtersAreMergedAndCompared();
      all.folder = Files.createDirectory(all.folder.resolve("3"));
      all.filtersAreStreams();
      all.folder = Files.createDirectory(all.folder.resolve("4"));
      all.listsAreBuiltAnewAndRolledBack();
      all.folder = Files.createDirectory(all.folder.resolve("5"));
      all.filtersAreMadeOpenedRenamedAndDropped();
      Store many = Store.open(all.folder.resolve("many"));
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        names.add("filter " + i);
      }
      many.createMany(names, FilterSpec.of(10, 0.1), false);
      if (many.list(null).size() != 300) {
        throw new IllegalStateException("not all");
      }
    }
  }

  /**
   * JNI has nothing to say of the calls. Seen to fail when upcall_row() kept its local references.
   * That the library stands before the JVM's own handler of SIGBUS is known, and tested above.
   */
  @Test
  void jniHasNothingToSay() throws Exception {
    String said =
        run(
            0,
            java(
                List.of("-Xcheck:jni"),
                Exercise.class,
                Files.createTempDirectory(folder, "x").toString()));
    assertFalse(said.contains("in native method"), said);
    assertFalse(said.contains("WARNING"), said);
  }
}
