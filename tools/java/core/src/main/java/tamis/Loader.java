// SPDX-License-Identifier: BSD-2-Clause
package tamis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Loads the native part, the first that there is of
 *
 * <ol>
 *   <li>the file that the system property tamis.jni names
 *   <li>natives/OS-PROCESSOR of the jar, copied to a private folder, which is removed at once
 *   <li>libtamis_jni.so in java.library.path
 * </ol>
 *
 * The folder is new, ours and closed to everybody else, and below one in which no stranger can put
 * another in its place: one that belongs to us or to root, and where only the owners of files may
 * rename them. A folder that is mounted noexec is passed over for the next one.
 */
final class Loader {
  private static final String LIBRARY = "libtamis_jni.so";

  /** What the library needs beside it; a jar for an installed one has none of these. */
  private static final List<String> FILES = List.of(LIBRARY, "liblmdb.so.0");

  private static final int WRITABLE_BY_OTHERS = 022;
  private static final int STICKY = 01000;

  private Loader() {}

  static void load() {
    String named = System.getProperty("tamis.jni");
    if (named != null) {
      System.load(Paths.get(named).toAbsolutePath().toString());
    } else if (Loader.class.getResource(folder() + LIBRARY) != null) {
      loadFromJar();
    } else {
      System.loadLibrary("tamis_jni");
    }
  }

  private static String folder() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String processor = System.getProperty("os.arch").replace("amd64", "x86_64");
    return "/natives/" + os + "-" + processor + "/";
  }

  private static Set<Path> places() {
    Set<Path> places = new LinkedHashSet<>();
    for (String place :
        new String[] {
          System.getProperty("tamis.tmpdir"),
          System.getProperty("java.io.tmpdir"),
          System.getenv("XDG_RUNTIME_DIR"),
          "/var/tmp",
          System.getProperty("user.home")
        }) {
      if (place != null && !place.isEmpty()) {
        places.add(Paths.get(place).toAbsolutePath());
      }
    }
    return places;
  }

  private static void loadFromJar() {
    List<String> refused = new ArrayList<>();
    for (Path place : places()) {
      try {
        String why = whyNot(place);
        if (why == null) {
          why = loadFrom(place);
        }
        if (why == null) {
          return;
        }
        refused.add(place + ": " + why);
      } catch (IOException | UncheckedIOException e) {
        refused.add(place + ": " + e);
      }
    }
    throw new UnsatisfiedLinkError(
        "no folder for "
            + LIBRARY
            + " of the jar; name one of your own, on a file system without noexec, by -Dtamis.tmpdir=DIR. "
            + String.join("; ", refused));
  }

  /** Returns why strangers might replace a folder there; null: they cannot. */
  private static String whyNot(Path place) throws IOException {
    for (Path at = place.toRealPath(); at != null; at = at.getParent()) {
      int mode = (Integer) Files.getAttribute(at, "unix:mode");
      int owner = (Integer) Files.getAttribute(at, "unix:uid");
      if (owner != 0 && owner != ourselves()) {
        return "user " + owner + " owns " + at;
      }
      if ((mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
        return "others may rename what is in " + at;
      }
    }
    return null;
  }

  private static int ourselves() throws IOException {
    return (Integer) Files.getAttribute(Paths.get("/proc/self"), "unix:uid");
  }

  private static String loadFrom(Path place) throws IOException {
    Path own =
        Files.createTempDirectory(
            place,
            "tamis-",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    try {
      for (String file : FILES) {
        try (InputStream in = Loader.class.getResourceAsStream(folder() + file)) {
          if (in != null) {
            Files.copy(in, own.resolve(file));
          }
        }
      }
      System.load(own.resolve(LIBRARY).toString());
      return null;
    } catch (UnsatisfiedLinkError e) {
      return e.getMessage();
    } finally { // what is mapped stays
      for (String file : FILES) {
        Files.deleteIfExists(own.resolve(file));
      }
      Files.delete(own);
    }
  }
}
