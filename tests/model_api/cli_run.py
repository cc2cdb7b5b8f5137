# SPDX-License-Identifier: BSD-2-Clause
"""cli_run.py: what cli_texts.py and cli_lines.py share: a command that is run, and what of it is wrong."""
import json
import random
import subprocess
import sys

TAMIS, STORE, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(SEED)


def run(*words, store=STORE, stdin=b"", status=0):
    done = subprocess.run([TAMIS, "--store", store, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    last = done.stdout[-1:] if done.stdout else done.stderr[-1:] or b"\n"
    wanted = status if isinstance(status, tuple) else (status,)
    if done.returncode not in wanted or last not in (b"\n", b"\0") and b"export" not in words:
        wrong(words, stdin, f"status {done.returncode}, not {wanted}", done.stdout, done.stderr)
    return done


def wrong(words, stdin, *what):
    print(f"tamis {words!r} with {stdin[:300]!r}:", *what)
    sys.exit(1)


def same(words, told, wanted, stdin=b""):
    if told != wanted:
        wrong(words, stdin, f"told {told!r}"[:2000], f"wanted {wanted!r}"[:2000])


def objects(*words, **options):
    return [json.loads(line) for line in run(*words, **options).stdout.decode("utf-8").splitlines()]
