# SPDX-License-Identifier: BSD-2-Clause
"""mishaps_live.py TAMIS: what goes wrong between the command and a real Redis, at every command
that it sends.

The connection breaks, before a command has arrived, in the middle of an answer, or before it; the
command is killed, or stopped by a signal, also where the server has fallen silent; the server dies
and comes back, or removes what was half written; the key changes under the reader.  An import
leaves nothing.  An export leaves the old key, or the whole new one, and whatever else it leaves has
a time to live.
"""
import os
import signal
import subprocess
import sys
import tempfile
import threading

from command import Tamis, finish, same, seeded
from servers import Client, Cut, Proxy, RedisServer

SHAPE = ("--hash-set", "php:js,pjw", "-m", str(2**25))
PIECES = 4  # of 1 MiB, in 2**25 bits
OLD = b"what was there"


class Place:
    def __init__(self, binary, directory, server, proxy, random):
        self.store = os.path.join(directory, "store")
        self.tamis = Tamis(binary, self.store)
        self.server = server
        self.proxy = proxy
        self.client = Client(server.port)
        self.bits = random.randbytes(2**22 - 1) + b"\1"
        self.process = None

    def run(self, hook, *arguments):
        """The command, with the hook between it and the server: (exit status, what it says)."""
        started = threading.Event()

        def when_started(link, number, words):
            started.wait()
            hook(link, number, words)

        self.proxy.hook = when_started
        self.process = subprocess.Popen(self.tamis.call + list(arguments), text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        started.set()
        printed, told = self.process.communicate(timeout=100)
        same(f"{arguments}: printed", "", printed)
        return self.process.returncode, told

    def run_import(self, hook):
        return self.run(hook, "import", "x", "--from", self.proxy.url(), "bits", *SHAPE)

    def run_export(self, hook, *more):
        return self.run(hook, "export", "there", "--to", self.proxy.url(), "copy", *more)

    def same_nothing(self, what):
        same(f"{what}: filters", ["there"], self.tamis.run("list", "-q"))
        same(f"{what}: files", (1, 0), tuple(len(os.listdir(os.path.join(self.store, directory)))
                                             for directory in ("segments", "staging")))

    def half_done(self):
        """The keys that an export has left, by their time to live; they are removed."""
        keys = [key for key in self.client("KEYS", "*") if key not in (b"bits", b"copy")]
        times = {key: self.client("TTL", key) for key in keys}
        for key in keys:
            self.client("DEL", key)
        return times


def at(number, mishap):
    """A hook: the mishap at that command, the others passed on."""
    return lambda link, now, words: mishap(link, words) if now == number else link.pass_on(words)


def cut_before(_link, _words):
    raise Cut


def cut_within(link, words):
    answer = link.upstream.raw(words)
    link.wfile.write(answer[:len(answer) // 2])
    raise Cut


def cut_after(link, words):
    link.upstream.raw(words)
    raise Cut


# ---- Import ------------------------------------------------------------------------------------

def commands_of_import(place):
    """How many it sends when nothing happens."""
    seen = []

    def note(link, _number, words):
        seen.append(words[0])
        link.pass_on(words)

    status, told = place.run_import(note)
    same(told, 0, status)
    same("commands", [b"TYPE", b"TYPE", b"STRLEN"] + [b"GETRANGE"] * (PIECES + 1), seen)
    place.tamis.run("drop", "x")
    return len(seen)


def check_imports(place):
    def removed(link, words):
        place.client("DEL", "bits")
        link.pass_on(words)

    def to_a_list(link, words):
        place.client("DEL", "bits")
        place.client("RPUSH", "bits", "x")
        link.pass_on(words)

    mishaps = [(cut_before, "the connection failed"), (cut_within, "the connection failed"),
               (cut_after, "the connection failed")]
    count = commands_of_import(place)
    for number in range(1, count + 1):
        for mishap, words in mishaps:
            status, told = place.run_import(at(number, mishap))
            same(f"import, {mishap.__name__} {number}: {told}", (2, True), (status, words in told))
            place.same_nothing("import")
    for number in range(4, count):  # the first TYPE asks whether another node of a cluster has the key
        for mishap, words in ((removed, "was removed or cut short"),
                              (to_a_list, "the server says: WRONGTYPE")):
            status, told = place.run_import(at(number, mishap))
            same(f"import, {mishap.__name__} {number}: {told}", (2, True), (status, words in told))
            place.same_nothing("import")
            place.client("DEL", "bits")
            place.client("SET", "bits", place.bits)


# ---- Signals -----------------------------------------------------------------------------------

def stop_by(place, number, silent):
    """A hook that sends the signal at the command; silent: which is never answered."""
    def mishap(link, words):
        place.process.send_signal(number)
        if not silent:
            link.pass_on(words)
            return
        place.process.wait()
        raise Cut
    return mishap


def check_signals(place):
    for number in (signal.SIGINT, signal.SIGTERM):
        name = signal.Signals(number).name
        for command, silent in ((1, True), (2, False), (4, True), (4, False)):
            status, told = place.run_import(at(command, stop_by(place, number, silent)))
            same(f"import, {name} at {command}: {told}", (128 + number, True),
                 (status, f"stopped by {name}" in told))
            place.same_nothing("import")
    for command, silent in ((1, True), (5, False), (6, True), (7, False)):
        status, told = place.run_export(at(command, stop_by(place, signal.SIGTERM, silent)), "--force")
        same(f"export, stopped at {command}: {told}", (143, True), (status, "stopped by SIGTERM" in told))
        same("export, stopped: the old key", OLD, place.client("GET", "copy"))
        left = place.half_done()
        same(f"export, stopped at {command}: left", 1 if silent and command > 5 else 0, len(left))
        same_times(left)


# ---- Export ------------------------------------------------------------------------------------

EXPORT = ([b"EXISTS", b"MULTI", b"SETRANGE", b"EXPIRE", b"EXEC"] + [b"SETRANGE"] * (PIECES - 1) +
          [b"TTL", b"MULTI", b"PERSIST", b"RENAME", b"EXEC"])


def same_times(left):
    for key, seconds in left.items():
        same(f"time to live of {key}", True, 86000 < seconds <= 86400)


def killed(place):
    def mishap(_link, _words):
        place.process.kill()
        place.process.wait()
        raise Cut
    return mishap


def killed_after(place):
    def mishap(link, words):
        link.upstream.raw(words)
        killed(place)(link, words)
    return mishap


def check_exports(place):
    """At each command: the copy is the old one until the last EXEC has arrived."""
    for number, command in enumerate(EXPORT, 1):
        for mishap, arrives, dies in ((cut_before, False, False), (cut_after, True, False),
                                      (killed(place), False, True), (killed_after(place), True, True)):
            what = f"export, {mishap.__name__} at {number} ({command.decode()})"
            status, told = place.run_export(at(number, mishap), "--force")
            same(f"{what}: {told}", -signal.SIGKILL if dies else 2, status)
            is_done = arrives and number == len(EXPORT)
            same(f"{what}: copy", place.bits if is_done else OLD, place.client("GET", "copy"))
            left = place.half_done()
            same(f"{what}: left", 1 if not is_done and (number, arrives) >= (5, True) else 0, len(left))
            same_times(left)
            if not dies and 5 <= number < len(EXPORT) - 3:
                same(f"{what}: {told}", True, "a part of it may be left" in told)
            if not dies and number == len(EXPORT):
                same(f"{what}: {told}", True, "look at it" in told)
            place.client("SET", "copy", OLD)


def check_meanwhile(place):
    """Others do something to the keys while the export runs."""
    seen = []

    def note(link, number, words):
        seen.append(words[0])
        if number == 7:  # as a server that is short of memory removes keys with a time to live
            place.client("DEL", words[1])
        link.pass_on(words)

    status, told = place.run_export(note, "--force")
    same(told, (2, True), (status, "removed a part of it" in told))
    same("removed: copy", OLD, place.client("GET", "copy"))
    same("removed: left", {}, place.half_done())
    same("removed: commands", EXPORT[:9] + [b"DEL"], seen)

    place.client("DEL", "copy")
    status, told = place.run_export(at(9, lambda link, words: (place.client("SET", "copy", OLD),
                                                               link.pass_on(words))))
    same(told, (2, True), (status, "is there already; --force" in told))
    same("made meanwhile: copy", OLD, place.client("GET", "copy"))
    same("made meanwhile: left", {}, place.half_done())


# ---- The server dies ---------------------------------------------------------------------------

def check_dead_server(place):
    """Killed in the middle and started again, from what it has written to its disk."""
    def kill(link, words):
        link.pass_on(words)
        place.server.kill()

    def restart():
        place.server.start()
        place.client = Client(place.server.port)

    status, told = place.run_import(at(4, kill))
    restart()
    same(told, (2, True), (status, "the connection failed" in told))
    place.same_nothing("import from a server that dies")
    status, told = place.run_export(at(7, kill), "--force")
    same(told, (2, True), (status, "the connection failed" in told))
    status, told = place.run_export(at(1, kill), "--force")
    same(told, (2, True), (status, "the connection failed" in told))
    restart()
    same("copy, after the death", OLD, place.client("GET", "copy"))
    left = place.half_done()
    same("left, after the death", 1, len(left))
    same_times(left)


def main():
    random = seeded()
    with (tempfile.TemporaryDirectory() as directory, RedisServer(durable=True) as server,
          Proxy(server) as proxy):
        place = Place(sys.argv[1], directory, server, proxy, random)
        place.client("SET", "bits", place.bits)
        place.client("SET", "copy", OLD)
        place.tamis.run("import", "there", "--from", server.url(), "bits", *SHAPE)
        check_imports(place)
        check_signals(place)
        check_exports(place)
        check_meanwhile(place)
        check_dead_server(place)
        status, told = place.run_export(at(0, cut_before), "--force")
        same(told, 0, status)
        same("copy", place.bits, place.client("GET", "copy"))
        same("problems of the store", [], place.tamis.run("verify"))
    finish(300)


main()
