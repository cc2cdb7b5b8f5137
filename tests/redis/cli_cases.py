# SPDX-License-Identifier: BSD-2-Clause
"""cli_cases.py MODULE TAMIS server|cluster [CASE...]: the cases of tests/cli on a server, or on a cluster of 3 masters.

One fixture serves all cases; each begins with no key, and what it prints, says and returns must be what is expected of a
directory (tests/cli/run.sh).  A case that makes no sense for a server has a line `# Directory only: REASON`; one that
needs what a cluster has not, `# No cluster: REASON`.  Then cli_texts.py of the model asks with random keys and options."""
import contextlib
import glob
import os
import random
import re
import subprocess
import sys
import time

from cluster_servers import Cluster
from harness import eventually, info, TAMIS, server, store_of

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLI, TEXTS = os.path.join(TESTS, "cli"), os.path.join(TESTS, "model_api", "cli_texts.py")
COMMANDS = ["add", "check", "count", "create", "drop", "explain", "export", "import", "info", "list", "merge", "remove",
            "rename", "rotate"]


def reason(path, mark):
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(f"^# {mark}: (.+)$", file.read(), re.M)
    return found and found.group(1)


def cases(marks):
    wanted = sys.argv[4:]
    for command in COMMANDS:
        for path in sorted(glob.glob(f"{CLI}/{command}/*.sh")):
            name = os.path.relpath(path, CLI)[:-3]
            if (not wanted and not any(reason(path, mark) for mark in marks)) or name in wanted:
                yield name, path


def empty(servers):
    for one in servers:
        client = one.client()
        client.good("FLUSHALL")
        eventually(lambda now=client: info(now, "filters_to_drop") == 0, "the store is empty, too")
        client.close()


def run_case(url, path):
    return subprocess.run([os.path.join(CLI, "run.sh"), "--store", url, TAMIS, path], capture_output=True, text=True,
                          check=False, timeout=100)


def run_model(url):
    seed = os.environ.get("TAMIS_TEST_SEED") or str(random.randrange(1000000))
    done = subprocess.run([sys.executable, "-B", TEXTS, TAMIS, url, seed], capture_output=True, text=True, check=False, timeout=300)
    print(f"cli_texts.py with seed {seed}: {done.stdout}{done.stderr}", flush=True)
    assert done.returncode == 0


def run_all(url, servers, marks):
    os.environ["TAMIS_SERVER_STORES"] = " ".join(store_of(one) for one in servers)
    os.environ["TAMIS_SERVER_PORTS"] = " ".join(str(one.port) for one in servers)
    count, failed, slow = 0, [], []
    for name, path in cases(marks):
        empty(servers)
        began = time.monotonic()
        done = run_case(url, path)
        took = time.monotonic() - began
        count += 1
        if took > 2:
            slow.append(f"{name} {took:.1f} s")
        if done.returncode not in (0, 77):
            failed.append(name)
            print(f"---- {name}\n{done.stdout}{done.stderr}", flush=True)
    print(f"{count} cases, {len(failed)} failed: {' '.join(failed)}\nslow: {', '.join(slow)}")
    assert count > 0 and not failed
    if not sys.argv[4:]:
        empty(servers)
        run_model(url)


def main():
    with contextlib.ExitStack() as stack:
        if sys.argv[3] == "cluster":
            cluster = stack.enter_context(Cluster(3))
            run_all(cluster.url(), cluster.servers, ["Directory only", "No cluster"])
        else:
            one = stack.enter_context(server())
            run_all(one.url(), [one], ["Directory only"])


main()
