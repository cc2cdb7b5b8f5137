# SPDX-License-Identifier: BSD-2-Clause
"""Builds the extension tamis._tamis against libtamis.

An installed libtamis is used if pkg-config knows one.  Otherwise the library is built by CMake from the sources that are
two folders above this file, or in `library` beside it (in an sdist), and becomes part of the extension; it then needs
liblmdb at run time and nothing else.  TAMIS_BUNDLE=1 and TAMIS_BUNDLE=0 in the environment ask for the one or the other.
"""

import os
import re
import shutil
import subprocess
import sysconfig

import setuptools
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ["arrow", "buffer", "build", "errors", "exchange", "fields", "filter", "items", "key", "many", "module", "source", "store",
           "use"]


def library():
    """The folder with the library's CMakeLists.txt; None if only this folder was copied."""
    for place in (os.path.join(HERE, "library"), os.path.dirname(os.path.dirname(HERE))):
        if os.path.isfile(os.path.join(place, "store", "include", "tamis.h")):
            return place
    return None


def pkg_config(package, what):
    """The words that pkg-config prints; None if it does not know the package."""
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), what, package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.split() if done.returncode == 0 else None


def version():
    """That of the sources of the library, or of the installed library where this folder was copied alone."""
    top = library()
    if top is not None:
        with open(os.path.join(top, "CMakeLists.txt"), encoding="utf-8") as file:
            return re.search(r"project\(tamis VERSION ([0-9.]+)", file.read())[1]
    installed = pkg_config("tamis", "--modversion")
    if not installed:
        raise SystemExit("setup.py: this folder was copied without the sources of Tamis around it, and pkg-config does not "
                         "know libtamis; build it in a whole checkout or from the sdist, or install libtamis first")
    return installed[0]


def licence_as_a_table():
    """For setuptools before 77, such as Debian 12's: pyproject.toml has the licence as text, which they refuse."""
    from setuptools.config import pyprojecttoml

    load = pyprojecttoml.load_file

    def load_file(path):
        config = load(path)
        project = config["project"]
        project["license"] = {"text": project["license"]}
        config["tool"]["setuptools"]["license-files"] = project.pop("license-files")
        return config

    pyprojecttoml.load_file = load_file


class BuildExtension(build_ext):
    """build_ext that knows where libtamis is, at the time when it is needed."""

    def finalize_options(self):
        super().finalize_options()
        # The extension is linked anew each time.  Setuptools compares times of files that it knows of, and would keep an
        # extension with the library of before, after `git pull` or when another libtamis was asked for.
        self.force = True

    def build_extension(self, extension):
        wanted = os.environ.get("TAMIS_BUNDLE", "")
        installed = pkg_config("tamis", "--cflags") if wanted != "1" else None
        if installed is not None:
            extension.extra_compile_args += installed
            extension.extra_link_args += pkg_config("tamis", "--libs")
        elif wanted == "0":
            raise SystemExit("setup.py: TAMIS_BUNDLE=0, and pkg-config does not know libtamis")
        else:
            self.bundle(extension)
        super().build_extension(extension)

    def bundle(self, extension):
        top, build = library(), os.path.abspath(os.path.join(self.build_temp, "library"))
        libraries = pkg_config("lmdb", "--libs")
        if top is None or not shutil.which("cmake") or libraries is None:
            raise SystemExit("setup.py: pkg-config does not know libtamis; to build it too, install cmake, a C compiler, "
                             "pkg-config, liblmdb-dev and libxxhash-dev, and keep the sources of Tamis together")
        options = ["BUILD_TOOLS", "BUILD_REDIS", "BUILD_PYTHON", "BUILD_PHP", "BUILD_TESTS", "WITH_MD5", "WITH_SIP", "WITH_IDN"]
        self.leave_other_place(top, build)
        subprocess.run(["cmake", "-S", top, "-B", build, *(f"-DTAMIS_{option}=OFF" for option in options)], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "tamis_static", "-j", str(os.cpu_count())], check=True)
        extension.include_dirs.append(os.path.join(top, "store", "include"))
        extension.extra_objects.append(os.path.join(build, "store", "libtamis.a"))
        extension.extra_link_args += [*libraries, "-pthread", "-lm"]

    @staticmethod
    def leave_other_place(top, build):
        """CMake refuses a build that was begun for sources elsewhere, as in a checkout that was moved or copied."""
        try:
            with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
                begun_for = re.search("^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", file.read(), re.MULTILINE)
        except FileNotFoundError:
            return
        if begun_for is None or os.path.realpath(begun_for[1]) != os.path.realpath(top):
            shutil.rmtree(build)


class SourceDistribution(sdist):
    """sdist with the sources of the library in `library`: what its CMakeLists.txt read when only the library is built."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        top, into = library(), os.path.join(base_dir, "library")
        if top is None:
            raise SystemExit("setup.py: the sources of Tamis are not above this folder")
        shutil.copytree(os.path.join(top, "store"), os.path.join(into, "store"), dirs_exist_ok=True)
        os.makedirs(os.path.join(into, "docs/man"), exist_ok=True)
        pages = [f"docs/man/{name}" for name in sorted(os.listdir(os.path.join(top, "docs/man"))) if name.endswith(".3")]
        for file in ["CMakeLists.txt", "docs/CMakeLists.txt", "LICENSE"] + pages:
            shutil.copy(os.path.join(top, file), os.path.join(into, file))


if int(setuptools.__version__.split(".")[0]) < 77:
    licence_as_a_table()
# A free-threaded Python has no stable ABI, so each version of it needs a build of its own.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")
setup(
    version=version(),
    ext_modules=[Extension("tamis._tamis", [f"src/{name}.c" for name in SOURCES], py_limited_api=STABLE,
                           depends=["src/exports.map", *(f"src/{name}.h" for name in ("fields", "key", "module", "source"))],
                           define_macros=[("_GNU_SOURCE", None)] + [("Py_LIMITED_API", "0x030B0000")] * STABLE,
                           extra_compile_args=["-std=c11", "-fvisibility=hidden"],
                           # The symbols of the library stay inside: another copy of it in the process is no danger.
                           extra_link_args=[f"-Wl,--version-script={os.path.join(HERE, 'src/exports.map')}"])],
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
