#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# jar.sh JAR: the jar that a clone builds needs the C library alone.  LMDB comes out of the jar, not from the system, a program
# that has nothing but the jar in its class path works, and nothing is left in the temporary folder.
set -euo pipefail

jar=$(realpath "$1")
[ -f "$jar" ] || {
    echo "jar.sh: left out: there is no $jar"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unzip -q "$jar" 'natives/*'
needed=$(readelf -d natives/*/libtamis_jni.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
[ "$needed" = "libc.so.6 liblmdb.so.0 libm.so.6 " ] || {
    echo "the library needs $needed"
    exit 1
}
needed=$(readelf -d natives/*/liblmdb.so.0 | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
[ "${needed/libpthread.so.0 /}" = "libc.so.6 " ] || {
    echo "LMDB needs $needed"
    exit 1
}
rm -r natives
cat >Main.java <<'END'
import java.nio.file.*;
import tamis.*;

class Main {
  public static void main(String[] arguments) throws Exception {
    try (Store store = Store.open("store");
        Filter seen = store.create("seen", FilterSpec.of(1000, 1e-6))) {
      System.out.println(seen.add("a") + " " + seen.add("a"));
      Files.lines(Path.of("/proc/self/maps"))
          .filter(line -> line.matches(".*(libtamis|liblmdb|libmd|libsodium|libidn2|libxxhash).*"))
          .map(line -> line.replaceAll(".*/tamis-[0-9]+/", "private ").replaceAll("^[^p].* /", "/"))
          .distinct()
          .sorted()
          .forEach(System.out::println);
    }
  }
}
END
mkdir tmp
java -cp "$jar" -Djava.io.tmpdir="$work/tmp" Main.java >said
cat >expected <<'END'
true false
private liblmdb.so.0 (deleted)
private libtamis_jni.so (deleted)
END
diff expected said
[ -z "$(ls tmp)" ]
