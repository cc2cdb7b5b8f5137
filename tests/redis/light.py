# SPDX-License-Identifier: BSD-2-Clause
"""light.py MODULE TAMIS NOSYNC: BF.EXISTS and BF.MEXISTS of filters that are closed, which stay closed (light.h).

NOSYNC is a library without syncs, as filters are made one after the other.  Each of these was seen to fail:
questions_open_nothing for a light handle that is never made, what_others_do_is_seen for a question that does not look at
the words of the sheet, a_cut_file_is_no_absent_key for one that does not look at the tail, what_is_gone_is_given_back for a
cabinet that is never tidied, orphans_go_from_a_drawer_that_is_asked for a server that keeps the drawer mapped.
tests/mutants has the rest, as its mutants light_*; tests/unit/handle/light_test.c has each step of the protocol.
"""
import contextlib
import glob
import os
import random
import sys

from harness import are_made, beside, eventually, has_filters, info, pipelined, refused, run, same, served, store_of, tamis
from redis_client import Error

NOSYNC = os.path.abspath(sys.argv.pop(3))
MANY = 1500
SEED = int(os.environ.get("LIGHT_SEED", "0")) or random.randrange(1 << 32)
print(f"LIGHT_SEED={SEED}", flush=True)
LOST = "ERR the filter cannot be opened: the store does not have it any more"


@contextlib.contextmanager
def few_open(*arguments, most=4, **settings):
    with served("max-open", most, *arguments, environment={"LD_PRELOAD": NOSYNC}, **settings) as (redis, client):
        yield redis, client


def make(client, count=MANY):
    same(pipelined(client, [("BF.ADD", f"k{i}", f"item {i}") for i in range(count)]), [1] * count, "made")
    are_made(client)


def ask(client, numbers, what):
    questions = [(("BF.EXISTS", f"k{i}", f"item {i}") if i % 2 else ("BF.MEXISTS", f"k{i}", f"item {i}", "stranger")) for i in numbers]
    same(pipelined(client, questions), [1 if i % 2 else [1, 0] for i in numbers], what)


def drawers_mapped(redis):
    with open(f"/proc/{redis.process.pid}/maps", encoding="utf-8") as file:
        return [line for line in file if ".drw" in line and int(line.split("-")[0], 16) + 0x40000 == int(line.split()[0].split("-")[1], 16)]


def questions_open_nothing():
    random.seed(SEED)
    with few_open() as (redis, client):
        make(client)
        ask(client, range(MANY), "each for the first time")
        before, asked = len(os.listdir(f"/proc/{redis.process.pid}/fd")), info(client, "asked_keys")
        for _ in range(5):
            numbers = [random.randrange(MANY) for _ in range(2000)]
            ask(client, numbers, "at random")
            asked += sum(1 if i % 2 else 2 for i in numbers)
        same(info(client, "asked_keys"), asked, "INFO counts them")
        same(info(client, "open_filters") <= 4, True, "no more are open")
        same(len(os.listdir(f"/proc/{redis.process.pid}/fd")) <= before, True, "and no descriptors")
        same(info(client, "mapped_drawers"), len(drawers_mapped(redis)), "drawers")
        same(len(drawers_mapped(redis)), 3, "of 504 filters each")
        names = tamis("list", "-q", "--store", store_of(redis)).split()
        same(len(names), MANY, "filters")
        # What was opened to be written to, and closed again, is asked lightly too.
        for i in range(40):
            client.good("BF.ADD", f"k{i}", "more")
            client.good("BF.ADD", f"k{i + 40}", "more")
            same(client.good("BF.MEXISTS", f"k{i}", "more", f"item {i}", "stranger"), [1, 1, 0], i)
        # Neither CF.* nor another type is answered from there.
        client.good("CF.ADD", "c", "x")
        client.good("SET", "s", "x")
        same([client.good("CF.EXISTS", "c", "x"), client.good("BF.EXISTS", "s", "x"), client.good("BF.EXISTS", "none", "x")], [1, 0, 0],
             "other keys")
        same(client.good("RENAME", "k5", "five"), "OK", "RENAME")
        same(client.good("BF.MEXISTS", "five", "item 5", "stranger"), [1, 0], "after RENAME")
        same(client.good("BF.EXISTS", "k5", "item 5"), 0, "the old name")
        same(client.good("DEL", "k6"), 1, "DEL")
        client.good("BF.ADD", "k6", "another")
        same(client.good("BF.MEXISTS", "k6", "item 6", "another"), [0, 1], "a new filter of the same key")


