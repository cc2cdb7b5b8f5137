// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Closes at all times, threads, and the end of the process. */
class ClosingTest extends Fixture {
  @Test
  void whatIsClosedIsRefused() {
    Store store = store();
    Filter seen = store.create("seen", small());
    Build build = store.build("list", BuildSpec.of(0.01));
    Watch watch = store.watch(null);
    for (Handle handle : List.of(build, watch, store)) {
      handle.close();
      handle.close();
      assertTrue(handle.isClosed());
    }
    assertTrue(seen.add("a")); // the store is closed, and the filter is not
    seen.close();
    seen.close();
    seen.release();
    assertThrows(ClosedException.class, () -> seen.add("b"));
    assertThrows(ClosedException.class, () -> seen.addAll(List.of("b")));
    assertThrows(ClosedException.class, () -> seen.stat());
    assertThrows(ClosedException.class, () -> store.filter("seen"));
    assertThrows(ClosedException.class, () -> build.addAll(List.of("b")));
    assertThrows(ClosedException.class, () -> build.publish());
    assertThrows(ClosedException.class, () -> watch.look());
    try (Store again = store();
        Filter same = again.filter("seen")) {
      assertThrows(ClosedException.class, () -> same.merge(List.of(seen), 0, null));
      assertThrows(ClosedException.class, () -> same.compare(seen));
      assertFalse(same.add("a"));
    }
  }

  /**
   * Threads use a filter, and one of them closes it. Without the count in Handle the JVM died in
   * the first rounds of this: Core.close() was made to close at once.
   */
  @Test
  void aCloseBesideCallsHarmsNothing() throws InterruptedException {
    List<String> batch = IntStream.range(0, 500).mapToObj(i -> "key " + i).toList();
    try (Store store = store()) {
      store.create("seen", FilterSpec.of(1_000_000, 1e-3)).close();
      for (int round = 0; round < 300; round++) {
        Filter seen = store.filter("seen");
        CountDownLatch begun = new CountDownLatch(4);
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          int number = i;
          threads.add(
              new Thread(
                  () -> {
                    try {
                      for (int j = 0; ; j++) {
                        begun.countDown();
                        if (number == 0) {
                          seen.addAll(batch);
                        } else if (number == 1) {
                          seen.stat();
                        } else {
                          seen.add("key " + number + " " + j);
                        }
                      }
                    } catch (ClosedException e) {
                      // the end
                    } catch (Throwable e) {
                      wrong.set(e);
                    }
                  }));
        }
        threads.forEach(Thread::start);
        begun.await();
        if (round % 2 == 0) {
          seen.close();
        } else {
          seen.release();
        }
        for (Thread thread : threads) {
          thread.join();
        }
        if (wrong.get() != null) {
          throw new AssertionError("round " + round, wrong.get());
        }
      }
    }
  }

  @Test
  void aCloseWithinACallComesAfterIt() {
    try (Store store = store()) {
      store.create("seen", small()).close();
      store.except("seen", List.of("a", "b", "c"));
      Filter seen = store.filter("seen");
      AtomicInteger told = new AtomicInteger();
      seen.exceptions(
          (key, generation) -> {
            seen.close();
            assertThrows(ClosedException.class, () -> seen.contains("a"));
            System.gc(); // while a call of C runs
            return told.incrementAndGet() < 3;
          });
      assertEquals(3, told.get());
      Build[] build = new Build[1];
      BuildSpec spec =
          BuildSpec.of(0.01)
              .progress(
                  (phase, done, all) -> {
                    assertThrows(IllegalStateException.class, () -> build[0].addAll(List.of("x")));
                    store.filter("seen").add("within " + phase); // the arena of keys is in use
                  });
      build[0] = store.build("list", spec);
      build[0].addAll(List.of("x", "y"));
      assertEquals(2, build[0].publish().keys());
      build[0].close();
    }
  }

  private void useAndForget() {
    Filter seen = store().create("forgotten", small());
    assertTrue(seen.add("a"));
  }

  /** It was seen to fail without the Cleaner. */
  @Test
  void whatIsForgottenIsClosedByTheCollector() throws Exception {
    useAndForget();
    waitUntilAllIsClosed();
    try (Store store = store();
        Filter again = store.filter("forgotten")) {
      assertFalse(again.add("a"));
      assertTrue(again.stat().number("checkpointed_at") > 0);
    }
  }

  /** A thread that only calls a filter that nobody else knows: the collector may not take it. */
  @Test
  void theCollectorTakesNothingThatIsInACall() throws InterruptedException {
    try (Store store = store()) {
      store.create("seen", FilterSpec.of(1_000_000, 1e-3)).close();
      Thread[] threads = new Thread[2];
      for (int i = 0; i < threads.length; i++) {
        threads[i] =
            new Thread(
                () -> {
                  for (int j = 0; j < 2000; j++) {
                    store.filter("seen").add("key " + j);
                  }
                });
        threads[i].start();
      }
      while (threads[0].isAlive() || threads[1].isAlive()) {
        System.gc();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      try (Filter seen = store.filter("seen")) {
        assertTrue(seen.items() > 1990);
      }
    }
  }

  /** A process that ends with all open. */
  static final class Leaver {
    private Leaver() {}

    public static void main(String[] arguments) {
      Store store = Store.open(arguments[0]);
      Filter seen = store.openOrCreate("seen", small());
      Build build = store.build("list", BuildSpec.of(0.01));
      build.addAll(List.of("a"));
      Thread adder =
          new Thread(
              () -> {
                for (int i = 0; ; i++) {
                  seen.add("more " + i % 1000);
                }
              });
      adder.setDaemon(true);
      adder.start();
      System.out.println(seen.add("a"));
      if (arguments[1].equals("halt")) {
        Runtime.getRuntime().halt(3);
      }
      System.exit(3);
    }
  }

  @Test
  void aProcessMayEndWithAllOpen() throws Exception {
    for (String how : List.of("exit", "halt")) {
      Path path = folder.resolve(how);
      String said = run(3, java(List.of("-Xcheck:jni"), Leaver.class, path.toString(), how));
      assertTrue(said.endsWith("true\n"), said);
      try (Store store = Store.open(path);
          Filter seen = store.filter("seen")) {
        assertFalse(seen.add("a"));
        assertFalse(store.exists("list"));
        assertEquals(List.of(), store.verify(null, null));
      }
    }
  }
}
