# SPDX-License-Identifier: BSD-2-Clause
"""A runner: a process that is asked one step after the other."""

import ctypes
import json
import os
import resource
import select
import subprocess
import tempfile

SKIPPED = 77
PATIENCE = 120  # seconds for an answer; a machine may be busy
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
LIBC = ctypes.CDLL(None)


class Died(Exception):
    """The runner ended, or said nothing for too long, or what is no answer."""


def prepare(limits):
    """What a runner is before it begins: also for root the mode of a file counts."""
    LIBC.prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
    LIBC.prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0)
    if "nofile" in limits:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits["nofile"], limits["nofile"]))


class Runner:
    def __init__(self, command, limits):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        preexec_fn=lambda: prepare(limits))
        self.rest = b""

    @staticmethod
    def functions(command):
        """The functions of the library that the binding has; None if the runner is not there, or says so by status 77."""
        try:
            done = subprocess.run([*command, "functions"], capture_output=True, timeout=PATIENCE, check=False)
        except FileNotFoundError:
            return None
        if done.returncode == SKIPPED:
            return None
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise Died(f"{' '.join(command)} functions: {done.returncode} {done.stdout} {done.stderr.decode()}") from None

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-2000:]

    def died(self, what):
        self.process.kill()
        status = self.process.wait()
        return Died(f"the runner {what} (status {status}) {self.said()}")

    def line(self):
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                raise self.died(f"did not answer for {PATIENCE} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                raise self.died("ended")
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def ask(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.died("ended") from None
        line = self.line()
        try:
            answer = json.loads(line)
        except ValueError:
            raise self.died(f"said {line[:500]!r}") from None
        return answer

    def end(self):
        """The runner ends by itself when its input ends, with what it has open."""
        self.process.stdin.close()
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise self.died("did not end with its input") from None
        self.process.stdout.close()
        if status != 0:
            raise Died(f"the runner ended with {status}: {self.said()}")
