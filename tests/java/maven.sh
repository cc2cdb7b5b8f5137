#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# maven.sh TOP OUT JNI [--runner FILE] ARGUMENT...: runs Maven in TOP/tools/java; it builds in OUT, with the libtamis_jni.so that
# was built, or if JNI is "-" with that of native.sh.  Packages come from the registry, into the user's own cache; if it cannot be reached, the
# test is left out (77).  --runner: then FILE is a script that runs the runner of tests/bindings.
set -euo pipefail

top=$1 out=$2 jni=${3#-}
shift 3
runner=
if [ "$1" = --runner ]; then
    runner=$2
    shift 2
fi
mkdir -p "$out"
log=$(mktemp "$out/log.XXXXXX")
trap 'rm -f "$log"' EXIT
status=0
# Maven ends before the JVM's second compiler would pay.
export MAVEN_OPTS="${MAVEN_OPTS--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}"
TAMIS_JNI=$jni mvn -B -f "$top/tools/java" "-Dtamis.build=$out" "$@" >"$log" 2>&1 </dev/null || status=$?
grep -v '^\[INFO\] Download' "$log" | tail -n 150
if [ "$status" != 0 ] && grep -qE 'Could not transfer|Unknown host|Cannot access .* offline|Connection (refused|timed out)' "$log"; then
    echo "maven.sh: left out: Maven cannot reach the registry for what is not in its cache"
    exit 77
fi
if [ "$status" = 0 ] && [ -n "$runner" ]; then
    cat >"$runner" <<END
#!/bin/sh
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dtamis.jni='$jni' \\
    -cp '$out/tamis/classes:$out/tamis-suite/classes' tamis.suite.Runner "\$@"
END
    chmod +x "$runner"
fi
exit "$status"
