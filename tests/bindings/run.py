#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One suite for all bindings: README.md says what a runner is, and what the modes do.

    run.py --tamis COMMAND --header tamis_ffi.h [--scratch DIRECTORY] cases  NAME=RUNNER...
    run.py ...                                                       race   NAME=RUNNER...
    run.py ...                                                       table  NAME=RUNNER...
    run.py ...                                                       check
"""

import argparse
import fcntl
import glob
import os
import random
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import cases
import race
import table
from runner import SKIPPED, Died, Runner


class Driver:
    """Does what a step with "do" says: what other processes and the system do to a store while a case runs."""

    def __init__(self, tamis, directory):
        self.tamis, self.directory, self.lock, self.saved = tamis, directory, None, []

    def do(self, step):
        """Returns what is wrong, or None."""
        return getattr(self, "do_" + step["do"])(step)

    def end(self):
        self.do_unlock({})

    def files(self, pattern):
        found = glob.glob(pattern)
        if not found:
            raise cases.Wrong(f"no file is {pattern}")
        return found

    def do_tamis(self, step):
        done = subprocess.run([self.tamis, *step["args"]], input=step.get("input", "").encode(), capture_output=True,
                              timeout=60, check=False)
        if done.returncode not in (0, 1):
            return f"tamis {' '.join(step['args'])}: {done.stderr.decode()}"
        printed = done.stdout.decode()
        return f"the command printed {printed!r}" if "prints" in step and printed != step["prints"] else None

    def do_lock(self, step):
        self.lock = os.open(step["file"], os.O_RDONLY)
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def do_unlock(self, _):
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def do_spoil(self, step):
        for name in self.files(step["file"]):
            with open(name, "r+b") as file:
                file.seek(step["at"])
                file.write(bytes.fromhex(step["hex"]))

    def do_truncate(self, step):
        self.saved = []
        for name in self.files(step["file"]):
            with open(name, "r+b") as file:
                self.saved.append((name, file.read()))
                file.truncate(step["bytes"])

    def do_restore(self, _):
        for name, content in self.saved:
            with open(name, "r+b") as file:
                file.write(content)

    def do_write(self, step):
        with open(step["file"], "wb") as file:
            file.write(step["text"].encode())

    def do_chmod(self, step):
        os.chmod(step["file"], int(step["mode"], 8))

    def do_mode(self, step):
        mode = stat.S_IMODE(os.stat(step["file"]).st_mode)
        return None if mode == int(step["is"], 8) else f"{step['file']} has mode {mode:04o}"

    def do_same(self, step):
        contents = []
        for name in step["files"]:
            with open(name, "rb") as file:
                contents.append(file.read())
        return None if contents[0] == contents[1] else f"{' and '.join(step['files'])} differ"


class Run:
    """The cases of one binding."""

    def __init__(self, name, command, arguments):
        self.name, self.command, self.arguments = name, command, arguments
        self.functions = set(Runner.functions(command))
        self.lacks, self.reached, self.failed, self.cannot, self.passed = {}, set(), [], {}, 0
        self.process = None

    def runner(self, limits):
        """The process that runs a case: one for all cases but those that say `limits`."""
        if limits is not None:
            return Runner(self.command, limits)
        if self.process is None:
            self.process = Runner(self.command, {})
        return self.process

    def step(self, step, runner, driver):
        """Returns what is wrong, None, or "stop"."""
        if "do" in step:
            return driver.do(step)
        message = {name: step[name] for name in ("call", "on", "with", "as") if name in step}
        began = time.monotonic()
        answer = runner.ask(message)
        if step.get("expect") == {"refused": "flag"}:
            return None if cases.is_refused(answer) else f"a flag that nobody knows was taken: {answer}"
        if "lacks" in answer:
            self.lacks.setdefault(answer["lacks"], step["call"])
            return "stop"
        if "cannot" in answer:
            self.cannot.setdefault(answer["cannot"], step["call"])
            return "stop"
        self.reached.add(step["call"])
        if (time.monotonic() - began) * 1000 > step.get("within_ms", 60000):
            return "it took too long"
        if "until" in step and answer.get("error") == step["until"]:
            return "until"
        try:
            return cases.judged(step, answer)
        except cases.LacksField as field:
            self.lacks.setdefault(f"{step['call']}({field})", step["call"])
            return "stop"

    def steps(self, steps, runner, driver):
        for number, step in enumerate(steps, 1):
            if "times" in step:
                inner = [{**each, "until": step["until"]} for time_ in range(step["times"])
                         for each in cases.numbered(step["steps"], time_)]
                wrong = self.steps(inner, runner, driver)
                wrong = {"until": None, None: f"{step['until']} did not come"}.get(wrong, wrong)
            else:
                wrong = self.step(step, runner, driver)
            if wrong is not None:
                return wrong if wrong in ("stop", "until") or wrong.startswith("step ") else \
                    f"step {number} ({step.get('call') or step.get('do')}): {wrong}"
        return None

    def case(self, case, directory):
        os.makedirs(directory)
        driver, limits = Driver(self.arguments.tamis, directory), case.get("limits")
        steps = cases.expanded(case["steps"], directory)
        wrong = None
        try:
            runner = self.runner(limits)
            began = runner.ask({"case": case["name"]})
            if "cannot" in began:
                self.cannot.setdefault(began["cannot"], case["name"])
            wrong = "stop" if "cannot" in began else self.steps(steps, runner, driver)
            if limits is not None:
                runner.end()
        except Died as died:
            wrong = str(died)
            self.process = None if limits is None else self.process
        finally:
            driver.end()
        if wrong is None:
            self.passed += 1
        elif wrong != "stop":
            self.failed.append(case["name"])
            print(f"{self.name}: FAILED: {case['name']}: {wrong}", flush=True)

    def all(self, suite, scratch):
        for number, case in enumerate(suite["cases"]):
            if re.search(self.arguments.case, case["name"]):
                self.case(case, os.path.join(scratch, self.name, f"case {number}"))
        try:
            if self.process is not None:
                self.process.end()
        except Died as died:
            self.failed.append("the end")
            print(f"{self.name}: FAILED: {died}")
        if self.arguments.case == "":
            self.says_the_truth()
        print(f"{self.name}: {self.passed} cases passed, {len(self.failed)} failed; {len(self.lacks)} lacks stopped a case, "
              f"{len(self.cannot)} things cannot be there")
        return not self.failed

    def says_the_truth(self):
        """Is what the runner says that the binding has, what it has shown?"""
        for text, function in (("is listed by the runner, and answered with `lacks`", self.functions & self.lacks.keys()),
                               ("is listed by the runner, and no case came to it", self.functions - self.reached),
                               ("was answered, and is not listed by the runner", self.reached - self.functions)):
            for name in sorted(function):
                self.failed.append(name)
                print(f"{self.name}: FAILED: {name} {text}")


def runners(words):
    """The commands by their names, without those that are not there: their toolchain, or a registry, is not."""
    found = {}
    for word in words:
        name, separator, command = word.partition("=")
        if not separator:
            raise SystemExit(f"run.py: {word!r} is not NAME=COMMAND")
        found[name] = shlex.split(command)
        if Runner.functions(found[name]) is None:
            print(f"{name}: LEFT OUT, as its runner is not there: {command}", flush=True)
            del found[name]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tamis", required=True, help="the command `tamis`")
    parser.add_argument("--header", required=True, help="tamis_ffi.h of the build")
    parser.add_argument("--scratch", help="an empty directory; default: one that is made and removed")
    parser.add_argument("--case", default="", help="only cases whose name matches this")
    parser.add_argument("--page", help="mode table: the page whose table is checked, or written with --write")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keys", type=int, default=1000000, help="mode race")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("mode", choices=["check", "cases", "race", "table"])
    parser.add_argument("runners", nargs="*")
    arguments = parser.parse_args()
    suite = cases.load("cases.json")
    cases.check(arguments.header, suite)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    scratch = arguments.scratch or tempfile.mkdtemp(prefix="tamis-bindings-", dir=memory)
    commands = runners(arguments.runners)
    if arguments.runners and not commands:
        return SKIPPED
    try:
        if arguments.mode == "race":
            return race.run(commands, arguments, scratch)
        runs = [Run(name, command, arguments) for name, command in commands.items()]
        passed = all([run.all(suite, scratch) for run in runs])
        if arguments.mode == "table":
            passed = table.run(runs, arguments, cases.public(arguments.header)[0]) and passed
        return 0 if passed else 1
    finally:
        if not arguments.scratch:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except cases.Wrong as wrong:
        sys.exit(f"run.py: {wrong}")
