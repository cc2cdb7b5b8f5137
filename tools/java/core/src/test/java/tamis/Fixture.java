// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What the tests share: a store in a folder of their own, and other JVMs. */
abstract class Fixture {
  @TempDir Path folder;

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
