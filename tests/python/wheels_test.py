# SPDX-License-Identifier: BSD-2-Clause
"""wheels_test.py SOURCE: the wheel that tools/python/wheels.py makes, of the library with the LMDB and the xxHash that it pins:
what the wheel says of itself, and that it works where nothing is but Python.

With TAMIS_TEST_LONG=1 also, as root, in a fresh Debian 12 and 13; and there is a wheel for musl, which is looked into only: no
registry has a Python for musl.

Seen to fail: with `-llmdb` in place of liblmdb.a the system's library was linked and copied in; with the compiler's
__builtin_cpu_supports(), which zig's runtime answers with no, the loops for vectors were never taken; with the interpreter of
Debian 12, whose tarfile knows no `filter`, wheels.py ended in a TypeError; with store/exchange/portable.c as it had <assert.h>
from Debian's xxhash.h alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import SKIPPED, UNREACHABLE, skip

import tamis

LONG = os.environ.get("TAMIS_TEST_LONG") == "1"
USE = """
import sys, tempfile, tamis, tamis._tamis
with tempfile.TemporaryDirectory() as place, tamis.Store(place + "/store") as store:
    seen = store.create("seen", 1000)
    assert seen.add("a") and not seen.add("a") and "a" in seen and "b" not in seen
    assert seen.add_many(str(i) for i in range(500)).count(1) > 490
    seen.close()
    for name, missing in {"hash_set": "md5", "key_rule": "name:idn"}.items():
        try:
            store.create("missing", 1000, **{name: missing})
            sys.exit(f"{missing} is said to be missing")
        except tamis.UnsupportedError as error:
            assert missing.split(":")[-1] in str(error), error
print(tamis._tamis.__file__, tamis.simd())
"""


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="tamis-wheels-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.work = os.path.join(os.path.dirname(os.environ["TAMIS_PYPI"]), "wheels")
        targets = ["manylinux_2_28_x86_64", "musllinux_1_2_x86_64"] if LONG else ["manylinux_2_28_x86_64"]
        # -Os takes a third of the time of -O3.
        done = subprocess.run(["/usr/bin/python3", os.path.join(SOURCE, "tools/python/wheels.py"), "--work", cls.work, "--out",
                               os.path.join(cls.directory, "out"), "--python", "/usr/bin/python3", *targets],
                              env=os.environ | {"CMAKE_BUILD_TYPE": "MinSizeRel"}, capture_output=True, text=True, check=False)
        if done.returncode != 0 and UNREACHABLE.search(done.stderr):
            skip("PyPI cannot be reached")
        assert done.returncode == 0, done.stderr
        cls.wheels = {name.rsplit("-", 1)[1][: -len(".whl")]: os.path.join(cls.directory, "out", name)
                      for name in os.listdir(os.path.join(cls.directory, "out"))}
        assert sorted(cls.wheels) == sorted(targets), cls.wheels

    def test_wheel_has_no_library_beside_it_and_the_licences(self):
        for target, wheel in self.wheels.items():
            self.assertIn("-cp311-abi3-", wheel)
            with zipfile.ZipFile(wheel) as file:
                names = [name for name in file.namelist() if not name.endswith("/")]
                metadata = file.read(next(name for name in names if name.endswith("/METADATA"))).decode()
            self.assertEqual([name for name in names if ".so" in name], ["tamis/_tamis.abi3.so"], target)
            for line in ("License-Expression: BSD-2-Clause", "License-File: LICENSE", "License-File: LICENSE.lmdb",
                         "License-File: LICENSE.xxhash", "Requires-Python: >=3.11", "Project-URL: Homepage"):
                self.assertIn("\n" + line, metadata)

    def test_wheel_says_manylinux_2_28(self):
        tools = next(os.path.join(self.work, name, "bin") for name in os.listdir(self.work) if name.startswith("venv-"))
        done = subprocess.run([os.path.join(tools, "auditwheel"), "show", self.wheels["manylinux_2_28_x86_64"]],
                              capture_output=True, text=True, check=True)
        said = " ".join(done.stdout.split())
        self.assertIn('is consistent with the following platform tag: "manylinux_2_28_x86_64"', said)

    def test_wheel_works_where_nothing_is_but_python(self):
        place = os.path.join(self.directory, "venv")
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", place], check=True)
        python = os.path.join(place, "bin/python")
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--disable-pip-version-check", "--no-index",
                        "--quiet", self.wheels["manylinux_2_28_x86_64"]], check=True)
        done = subprocess.run([python, "-c", USE], capture_output=True, text=True, check=False,
                              env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")})
        self.assertEqual(done.returncode, 0, done.stderr)
        extension, simd = done.stdout.split()
        self.assertTrue(extension.startswith(place), extension)
        self.assertEqual(simd, tamis.simd())

    @unittest.skipUnless(LONG, "TAMIS_TEST_LONG=1 makes a Debian 12 and a Debian 13")
    def test_wheel_is_installed_by_pip_in_bare_debian_12_and_13(self):
        """Seen to fail with a wheel of an extension that links the system's liblmdb.so.0."""
        program = os.path.join(self.directory, "use.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(USE)
        for suite in ("bookworm", "trixie"):
            with self.subTest(suite):
                done = subprocess.run(["bash", os.path.join(SOURCE, "tests/install/wheel.sh"), suite,
                                       self.wheels["manylinux_2_28_x86_64"], program], capture_output=True, text=True, check=False)
                if done.returncode == SKIPPED:
                    self.skipTest(done.stderr)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(tamis.simd(), done.stdout)


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    if not shutil.which("cmake") or os.uname().machine != "x86_64":
        skip("this takes cmake on x86_64")
    unittest.main()
