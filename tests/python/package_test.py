# SPDX-License-Identifier: BSD-2-Clause
"""package_test.py SOURCE BUILD: what pip makes of tools/python, without a network, in a fresh environment.

From a checkout and from an sdist, against an installed libtamis and with the library inside, which is compiled for that: with
TAMIS_TEST_LONG=1 once more, in a checkout that was moved.

What was broken before, and how that was seen here: the sdist had no manual pages, which its CMakeLists.txt reads, and asked for
the PHP extension, so test_wheel_of_an_sdist failed in CMake.  A second build kept the extension of the first, so
test_second_build printed the version of the first.  A folder that was copied alone stopped with "NoneType".
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from support import skip

USE = """
import sys, tempfile, tamis, tamis._tamis
with tempfile.TemporaryDirectory() as place, tamis.Store(place + "/store") as store:
    seen = store.create("seen", 1000)
    assert seen.add("a") and not seen.add("a") and "a" in seen and "b" not in seen
    seen.close()
print(tamis._tamis.__file__)
"""
PIP = ["--disable-pip-version-check", "--no-index", "--no-build-isolation", "--quiet"]


class Package(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="tamis-package-")
        self.addCleanup(shutil.rmtree, self.directory)
        # pip builds in the source tree, so it gets a copy.
        for name in ("CMakeLists.txt", "LICENSE", "docs/CMakeLists.txt", "docs/man", "store", "tools/python"):
            source, copy = os.path.join(SOURCE, name), os.path.join(self.directory, "source", name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copytree(source, copy) if os.path.isdir(source) else shutil.copy(source, copy)
        self.package = os.path.join(self.directory, "source/tools/python")
        # The library takes a minute of a processor with -O3, and a quarter of that so.
        self.environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CFLAGS")}
        self.environment |= {"CMAKE_BUILD_TYPE": "None", "CFLAGS": "-O0 -g0"}

    def run_(self, *command, **environment):
        done = subprocess.run(command, cwd=self.directory, env=self.environment | environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def installed(self, wheel):
        """Installs the wheel into an environment of its own, uses it there, and returns what the extension needs."""
        place = os.path.join(self.directory, "venv")
        self.run_(sys.executable, "-m", "venv", "--without-pip", "--clear", place)
        self.run_(sys.executable, "-m", "pip", "--python", place + "/bin/python", "install", "--disable-pip-version-check",
                  "--no-index", "--quiet", wheel)
        extension = self.run_(place + "/bin/python", "-c", USE).strip()
        self.assertTrue(extension.startswith(place) and extension.endswith(".abi3.so"), extension)
        return self.run_("ldd", extension)

    def wheel(self, source, **environment):
        into = os.path.join(self.directory, "wheels")
        shutil.rmtree(into, ignore_errors=True)
        self.run_(sys.executable, "-m", "pip", "wheel", *PIP, "--no-deps", "-w", into, source, **environment)
        (name,) = os.listdir(into)
        self.assertRegex(name, r"^tamis-[0-9.]+-cp311-abi3-linux_\w+\.whl$")
        with zipfile.ZipFile(os.path.join(into, name)) as file:
            names = set(file.namelist())
        for python in os.listdir(os.path.join(SOURCE, "tools/python/tamis")) + ["compat/rbloom.py"]:
            if python not in ("__pycache__", "compat"):
                self.assertIn("tamis/" + python, names)
        return os.path.join(into, name)

    def install_library(self):
        prefix = os.path.join(self.directory, "prefix")
        self.run_("cmake", "--install", BUILD, "--prefix", prefix)
        (libraries,) = {root for root, _, names in os.walk(prefix) if "libtamis.so" in names}
        self.environment |= {"LD_LIBRARY_PATH": libraries, "PKG_CONFIG_PATH": libraries + "/pkgconfig"}

    def sdist(self):
        dist = os.path.join(self.directory, "dist")
        self.run_("sh", "-c", 'cd "$1" && exec "$2" setup.py --quiet sdist -d "$3"', "sh", self.package, sys.executable,
                  dist)
        (archive,) = os.listdir(dist)
        return os.path.join(dist, archive)

    def test_sdist_has_the_library_and_makes_a_wheel_for_an_installed_one(self):
        archive = self.sdist()
        with tarfile.open(archive) as file:
            names = {name.split("/", 1)[-1] for name in file.getnames()}
        self.assertLessEqual({"library/store/include/tamis.h", "library/store/CMakeLists.txt", "library/CMakeLists.txt",
                              "library/docs/CMakeLists.txt", "library/LICENSE", "src/module.h", "setup.py"}, names)
        self.install_library()
        wheel = self.wheel(archive, TAMIS_BUNDLE="0")
        self.assertIn("libtamis.so", self.installed(wheel))

    def test_pip_installs_the_folder_without_a_network(self):
        """As tools/python/README.md has it.  Where the kernel allows it there is no network at all."""
        self.install_library()
        place = os.path.join(self.directory, "venv")
        offline = ["unshare", "--map-root-user", "--net"]
        if subprocess.run([*offline, "true"], capture_output=True, check=False).returncode != 0:
            offline = []
        self.run_(*offline, sys.executable, "-m", "venv", "--system-site-packages", place)
        self.run_(*offline, place + "/bin/pip", "install", *PIP, self.package)
        extension = self.run_(*offline, place + "/bin/python", "-c", USE).strip()
        self.assertTrue(extension.startswith(place), extension)
        self.assertIn("libtamis.so", self.run_("ldd", extension))

    def test_wheel_of_an_sdist_has_the_library_and_needs_liblmdb_alone(self):
        """The archive is alone in its folder, and what it was made of is gone."""
        archive = self.sdist()
        shutil.rmtree(os.path.join(self.directory, "source"))
        needs = self.installed(self.wheel(archive, TAMIS_BUNDLE="1"))
        self.assertIn("liblmdb", needs)
        for library in ("libtamis", "libxxhash", "libsodium", "libidn2", "libmd."):
            self.assertNotIn(library, needs)

    def build_in_place(self, **environment):
        """The version of the library that is in the extension, or that it links."""
        place = os.path.join(self.directory, "built")
        self.run_("sh", "-c", 'cd "$1" && exec "$2" setup.py --quiet build_ext --build-lib "$3" build_py --build-lib "$3"',
                  "sh", self.package, sys.executable, place, **environment)
        return self.run_(sys.executable, "-c", "import tamis; print(tamis.version())", PYTHONPATH=place).strip()

    def test_second_build_has_the_library_of_its_sources(self):
        """As `pip install tools/python` builds after `git pull`: in the folder that has the files of the build before.  Its
        version stands for any change of the library."""
        first = self.build_in_place(TAMIS_BUNDLE="1")
        says_version = os.path.join(self.directory, "source/store/base/error.c")
        with open(says_version, encoding="utf-8") as file:
            text = file.read()
        with open(says_version, "w", encoding="utf-8") as file:
            file.write(re.sub(r"STRING\(\s*TAMIS_VERSION_PATCH\)", '"777"', text))
        second = self.build_in_place(TAMIS_BUNDLE="1")
        self.assertEqual(second, re.sub("[0-9]+$", "777", first))
        # Nor does it stay when another library is asked for, or where the checkout was moved to, which builds all anew.
        self.install_library()
        self.assertEqual(self.build_in_place(TAMIS_BUNDLE="0"), first)
        if os.environ.get("TAMIS_TEST_LONG") != "1":
            return
        moved = os.path.join(self.directory, "moved")
        os.rename(os.path.join(self.directory, "source"), moved)
        self.package = os.path.join(moved, "tools/python")
        self.assertEqual(self.build_in_place(TAMIS_BUNDLE="1"), second)

    def test_folder_alone_says_what_it_needs(self):
        alone = os.path.join(self.directory, "alone")
        shutil.copytree(self.package, alone)
        done = subprocess.run([sys.executable, "setup.py", "--quiet", "build"], cwd=alone, capture_output=True, text=True,
                              env=self.environment | {"PKG_CONFIG": "false"}, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("build it in a whole checkout or from the sdist, or install libtamis first", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    SOURCE, BUILD = sys.argv.pop(1), sys.argv.pop(1)
    for module in ("setuptools", "wheel", "venv", "pip"):
        try:
            __import__(module)
        except ImportError:
            skip(f"python3-{module} is not installed")
    unittest.main()
