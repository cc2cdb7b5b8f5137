# SPDX-License-Identifier: BSD-2-Clause
"""Packages of PyPI and npm that tests drive, in $TAMIS_CLIENTS, a folder of the build.

A registry that cannot be reached is noted, and finish() says that the test was skipped.  Another failure fails it.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from redis_server import skip

OWN = None if "TAMIS_CLIENTS" in os.environ else tempfile.mkdtemp(prefix="tamis-clients-")
PLACE = OWN or os.environ["TAMIS_CLIENTS"]
UNREACHABLE = re.compile(r"ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|ERR_SOCKET_TIMEOUT|"
                         r"Failed to establish a new connection|name resolution|No module named pip")
missing = []


def install(what, *command, **settings):
    """Returns whether it is there now."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **settings)
    if done.returncode == 0:
        return True
    if not UNREACHABLE.search(done.stdout + done.stderr):
        raise AssertionError(f"{what} cannot be installed: {done.stdout}{done.stderr}")
    missing.append(f"{what}: its registry cannot be reached")
    return False


def pip(package, *options):
    """The folder with a package of PyPI, NAME==VERSION; None if it cannot be had."""
    place = os.path.join(PLACE, package)
    stamp = os.path.join(place, "installed")
    if not os.path.exists(stamp):
        if not install(package, sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                       "--upgrade", "--target", place, *options, package):
            return None
        with open(stamp, "w", encoding="utf-8"):
            pass
    return place


def npm(source):
    """A copy of the folder `source` with the packages that its lock file pins; None if it cannot be had."""
    if not shutil.which("node") or not shutil.which("npm"):
        missing.append("node and npm are not installed")
        return None
    place = os.path.join(PLACE, "node")
    shutil.copytree(source, place, dirs_exist_ok=True)
    with open(os.path.join(place, "package-lock.json"), encoding="utf-8") as file:
        lock = file.read()
    stamp = os.path.join(place, "installed")
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == lock:
                return place
    if not install("packages of npm", "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=place):
        return None
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(lock)
    return place


def finish():
    """Ends the test, skipped if something could not be had."""
    if OWN:
        shutil.rmtree(OWN, ignore_errors=True)
    if missing:
        skip("; ".join(missing))
