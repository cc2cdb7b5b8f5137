# SPDX-License-Identifier: BSD-2-Clause
"""fleet.py TAMIS: a list goes to a fleet. It is built anew each night, published to three stores, and asked for all the time.

Four processes have the list open in these stores, by the Python package, and ask batches of 1,000 names.  For each night the answers of a batch
are known from a filter that nobody changes, with its false positives.  Each batch must be answered by one night whole, and the nights of a handle
never go back.  Names that are on all lists are in every batch, and always there.

Five nights come, of several kinds.  Two stores take them by `tamis import --publish`, the third by `tamis pull` from a server.  Each publication
of each store is killed at random instants, many times, before it may end; then `tamis verify` finds nothing, and the list in force is that of the night
before or of tonight.  One store is on a small disk, which is full at first: exit status 2, one sentence, and the list of the night before.  Streams that are
cut or garbled, a server that cuts, lies about the length, sends garbage or an error, and (where the command can verify) lists that are signed by
another, or by nobody, or older than the list in force, end in the same way.

In its short form there are 20,000 names, 200,000 questions and 15 kills; with TAMIS_TEST_LONG=1 2,000,000 names, 10,000,000 questions and 200
kills, or as TAMIS_FLEET="NAMES QUESTIONS KILLS" says.

Broken to see it fail: answers of the night after mixed into a batch by asking its halves apart (`--halves`); an import without --publish; the room of the
small disk not taken; one answer in 100,000 of tamis_filter_contains_batch() turned round; a stream whose digest is compared neither with its end nor with its
head; a signature that is not compared with the bytes of the list.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
from hostile import Server, head  # noqa: E402 pylint: disable=wrong-import-position

SKIPPED = 77
NIGHTS = ("fuse", "fuse", "blocked", "bloom", "fuse", "fuse")  # the first is there before
STORES, ASKERS, BATCH, BATCHES = 3, 4, 1000, 24
HALVES = "--halves" in sys.argv


def sizes():
    if "TAMIS_FLEET" in os.environ:
        return [int(word) for word in os.environ["TAMIS_FLEET"].split()]
    return [2_000_000, 10_000_000, 200] if os.environ.get("TAMIS_TEST_LONG") == "1" else [20_000, 200_000, 15]


def must(condition, what):
    if not condition:
        raise AssertionError(what)


def name(number):
    return b"%x.example" % (number * 0x9E3779B97F4A7C15 % 2**64)


# ---- Those who ask -----------------------------------------------------------------------------------------------------


def ask(store, batches, expected, most, place):
    """Until the parent says that it is over, and until `most` questions: asks, and writes the count of questions into a file."""
    import tamis
    asked, now, seen = 0, 0, {}
    opened = tamis.Store(store).open("list", read_only=True)
    turn = 0
    while asked < most or not os.path.exists(place + ".over"):
        batch = turn % len(batches)
        if HALVES:
            half = len(batches[batch]) // 2
            answers = opened.contains_many(batches[batch][:half])
            time.sleep(0.001)
            answers += opened.contains_many(batches[batch][half:])
        else:
            answers = opened.contains_many(batches[batch])
        night = expected[batch].get(answers)
        must(night is not None, f"batch {batch} of {store} has answers of no night, after {asked} questions")
        must(night >= now, f"a handle went back from night {now} to {night}")
        asked, now = asked + len(batches[batch]), night
        seen[night] = seen.get(night, 0) + 1
        turn += 1
        time.sleep(0.0005)  # others have something to do, too
        if turn % 50 == 0:
            with open(place + ".new", "w", encoding="ascii") as file:
                file.write(str(asked))
            os.replace(place + ".new", place + ".asked")
    print(f"{os.path.basename(store)}: {asked} questions; batches by night: {sorted(seen.items())}", flush=True)
    must(now == len(NIGHTS) - 1, f"the last night was {now}")


class Asker:
    def __init__(self, number, directory, store, batches, expected, most):
        self.place = os.path.join(directory, f"asker{number}")
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                ask(store, batches, expected, most, self.place)
                code = 0
            except Exception as error:  # pylint: disable=broad-except
                print(f"asker {number}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(code)

    def asked(self):
        try:
            with open(self.place + ".asked", encoding="ascii") as file:
                return int(file.read() or 0)
        except OSError:
            return 0

    def lives(self):
        if self.pid is not None and os.waitpid(self.pid, os.WNOHANG)[0] != 0:
            self.pid = None
        return self.pid is not None

    def tell_to_end(self):
        with open(self.place + ".over", "wb"):
            pass

    def end(self):
        must(self.pid is not None and os.waitpid(self.pid, 0)[1] == 0, "an asker has failed")

    def kill(self):
        if self.lives():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


# ---- The machine that builds, and the stores ---------------------------------------------------------------------------


class Fleet:
    def __init__(self, tamis, directory, rng):
        self.tamis, self.directory, self.rng = tamis, directory, rng
        self.names, self.questions, self.kills = sizes()
        self.change = self.names // 100
        self.help = self.run("import", "--help")
        self.stores = [self.path(f"store{i}") for i in range(STORES)]
        self.puller = self.stores[-1]
        self.server = None  # its threads begin behind the fork of those who ask
        self.killed = self.refused = 0
        self.keys = self.make_keys()

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def run(self, *words, store=None, status=0):
        """Runs the command; one sentence must go with status 2.  Returns what it printed."""
        done = subprocess.run([self.tamis, *(["--store", store] if store else []), *map(str, words)], capture_output=True, text=True, check=False)
        must(done.returncode == status, f"{words}: exit {done.returncode}: {done.stderr}")
        must(status != 2 or len(done.stderr.splitlines()) == 1, f"{words}: not one sentence: {done.stderr}")
        return done.stdout

    def make_keys(self):
        """Keys of minisign, or None where the command or minisign is not able to."""
        if "--verify" not in self.help or subprocess.run(["which", "minisign"], capture_output=True, check=False).returncode:
            return None
        for key in ("ours", "others"):
            subprocess.run(["minisign", "-G", "-W", "-f", "-p", self.path(key + ".pub"), "-s", self.path(key + ".key")], check=True, capture_output=True)
        return self.path("ours.pub")

    def sign(self, stream, key="ours"):
        if self.keys:
            subprocess.run(["minisign", "-S", "-s", self.path(key + ".key"), "-t", "a list", "-m", stream], check=True, capture_output=True)

    def build(self, night):
        """A filter of its own for each night, which nobody changes, and its stream."""
        path, stream = self.path("names"), self.stream(night)
        first = night * self.change
        with open(path, "wb") as file:
            file.write(b"\n".join(name(i) for i in range(first, first + self.names)) + b"\n")
        self.run("build", f"night{night}", path, "--kind", NIGHTS[night], "-p", "0.1%", "-q", store=self.path("builder"))
        self.run("export", f"night{night}", "--to", "tamis", "--digest", stream, store=self.path("builder"))
        self.sign(stream)
        os.unlink(path)

    def stream(self, night):
        return self.path(f"night{night}.tamis")

    def batches(self):
        """Names of all nights, of some, and of none; and for each batch the answers of each night."""
        import tamis
        rng, last = self.rng, len(NIGHTS) * self.change
        batches = []
        for _ in range(BATCHES):
            numbers = [rng.randrange(last, self.names) for _ in range(BATCH // 2)]  # on each list
            numbers += [rng.randrange(0, last) for _ in range(BATCH // 5)]  # go some night
            numbers += [rng.randrange(self.names, self.names + last) for _ in range(BATCH // 5)]  # come some night
            numbers += [rng.randrange(2 * self.names + last, 2**40) for _ in range(BATCH // 10)]
            rng.shuffle(numbers)
            batches.append([(i, name(i)) for i in numbers])
        expected = [{} for _ in batches]
        with tamis.Store(self.path("builder")) as store:
            for night in range(len(NIGHTS)):
                first = night * self.change
                with store.open(f"night{night}", read_only=True) as filter:
                    for batch, answers in zip(batches, expected):
                        given = filter.contains_many([key for _, key in batch])
                        must(all(given[i] for i, (number, _) in enumerate(batch) if first <= number < first + self.names),
                             "a name of the list is not there")
                        must(given not in answers, "two nights have the same answers")
                        answers[given] = night
        return [[key for _, key in batch] for batch in batches], expected

    def offer(self, stream, answer=None):
        """The server has this stream, with its signature if it is there; `answer`: what it sends in its place."""
        if self.server is None:
            self.server = Server()
        with open(stream, "rb") as file:
            whole = answer or self.server.whole(file.read(), f'"{time.monotonic_ns()}"')
        signature = head(404, "Content-Length: 0")
        if os.path.exists(stream + ".minisig"):
            with open(stream + ".minisig", "rb") as file:
                signature = self.server.whole(file.read(), None)
        self.server.answer = lambda request: (signature if request.path.endswith(".minisig") else whole)(request)

    def publication(self, store, stream):
        verify = ["--verify", self.keys] if self.keys else []
        if os.path.basename(store).startswith(os.path.basename(self.puller)):
            self.offer(stream)
            return [self.tamis, "--store", store, "pull", "list", self.server.url(), "--insecure", "--retry", "0", "-q", *verify]
        return [self.tamis, "--store", store, "import", "list", "--from", "tamis", stream, "--publish", "-q", *verify]

    def publish(self, store, night, status=0, stream=None, options=()):
        self.run(*self.publication(store, stream or self.stream(night))[3:], *options, store=store, status=status)
        self.refused += status == 2

    def digest(self, store):
        return self.run("info", "list", "imported_digest", store=store).strip()

    def expect_night(self, store, *nights):
        must(self.digest(store) in [self.digest_of(night) for night in nights], f"{store} has the list of none of the nights {nights}")

    def digest_of(self, night):
        with open(self.stream(night), "rb") as file:
            return file.read(32)[16:].hex()

    def kill(self, store, night, longest):
        """Starts the publication, and kills it at a random instant within that time."""
        process = subprocess.Popen(self.publication(store, self.stream(night)), stderr=subprocess.DEVNULL)
        time.sleep(self.rng.random() * longest)
        process.send_signal(signal.SIGKILL)
        self.killed += process.wait() == -signal.SIGKILL

    def measure(self, store, night):
        """How long such a publication takes, beside those who ask."""
        began = time.monotonic()
        self.publish(self.path(f"{os.path.basename(store)}.measured{night}"), 0)
        return time.monotonic() - began

    def refuse_bad_servers(self, night):
        """What comes by a server that is not as it should be leaves the list of the night before."""
        stream = self.stream(night)
        with open(stream, "rb") as file:
            good = file.read()
        part = self.rng.randrange(41, len(good))
        for what, headers, body in (("cuts", [f"Content-Length: {len(good)}"], good[:part]),
                                    ("tells too short a length", [f"Content-Length: {part}"], good),
                                    ("tells too long a length", [f"Content-Length: {len(good) + part}"], good),
                                    ("tells none, and cuts", [], good[:part]),
                                    ("tells more than any disk has", [f"Content-Length: {2**60}"], good),
                                    ("sends garbage", [f"Content-Length: {part}"], self.rng.randbytes(part)),
                                    ("sends a page", [], b"<html>not tonight" + b" " * 100)):
            command = self.publication(self.puller, stream)[3:]
            self.offer(stream, head(200, *headers, body=body))
            self.run(*command, store=self.puller, status=2)
            self.refused += 1
            must(self.digest(self.puller) == self.digest_of(night - 1), f"a server that {what} has changed the list")
        command = self.publication(self.puller, stream)[3:]
        for status in (404, 500, 206, 416):
            self.offer(stream, head(status, "Content-Length: 0"))
            self.run(*command, store=self.puller, status=2)
            self.refused += 1
        self.expect_night(self.puller, night - 1)

    def refuse_bad_streams(self, store, night):
        """Streams that are not tonight's list leave that of the night before."""
        with open(self.stream(night), "rb") as file:
            good = file.read()
        bad = self.path("bad.tamis")
        at = self.rng.randrange(41, len(good))
        garbled = bytearray(good)
        garbled[at] ^= 1 << self.rng.randrange(8)
        streams = [("cut", good[:at], "ours"), ("garbled", bytes(garbled), "ours"), ("garbage", self.rng.randbytes(len(good) // 10), "ours")]
        if self.keys:
            streams += [("signed by another", good, "others")]
        for what, data, key in streams:
            with open(bad, "wb") as file:
                file.write(data)
            self.sign(bad, key)
            self.publish(store, night, 2, bad)
            self.expect_night(store, night - 1)
        if self.keys:  # a sound list, with the signature of another one
            os.unlink(bad)
            os.link(self.stream(0 if night > 1 else 2), bad)
            os.replace(shutil.copy(self.stream(night) + ".minisig", bad + ".copy"), bad + ".minisig")
            self.publish(store, night, 2, bad)
            self.expect_night(store, night - 1)
            os.unlink(bad)
        if "--newer-than-mine" in self.help and night > 1:
            self.publish(store, night - 2, 2, options=("--newer-than-mine",))
            self.expect_night(store, night - 1)
        if self.keys:
            os.unlink(bad + ".minisig")
            shutil.copy(self.stream(night), bad)
            self.publish(store, night, 2, bad)
            self.expect_night(store, night - 1)

    def fill(self, store):
        """Takes the room of the small disk; returns the file that has it."""
        filler = os.path.join(os.path.dirname(store), "filler")
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 14))
            except OSError:
                pass
        return filler

    def night(self, night, small, askers):
        if night > 1 and self.questions > 10**6:
            print(f"night {night}: {self.killed} kills, {sum(asker.asked() for asker in askers)} questions", flush=True)
        for number, store in enumerate(self.stores):
            self.refuse_bad_streams(store, night)
            if store == self.puller:
                self.refuse_bad_servers(night)
            if store == small:
                filler = self.fill(store)
                self.publish(store, night, 2)
                self.expect_night(store, night - 1)
                os.unlink(filler)
            longest = self.measure(store, night)
            share = self.kills * ((night - 1) * STORES + number + 1) // ((len(NIGHTS) - 1) * STORES)
            while self.killed < share:
                self.kill(store, night, longest)
                self.run("verify", store=store)
                self.expect_night(store, night - 1, night)
            self.publish(store, night)
            self.expect_night(store, night)
            must(all(asker.lives() for asker in askers), "an asker has failed")

    def go_through(self, small):
        for night in range(len(NIGHTS)):
            self.build(night)
        batches, expected = self.batches()
        for store in self.stores:
            self.run("import", "list", "--from", "tamis", self.stream(0), "--publish", store=store)
        askers = [Asker(i, self.directory, self.stores[i % STORES], batches, expected, self.questions // ASKERS) for i in range(ASKERS)]
        try:
            for night in range(1, len(NIGHTS)):
                wanted = self.questions * night // len(NIGHTS)
                while sum(asker.asked() for asker in askers) < wanted and all(asker.lives() for asker in askers):
                    time.sleep(0.05)
                self.night(night, small, askers)
        except BaseException:
            for asker in askers:
                asker.kill()
            raise
        for asker in askers:
            asker.tell_to_end()
        for asker in askers:
            asker.end()
        for store in self.stores:
            self.run("verify", store=store)
        print(f"{self.killed} kills, {self.refused} publications refused, {'signed' if self.keys else 'not signed'}")


def mounted(directory, names):
    """A tmpfs with room for some lists, or None."""
    os.mkdir(directory)
    size = f"size={32 + names * 32 // 2**20}m"
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", directory], check=False, capture_output=True).returncode:
        print("no small disk can be mounted here")
        return None
    return directory


def main():
    try:
        import tamis  # noqa: F401 pylint: disable=unused-import
    except ImportError:
        print("skipped: the Python package cannot be loaded", file=sys.stderr)
        sys.exit(SKIPPED)
    seed = int(os.environ.get("TAMIS_TEST_SEED") or time.time_ns())
    print("seed", seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        fleet = Fleet(os.path.abspath(sys.argv[1]), directory, random.Random(seed))
        print(f"{fleet.names} names, {fleet.questions} questions, {fleet.kills} kills")
        small = mounted(os.path.join(directory, "disk"), fleet.names)
        try:
            if small:
                small = fleet.stores[1] = os.path.join(small, "store")
            fleet.go_through(small)
        finally:
            if small:
                subprocess.run(["umount", os.path.dirname(small)], check=True)
    print(f"{time.monotonic() - began:.1f} s")


main()
