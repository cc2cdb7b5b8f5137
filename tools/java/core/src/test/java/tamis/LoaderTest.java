// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where the native part comes from. */
class LoaderTest extends Fixture {
  static final class Version {
    private Version() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println("version " + Tamis.version());
      Files.lines(Path.of("/proc/self/maps"))
          .filter(line -> line.contains("libtamis_jni.so"))
          .limit(1)
          .forEach(line -> System.out.println(line.substring(line.indexOf('/'))));
    }
  }

  private static String start(int status, String... options) throws Exception {
    return run(status, java(List.of(options), Version.class));
  }

  private Path folder(String name, String mode) throws Exception {
    Path made = Files.createDirectory(folder.resolve(name));
    return Files.setPosixFilePermissions(made, PosixFilePermissions.fromString(mode));
  }

  @Test
  void theJarsIsCopiedToAPrivateFolderThatGoes() throws Exception {
    Path temporary = folder("private", "rwx------");
    String said = start(0, "-Dtamis.tmpdir=" + temporary);
    assertTrue(said.contains(temporary + "/tamis-"), said);
    assertTrue(said.contains("(deleted)"), said);
    try (var left = Files.list(temporary)) {
      assertEquals(0, left.count());
    }
  }

  /** It was seen to fail when Loader.whyNot() let all folders pass. */
  @Test
  void aFolderOfStrangersIsPassedOver() throws Exception {
    Path open = folder("open", "rwxrwxrwx");
    String said =
        start(0, "-Dtamis.tmpdir=" + open, "-Djava.io.tmpdir=" + folder("own", "rwx------"));
    assertTrue(said.contains("/own/tamis-"), said);
    // Below one that others may write to it is no better.
    Path below = Files.createDirectory(open.resolve("below"));
    said = start(0, "-Dtamis.tmpdir=" + below, "-Djava.io.tmpdir=" + folder("own2", "rwx------"));
    assertTrue(said.contains("/own2/tamis-"), said);
  }

  @Test
  void aFolderWithoutExecutionIsPassedOver() throws Exception {
    Path mount = folder("noexec", "rwx------");
    Process mounted =
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", mount.toString())
            .start();
    assumeTrue(mounted.waitFor() == 0, "no right to mount");
    try {
      String said = start(0, "-Dtamis.tmpdir=" + mount);
      assertTrue(said.contains("version ") && !said.contains("noexec"), said);
      try (var left = Files.list(mount)) {
        assertEquals(0, left.count());
      }
    } finally {
      assertEquals(0, new ProcessBuilder("umount", mount.toString()).start().waitFor());
    }
  }

  @Test
  void anotherMayBeNamed() throws Exception {
    Path library = folder.resolve("libtamis_jni.so");
    try (var in = Tamis.class.getResourceAsStream("/natives/linux-x86_64/libtamis_jni.so")) {
      assumeTrue(in != null);
      Files.copy(in, library);
    }
    assertTrue(start(0, "-Dtamis.jni=" + library).contains(library.toString()));
    String said = start(1, "-Dtamis.jni=" + folder.resolve("none.so"));
    assertTrue(said.contains("none.so"), said);
  }
}
