// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What the tests share: a store in a folder of their own, and other JVMs. */
abstract class Fixture {
  @TempDir Path folder;

  /** How many mappings and open files this process has below a folder. */
  static long uses(Path folder) throws IOException {
    String below = folder.toRealPath() + "/";
    long count;
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      count = lines.filter(line -> line.contains(below)).count();
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path file : files) {
        try {
          count += Files.readSymbolicLink(file).toString().startsWith(below) ? 1 : 0;
        } catch (NoSuchFileException e) {
          // It is closed.
        }
      }
    }
    return count;
  }

  /**
   * What a test forgot the collector closes, at any time and in a thread of its own, which writes
   * to the store. JUnit could not delete the folder while it did.
   */
  @AfterEach
  void waitUntilAllIsClosed() throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (uses(folder) > 0) {
      Assertions.assertTrue(System.nanoTime() < end, "what a test forgot stays open");
      System.gc();
      Thread.sleep(10);
    }
  }

  Store store() {
    return Store.open(folder.resolve("store"));
  }

  static FilterSpec small() {
    return FilterSpec.of(10_000, 1e-9);
  }

  static TamisException failsWith(ErrorCode code, Executable call) {
    TamisException e = Assertions.assertThrows(TamisException.class, call);
    Assertions.assertEquals(code, e.code(), e.getMessage());
    Assertions.assertFalse(e.getMessage().isEmpty());
    return e;
  }

  /** What runs a class of the tests in a JVM of its own; the words before the class are options. */
  static ProcessBuilder java(List<String> options, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true);
  }

  /** Runs it; returns what it printed. */
  static String run(int status, ProcessBuilder builder) throws IOException, InterruptedException {
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes());
    Assertions.assertEquals(status, process.waitFor(), said);
    return said;
  }
}