def what_others_do_is_seen():
    """Each deed by a process of its own, between two questions to a filter that is closed."""
    random.seed(SEED)
    with few_open() as (redis, client):
        at = ("--store", store_of(redis))
        make(client)
        ask(client, range(MANY), "before")

        def adds(i):
            tamis("add", *at, f"k{i}", text="local\n")
            return [1, 1, 0]

        def excepts(i):
            tamis("except", *at, f"k{i}", "add", f"item {i}")
            return [0, 0, 0]

        def grows(i):
            tamis("add", *at, f"k{i}", text="".join(f"{n}\n" for n in range(300)) + "local\n")
            return [1, 1, 0]

        def drops(i):
            tamis("drop", *at, f"k{i}")
            return None

        def drops_and_creates(i):
            tamis("drop", *at, f"k{i}")
            tamis("create", *at, "-n", "100", "--in-drawer", f"k{i}")
            tamis("add", *at, f"k{i}", text="local\n")
            return None

        def renames(i):
            tamis("rename", *at, f"k{i}", f"was {i}")
            return [1, 0, 0]

        def builds(i):
            tamis("build", *at, "--kind", "blocked", f"k{i}", text="local\n")
            return [0, 1, 0]

        deeds = [adds, excepts, grows, drops, drops_and_creates, renames, builds]
        numbers = random.sample(range(MANY), 8 * len(deeds))
        for turn, i in enumerate(numbers):
            deed = deeds[turn % len(deeds)]
            same(client.good("BF.MEXISTS", f"k{i}", f"item {i}", "local", "stranger"), [1, 0, 0], "before")
            wanted = deed(i)
            for question in range(3):
                what = f"{deed.__name__} k{i}, question {question}"
                if wanted is None:
                    refused(client("BF.MEXISTS", f"k{i}", f"item {i}"), LOST, what)
                    refused(client("BF.EXISTS", f"k{i}", f"item {i}"), LOST, what)
                else:
                    same(client.good("BF.MEXISTS", f"k{i}", f"item {i}", "local", "stranger"), wanted, what)
                    same(client.good("BF.EXISTS", f"k{i}", "local"), wanted[1], what)
        ask(client, sorted(set(range(MANY)) - set(numbers)), "the others")


def questions_are_right_beside_other_processes():
    """Two of them add, drop and change filters all the time; a client asks thousands of questions meanwhile."""
    random.seed(SEED)
    with few_open() as (redis, client):
        at = ("--store", store_of(redis))
        make(client)
        done = [0] * 60

        def add_and_except():
            for turn in range(10000):
                i = turn % 60
                tamis("add", *at, f"k{i}", text=f"turn {turn // 60}\n")
                done[i] = turn // 60 + 1
                if turn % 3 == 0:
                    tamis("except", *at, f"k{i + 100}", "add", f"x{turn}")
                yield

        def drop_and_make():
            for turn in range(10000):
                tamis("create", *at, "-n", "100", "--in-drawer", f"own {turn % 5}")
                tamis("add", *at, f"own {turn % 5}", text="x\n")
                tamis("drop", *at, f"own {turn % 5}")
                yield

        with beside(add_and_except(), drop_and_make()):
            for _ in range(30):
                known = [(i, turn) for i in range(60) for turn in range(done[i])]
                same(pipelined(client, [("BF.EXISTS", f"k{i}", f"turn {turn}") for i, turn in known]), [1] * len(known), "added by others")
                ask(client, [random.randrange(MANY) for _ in range(1000)], "at random")
        print(f"{sum(done)} adds, each in a process of its own", flush=True)


def kills_and_restarts_change_nothing():
    with few_open(save="900 1000000") as (redis, client):
        make(client)
        client.good("SAVE")
        for turn in range(3):
            ask(client, range(turn % 2, MANY, 1 + turn % 2), f"turn {turn}")
            client.good("BF.ADD", f"k{turn}", f"turn {turn}")
            client = redis.restart(kill=True)
            eventually(lambda: b"loading:0" in client.good("INFO", "persistence"), "all is loaded")
            same(client.good("BF.EXISTS", f"k{turn}", f"turn {turn}"), 1, "added before the kill")
        ask(client, range(MANY), "at the end")
        same(info(client, "open_filters") <= 4, True, "no more are open")


def a_cut_file_is_no_absent_key():
    """At every 512th byte and in between, from the end on: either the answer is right, or it is an error."""
    with few_open() as (redis, client):
        make(client, 200)
        for i in range(8):  # what is open now was not empty when it was opened, so a handle has a bit to look at
            client.good("BF.ADD", f"k{i}", "more")
        ask(client, range(200), "before")
        [drawer] = glob.glob(os.path.join(store_of(redis), "segments", "*.drw"))
        questions = [("BF.EXISTS", f"k{i}", f"item {i}") for i in range(200)]
        errors = 0
        for size in range(4096 + 200 * 512, 4096, -320):
            os.truncate(drawer, size)
            answers = pipelined(client, questions)
            same([answer for answer in answers if answer != 1 and not (isinstance(answer, Error) and answer.startswith("ERR "))], [],
                 f"cut at {size}")
            errors += sum(answer != 1 for answer in answers)
        same(errors > 0, True, "errors")


def what_is_gone_is_given_back():
    with few_open() as (redis, client):
        make(client)
        ask(client, range(MANY), "asked")
        same(len(drawers_mapped(redis)), 3, "drawers")
        client.good("FLUSHALL")
        has_filters(redis, [], "all are dropped")
        eventually(lambda: len(drawers_mapped(redis)) <= 1, "all are unmapped but the one that is open")
        same(sum("(deleted)" in line for line in drawers_mapped(redis)), 0, "no file is kept")


def orphans_go_from_a_drawer_that_is_asked():
    """New filters lie in the drawer that has the orphans of the last run, and are asked all the time."""
    with few_open(hz=1) as (redis, client):
        make(client, 50)
        client = redis.restart(kill=True)
        same(pipelined(client, [("BF.ADD", f"new{i}", "x") for i in range(50)]), [1] * 50, "made")
        wanted = sorted(f"new{i}" for i in range(50))

        def are_alone():
            same(pipelined(client, [("BF.EXISTS", f"new{i}", "x") for i in range(50)]), [1] * 50, "asked")
            return sorted(tamis("list", "-q", "--store", store_of(redis)).split("\n")[:-1]) == wanted

        eventually(are_alone, "the orphans are dropped")


run(questions_open_nothing, what_others_do_is_seen, questions_are_right_beside_other_processes, kills_and_restarts_change_nothing,
    a_cut_file_is_no_absent_key, what_is_gone_is_given_back, orphans_go_from_a_drawer_that_is_asked)
