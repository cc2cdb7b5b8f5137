# SPDX-License-Identifier: BSD-2-Clause
"""top_screen.py TAMIS: the live view of `tamis top`, in a terminal that tmux keeps: keys, sizes down to one character, filters
that come and go, a stop and a return, and the terminal as it was when the view has ended, however it ends.

Nothing is timed: what is to be seen is waited for."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE = 60  # seconds until what is waited for counts as missing


def fail(sentence, *more):
    raise AssertionError("\n".join([sentence, *more]))


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, scratch, number, columns=110, rows=16, **environment):
        self.socket = os.path.join(scratch, f"tmux{number}")  # a server may be ending still
        self.environment = {"PATH": os.environ["PATH"], "HOME": scratch, "LC_ALL": "C.UTF-8", **environment}
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "env", "PS1=ready> ", "bash", "--norc", "--noprofile",
                  "-i")
        self.sees("ready>")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *arguments], capture_output=True, text=True,
                              check=False, env=self.environment, timeout=DEADLINE)
        if done.returncode != 0:
            fail(f"tmux {arguments}: {done.stderr}")
        return done.stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def run(self, line):
        self.tmux("send-keys", "-l", line)
        self.keys("Enter")

    def text(self, escapes=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else []))

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def until(self, is_seen, what, escapes=False):
        end = time.monotonic() + DEADLINE
        while True:
            text = self.text(escapes)
            if is_seen(text):
                return text
            if time.monotonic() > end:
                fail(f"{what} is not seen, but:", text)
            time.sleep(0.05)

    def sees(self, pattern, escapes=False):
        return self.until(lambda text: re.search(pattern, text, re.M), pattern, escapes)

    def sees_no(self, pattern):
        return self.until(lambda text: not re.search(pattern, text, re.M), f"a screen without {pattern}")

    def close(self):
        self.tmux("kill-server")


class Scene:
    def __init__(self, tamis):
        self.scratch = tempfile.mkdtemp()
        self.tamis = tamis
        self.store = os.path.join(self.scratch, "store")
        self.terminals = []

    def call(self, *arguments, keys=None):
        text = "".join(f"{key}\n" for key in keys) if keys else None
        subprocess.run([self.tamis, "--store", self.store, *arguments], input=text, text=True, check=True, timeout=DEADLINE,
                       stdin=None if keys else subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def terminal(self, **how):
        terminal = Terminal(self.scratch, len(self.terminals), **how)
        self.terminals.append(terminal)
        return terminal

    def top(self, *arguments):
        return " ".join([self.tamis, "--store", self.store, "top", "--interval", "100ms", *arguments])

    def close(self):
        for terminal in self.terminals:
            subprocess.run(["tmux", "-S", terminal.socket, "kill-server"], check=False, capture_output=True)
        shutil.rmtree(self.scratch, ignore_errors=True)  # tmux may be ending still


def names(text):
    """The first column of the rows."""
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith("NAME")]
    return [line.split()[0] for line in lines[heads[0] + 1:-1] if line.strip()] if heads else []


def sees_rows(terminal, *wanted):
    terminal.until(lambda text: names(text) == list(wanted), f"rows {wanted}")


def keys_do_what_they_say(scene, terminal):
    terminal.run(scene.top())
    terminal.sees(r"^tamis top .*by NAME$")
    sees_rows(terminal, "alpha", "beta", "gamma")
    terminal.keys("s", "s", "s")
    terminal.sees("by ITEMS$")
    sees_rows(terminal, "gamma", "beta", "alpha")
    terminal.keys("r")
    terminal.sees("by ITEMS, turned$")
    sees_rows(terminal, "alpha", "beta", "gamma")
    terminal.keys("S", "S", "S", "r")
    terminal.sees("by NAME$")
    terminal.sees(r" (90000|89\d{3}) ")
    terminal.keys("m")
    terminal.sees(r" (90\.0|89\.\d)k ")
    terminal.keys("m")
    terminal.keys("-")
    terminal.sees("every 0.2 s")
    terminal.keys("+")
    terminal.sees("every 0.2 s")  # as often as there is need for
    terminal.keys("h")
    terminal.sees("any key goes on")
    terminal.keys("x")
    sees_rows(terminal, "alpha", "beta", "gamma")


def filters_come_and_go(scene, terminal):
    scene.call("create", "delta", "-n", "10k")
    sees_rows(terminal, "alpha", "beta", "delta", "gamma")
    scene.call("add", "delta", keys=range(4000))
    terminal.sees(r"^delta +blocked +10000 +(399\d|4000) ")
    scene.call("drop", "delta")
    sees_rows(terminal, "alpha", "beta", "gamma")
    scene.call("rename", "beta", "omega")
    sees_rows(terminal, "alpha", "gamma", "omega")
    scene.call("rename", "omega", "beta")
    sees_rows(terminal, "alpha", "beta", "gamma")
    # The selected row is what it was, wherever it has gone: the first, and alpha by name.
    terminal.keys("Home", "Down")
    scene.call("create", "aaa", "-n", "10")
    sees_rows(terminal, "aaa", "alpha", "beta", "gamma")
    terminal.keys("Enter")
    terminal.sees("segments of beta ")
    terminal.sees("^1 segment, ")
    scene.call("drop", "beta")
    terminal.sees("filter 'beta' .* was dropped")
    sees_rows(terminal, "aaa", "alpha", "gamma")
    scene.call("drop", "aaa")
    scene.call("create", "beta", "-n", "1000")
    terminal.keys("/")
    terminal.sees("^pattern:$")
    terminal.keys("-l", "*mx")
    terminal.keys("BSpace")
    terminal.sees(r"^pattern: \*m$")
    terminal.keys("-l", "*")
    terminal.keys("Enter")
    sees_rows(terminal, "gamma")
    terminal.keys("Escape")
    sees_rows(terminal, "alpha", "beta", "gamma")


def nobody_is_waited_for(scene, terminal):
    with open(os.path.join(scene.store, "catalog.lock"), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        terminal.keys("Home", "Enter")
        terminal.sees("segments of alpha ")
        terminal.keys("Escape")
        sees_rows(terminal, "alpha", "beta", "gamma")
        terminal.keys("s")
        terminal.sees("by KIND$")
    terminal.keys("Enter")
    terminal.sees("segments of alpha ")
    terminal.keys("Escape", "S")
    terminal.sees("by NAME$")


def any_size_will_do(terminal):
    for columns, rows in (40, 6), (12, 4), (3, 2), (1, 1), (200, 3), (2, 50):
        terminal.resize(columns, rows)
        terminal.until(lambda text, rows=rows: len(text.splitlines()) <= rows, f"{rows} lines")
        terminal.keys("s", "Down", "End", "h", "x", "Space")
    terminal.resize(110, 16)
    terminal.keys("Home")
    terminal.until(lambda text: sorted(names(text)) == ["alpha", "beta", "gamma"] and "STATE" in text, "all rows and columns")
    terminal.resize(30, 5)  # one row
    terminal.until(lambda text: len(names(text)) == 1 and "SIZE" not in text and "STATE" in text, "one row, fewer columns")
    terminal.keys("End")
    terminal.keys("Home")
    terminal.resize(110, 16)


def terminal_settings(terminal, path):
    terminal.run(f"stty -g >{path}.new && mv {path}.new {path}")
    end = time.monotonic() + DEADLINE
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.05)
    with open(path, encoding="ascii") as file:
        settings = file.read()
    os.unlink(path)
    return settings


def the_terminal_is_as_it_was(scene, terminal):
    """The view runs since keys_do_what_they_say()."""
    path = os.path.join(scene.scratch, "settings")
    terminal.keys("C-z")
    terminal.sees("Stopped")
    stopped = terminal_settings(terminal, path)
    terminal.run("fg")
    sees_rows(terminal, "alpha", "beta", "gamma")
    terminal.keys("q")
    terminal.sees_no("^NAME")
    terminal.run("clear; echo status $?")
    before = terminal_settings(terminal, path)
    if stopped != before:
        fail("the settings of the terminal while it is stopped", stopped, before)
    for end, status in ("q", 0), ("C-c", 130), (signal.SIGTERM, 143):
        terminal.run("clear; " + scene.top() + "; echo status $?")
        sees_rows(terminal, "alpha", "beta", "gamma")
        if isinstance(end, str):
            terminal.keys(end)
        else:
            shell = terminal.tmux("display-message", "-p", "#{pane_pid}").strip()
            child = subprocess.run(["ps", "-o", "pid=", "--ppid", shell], capture_output=True, text=True, check=True).stdout
            os.kill(int(child.split()[0]), end)
        terminal.sees(f"^status {status}$")
        terminal.sees_no("^NAME")
        after = terminal_settings(terminal, path)
        if after != before:
            fail(f"the settings of the terminal after {end}", before, after)
    terminal.close()


def colors_are_as_asked(scene):
    for environment, options, is_wanted in ({}, [], True), ({"NO_COLOR": "1"}, [], False), ({}, ["--color=never"], False):
        terminal = scene.terminal(**environment)
        terminal.run(scene.top(*options))
        terminal.sees("^.*alpha", escapes=True)
        sees_rows(terminal, "alpha", "beta", "gamma")
        has = bool(re.search("\x1b\\[32m", terminal.text(escapes=True)))
        if has != is_wanted:
            fail(f"colors with {environment} and {options}: {has}", terminal.text(escapes=True))
        terminal.close()


def many_filters_are_scrolled(scene):
    for number in range(30):
        scene.call("create", f"n{number:02}", "-n", "10")
    terminal = scene.terminal(columns=100, rows=10)
    terminal.run(scene.top("n"))
    sees_rows(terminal, *(f"n{number:02}" for number in range(6)))
    terminal.keys("NPage", "NPage")
    sees_rows(terminal, *(f"n{number:02}" for number in range(5, 11)))
    terminal.keys("End")
    sees_rows(terminal, *(f"n{number:02}" for number in range(24, 30)))
    terminal.keys("Up", "Enter")
    terminal.sees("segments of n28 ")
    terminal.keys("q")
    terminal.close()


def eighty_columns_are_enough(scene):
    """The usual size shows a part of a long name, the state, the figures that change, and the footer whole.  Seen to fail
    with the footer of before, of 84 columns."""
    for number, capacity in enumerate(("2000000000", "10", "100k")):
        scene.call("create", f"site.with.a.long.name.and.more.of.it.{number}", "-n", capacity, "--on-full", "warn")
    scene.call("add", "site.with.a.long.name.and.more.of.it.1", keys=range(100))
    terminal = scene.terminal(columns=80, rows=24)
    terminal.run(scene.top("site"))
    text = terminal.sees(r" h help$")
    heads, *rows = [line for line in terminal.sees(r"over$").splitlines() if line.startswith(("NAME", "site."))]
    for column in "NAME", "ITEMS", "NEW/S", "FULL-IN", "RATE-NOW", "STATE":
        if column not in heads:
            fail(f"{column} is not seen in 80 columns", text)
    if len(rows) != 3 or [row.split()[-1] for row in rows].count("over") != 1:
        fail("three rows with their states", text)
    terminal.keys("q")
    terminal.close()
    for number in range(3):
        scene.call("drop", f"site.with.a.long.name.and.more.of.it.{number}")


def main():
    if not shutil.which("tmux"):
        print("skipped: tmux is not installed", file=sys.stderr)
        sys.exit(77)
    scene = Scene(os.path.realpath(sys.argv[1]))
    try:
        for name, items in ("alpha", 0), ("beta", 500), ("gamma", 90000):
            scene.call("create", name, "-n", "100k")
            if items:
                scene.call("add", name, keys=(f"{name} {number}" for number in range(items)))
        terminal = scene.terminal()
        keys_do_what_they_say(scene, terminal)
        filters_come_and_go(scene, terminal)
        nobody_is_waited_for(scene, terminal)
        any_size_will_do(terminal)
        the_terminal_is_as_it_was(scene, terminal)
        colors_are_as_asked(scene)
        many_filters_are_scrolled(scene)
        eighty_columns_are_enough(scene)
    finally:
        scene.close()


main()
