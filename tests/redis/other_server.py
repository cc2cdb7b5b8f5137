# SPDX-License-Identifier: BSD-2-Clause
"""Other tests of this folder, with another server in the place of redis-server."""
import os
import subprocess
import sys
import tempfile

from harness import MODULE, TAMIS
from redis_server import SKIPPED

HERE = os.path.dirname(os.path.abspath(__file__))


def hold_on(program, *scripts, what):
    """Runs the scripts with that program; each must hold, or be skipped."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)  # trouble.py runs a server as another user
        os.symlink(program, os.path.join(path, "redis-server"))
        for script in scripts:
            done = subprocess.run([sys.executable, "-B", os.path.join(HERE, script), MODULE, TAMIS], check=False,
                                  capture_output=True, text=True, timeout=1000,
                                  env={**os.environ, "PATH": path + ":" + os.environ["PATH"]})
            if done.returncode not in (0, SKIPPED):
                raise AssertionError(f"{script}: {done.stdout[-6000:]}{done.stderr}")
            print(f"{script} on {what}: " + ("all hold" if done.returncode == 0 else done.stdout.strip()), flush=True)
