// SPDX-License-Identifier: BSD-2-Clause
package crawl;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import tamis.Filter;
import tamis.Store;

/** The queue of ../README.md, for crawlers in Java. */
final class Work {
  private static final int FILE_URLS = 10;

  /**
   * A file of the queue that this crawler has claimed, and those of its URLs that are to be
   * fetched.
   */
  record Claimed(Path path, List<String> urls) {}

  private final Filter queued;
  private final Filter finished;
  private final Path directory;
  private final String name;
  private final AtomicInteger count = new AtomicInteger();

  Work(Store store, Path directory, String name) throws IOException {
    this.queued = store.filter("queued");
    this.finished = store.filter("finished");
    this.directory = directory;
    this.name = name;
    putBack(directory.resolve("claimed").resolve(name));
    putBack(directory.resolve("found").resolve(name));
  }

  /** Gives back what a crawler of this name had when it was killed. */
  private void putBack(Path from) throws IOException {
    for (Path file : filesOf(Files.createDirectories(from))) {
      if (file.toString().endsWith(".new")) {
        Files.delete(file);
      } else {
        Files.move(file, queue(file), ATOMIC_MOVE);
      }
    }
  }

  private Path queue(Path file) {
    return directory.resolve("queue").resolve(file.getFileName());
  }

  private static List<Path> filesOf(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  /** Returns null where there is no file now. */
  Claimed claim() throws IOException {
    for (Path file : filesOf(directory.resolve("queue"))) {
      Path mine = directory.resolve("claimed").resolve(name).resolve(file.getFileName());
      try {
        // Without ATOMIC_MOVE two threads may claim one file: Files.move() looks at both paths
        // first, and does nothing if they are the same file by then.
        Files.move(file, mine, ATOMIC_MOVE);
      } catch (NoSuchFileException e) {
        continue; // another crawler has it
      }
      List<String> all = Files.readAllLines(mine);
      boolean[] done = finished.containsAll(all);
      List<String> urls = new ArrayList<>();
      for (int i = 0; i < done.length; i++) {
        if (!done[i]) {
          urls.add(all.get(i));
        }
      }
      return new Claimed(mine, urls);
    }
    return null;
  }

  /** Brings the links that nobody has found before into the queue. */
  void put(List<String> links) throws IOException {
    String file = name + "-" + ProcessHandle.current().pid() + "-" + count.incrementAndGet();
    Path found = directory.resolve("found").resolve(name).resolve(file);
    Files.write(found, links);
    List<String> isNew = queued.newOf(links);
    for (int i = 0; i < isNew.size(); i += FILE_URLS) {
      Path part = found.resolveSibling(file + "-" + i + ".new");
      Files.write(part, isNew.subList(i, Math.min(i + FILE_URLS, isNew.size())));
      Files.move(part, queue(Path.of(file + "-" + i)), ATOMIC_MOVE);
    }
    Files.delete(found);
  }

  void finish(Claimed claimed) throws IOException {
    finished.update(claimed.urls());
    Files.delete(claimed.path());
  }

  /** Tells whether no crawler has anything, nor the queue. */
  boolean isEmpty() throws IOException {
    for (String part : List.of("queue", "claimed", "found")) {
      try (Stream<Path> files = Files.walk(directory.resolve(part), 2)) {
        if (files.anyMatch(Files::isRegularFile)) {
          return false;
        }
      } catch (java.io.UncheckedIOException e) {
        return false; // a file went while it was looked at
      }
    }
    return true;
  }
}
