# SPDX-License-Identifier: BSD-2-Clause
"""Copies of the tree, in which mutants are built and tested."""
import atexit
import contextlib
import filecmp
import functools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import threading

from tables import TOP, Bad

WORK = os.path.join(TOP, ".build", "mutants")
NOT_COPIED = (".build", ".git", "__pycache__")
running = set()
is_ending = threading.Event()


def kill(process):
    """Ends a process with all that it has left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    running.discard(process)


@atexit.register
def kill_all():
    is_ending.set()
    for process in list(running):
        kill(process)


def run_measured(command, log, limit=None, processor_limit=None, **options):
    """(the exit status, the seconds of the processor that it took).  The status is None if the command did not end within limit
    seconds.  No process of the command may take more than processor_limit seconds of the processor."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **options)
    running.add(process)
    if processor_limit:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(processor_limit), int(processor_limit) + 1))
    is_late = threading.Event()

    def end():
        is_late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, end) if limit else None
    if timer:
        timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if timer:
        timer.cancel()
    if is_ending.is_set():
        threading.Event().wait()  # what kill_all() has ended tells nothing of a mutant; this thread ends with the process
    kill(process)
    return None if is_late.is_set() else process.returncode, usage.ru_utime + usage.ru_stime


def run(command, log, limit=None, **options):
    """The exit status; None if the command did not end within so many seconds."""
    return run_measured(command, log, limit, **options)[0]


class Tests:
    """What ctest knows of a build directory: {name: (command, properties)}.  ctest tells the command of a
    program only once that is built."""

    def __init__(self, build):
        self.build = build
        self.read()

    def read(self):
        shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True,
                               stdout=subprocess.PIPE).stdout
        self.known = {test["name"]: (test.get("command", []), {p["name"]: p["value"] for p in test.get("properties", [])})
                      for test in json.loads(shown)["tests"]}

    def lacking(self, mutant):
        """The tests that it names and that are not there."""
        return sorted({name for name, _ in mutant.tests(self.known) if name not in self.known})

    @functools.cached_property
    def targets_there(self):
        shown = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        return {line.rsplit(":", 1)[0] for line in shown.split("\n")}

    def targets(self, names):
        """What must be built for these tests: the programs of that name, what the command names, and the package of Python."""
        there = self.targets_there
        found = set()
        for name in names:
            command, properties = self.known[name]
            fuzzer = re.sub("^fuzz_(.*)_corpus$", r"replay_\1", re.sub("^fuzz_(.*)_mutated$", r"mutate_\1", name))
            found |= {name, name.split(".")[0], fuzzer} & there
            found |= {os.path.relpath(word, self.build) for word in command if word.startswith("/")} & there
            if "python" in properties["LABELS"]:
                found |= {"tamis_python", "tamis_python_files"}
        return sorted(found)

    def judge(self, name, command, log, limit, processor_limit=None):
        """(True, False, or None if it did not end in time; the seconds of the processor that it took)"""
        properties = self.known[name][1]
        environment = dict(os.environ)
        environment.update(p.split("=", 1) for p in properties.get("ENVIRONMENT", []))
        log.write("==== %s\n" % " ".join([name, *command[1:]]))
        log.flush()
        status, seconds = run_measured(command, log, limit, processor_limit, env=environment, cwd=properties.get("WORKING_DIRECTORY"))
        if status is not None and status == properties.get("SKIP_RETURN_CODE"):
            raise Bad("is not judged: %s was skipped" % name)
        return None if status is None else status == 0, seconds

    def passes(self, test, log, limit):
        """True or False; None if it did not end in time."""
        name, case = test
        return self.judge(name, self.known[name][0] + ([case] if case else []), log, limit)[0]


class Copy:
    """A copy of the tree, and what is built of it."""

    def __init__(self, number, jobs):
        self.home = os.path.join(WORK, str(number))
        self.tree, self.build_folder, self.logs = (os.path.join(self.home, name) for name in ("tree", "build", "logs"))
        self.jobs = jobs
        os.makedirs(self.logs, exist_ok=True)
        self.copy()
        command = ["cmake", "-S", self.tree, "-B", self.build_folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Mutant",
                   "-DCMAKE_C_FLAGS=-O1 -w -fno-semantic-interposition", "-DTAMIS_FOR_MUTANTS=ON",
                   "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON"]
        if shutil.which("ccache"):
            command.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.tests = Tests(self.build_folder)

    def copy(self):
        """Files that are the same are left alone, so that only what differs is built again."""
        there = set()
        for folder, folders, files in os.walk(TOP):
            folders[:] = [name for name in folders if name not in NOT_COPIED]
            inside = os.path.relpath(folder, TOP)
            os.makedirs(os.path.join(self.tree, inside), exist_ok=True)
            for name in files:
                source, copy = os.path.join(folder, name), os.path.normpath(os.path.join(self.tree, inside, name))
                if (inside, name) == (".", ".git") or not os.path.exists(source):
                    continue
                there.add(copy)
                if not os.path.exists(copy) or not filecmp.cmp(source, copy, shallow=False):
                    shutil.copy(source, copy)
                    os.utime(copy)
        for folder, _, files in os.walk(self.tree):
            for name in files:
                if os.path.join(folder, name) not in there:
                    os.unlink(os.path.join(folder, name))

    def environment(self):
        """Mutants are kept in the compiler's cache too: read-only it would give the compiler other paths for what it has not, and
        they stand in assertions."""
        return dict(os.environ, CCACHE_BASEDIR=self.home, CCACHE_NOHASHDIR="1")

    def build(self, names, log, jobs=None):
        """Builds what tests need."""
        command = ["ninja", "-C", self.build_folder, "-j", str(jobs or self.jobs)] + self.tests.targets(names)
        if run(command, log, env=self.environment()) != 0:
            raise Bad("does not build; see " + log.name)
        self.tests.read()
