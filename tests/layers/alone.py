# SPDX-License-Identifier: BSD-2-Clause
"""alone.py BUILD [FILE...]: each header and each C file of store/ and tools/ that the build BUILD knows compiles alone, and leans
on nothing that the header of another library happens to include.  With FILEs, only these.

xxhash.h and its like are replaced by bare ones, made here of what is installed: their own declarations, and of the system's
headers those alone that have the types of these (TYPES).  store/exchange/portable.c had <assert.h> from the xxhash.h of Debian 12,
and that of Debian 13 does not bring it.

Seen to fail with that file as it was, and with headers that lacked what they use; alone_test.py does the like.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The headers of other libraries that are included, and how the paths of the library's own files end.
LIBRARIES = {
    "xxhash.h": r"/xxh\w*\.h", "lmdb.h": "/lmdb.h", "jansson.h": r"/jansson\w*\.h", "hiredis/hiredis.h": "/hiredis/.*",
    "curl/curl.h": "/curl/.*", "zlib.h": "/(zlib|zconf).h", "zstd.h": r"/zstd\w*\.h", "sodium.h": r"/sodium(\.h|/.*)",
    "md5.h": "/md5.h", "idn2.h": "/idn2.h", "curses.h": r"/(curses|ncurses\w*|unctrl)\.h",
}
TYPES = ("stddef.h", "stdint.h", "stdarg.h", "stdbool.h", "stdio.h", "time.h", "wchar.h", "sys/types.h", "sys/time.h", "sys/socket.h",
         "sys/select.h")


def write_bare(header, into):
    """The bare form of a header, if the header is installed."""
    # Without loops for vectors: the compiler's headers for these include <stdlib.h>.
    done = subprocess.run(["cc", "-E", "-dD", "-xc", "-std=c11", "-D_GNU_SOURCE", "-DXXH_INLINE_ALL", "-DXXH_VECTOR=0", "-"],
                          input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return
    own, path, paths, kept = re.compile(f"(.*{LIBRARIES[header]})$"), "", set(), []
    for line in done.stdout.split("\n"):
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            path = mark.group(1)
            paths.add(path)
        elif own.match(path):
            kept.append(line)
    place = os.path.join(into, header)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write("#pragma once\n#pragma GCC system_header\n")
        file.writelines(f"#include <{name}>\n" for name in TYPES if any(path.endswith("/" + name) for path in paths))
        file.write("\n".join(kept) + "\n")


def commands(build):
    """FILE: (compiler and flags, directory) of each C file that the build knows."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    # First as it is installed, without the tests' points.
    for entry in sorted(entries, key=lambda entry: "TAMIS_TEST_POINTS" in entry["command"]):
        name = os.path.relpath(entry["file"], TOP)
        if name.startswith(("store/", "tools/")) and name.endswith(".c"):
            words = [word for word in shlex.split(entry["command"]) if not word.startswith(("-W", "-O"))]
            if "ccache" in words[0]:
                del words[0]
            del words[words.index("-o"):]
            found.setdefault(name, (words, entry["directory"]))
    return found


def is_whole(path):
    """Whether it is a header by itself.  What has neither #pragma once nor a guard is a part of the files that include it."""
    with open(path, encoding="utf-8") as file:
        return re.search(r"^#(pragma once|ifndef \w+_H)$", file.read(), re.MULTILINE)


def with_headers(known):
    """`known`, and each header with the flags of a file beside it, or of the nearest folder above that has one."""
    found = dict(known)
    for part in ("store", "tools"):
        for folder, _, names in os.walk(os.path.join(TOP, part)):
            near = os.path.relpath(folder, TOP)
            while near not in ("tools", "") and not any(name.startswith(near + "/") for name in known):
                near = os.path.dirname(near)
            for name in names if near not in ("tools", "") else ():
                if name.endswith(".h") and is_whole(os.path.join(folder, name)):
                    how = next(known[file] for file in sorted(known) if file.startswith(near + "/"))
                    found[os.path.relpath(os.path.join(folder, name), TOP)] = how
    return found


def complaint(name, how, bares):
    """What the compiler says of it, or ''."""
    words, directory = how
    done = subprocess.run([words[0], "-I", bares, *words[1:], "-O0", "-fsyntax-only", "-Werror=implicit-function-declaration", "-xc", "-"],
                          cwd=directory, input=f'#include "{os.path.join(TOP, name)}"\n', capture_output=True, text=True, check=False)
    return f"{name} does not compile alone:\n{done.stderr}" if done.returncode != 0 else ""


def main(build, *only):
    files = with_headers(commands(build))
    with tempfile.TemporaryDirectory() as bares, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda header: write_bare(header, bares), LIBRARIES))
        names = sorted(only or files)
        said = [text for text in pool.map(lambda name: complaint(name, files[name], bares), names) if text]
    print(*said, sep="\n")
    print(f"{len(names)} files, {len(said)} of them do not compile alone")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
