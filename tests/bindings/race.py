# SPDX-License-Identifier: BSD-2-Clause
"""The race: all bindings add the same keys to one filter at once, and one is killed and begins again.

Each key may be NEW to one of them at most, and every key must be found by each of them afterwards.  Which key was NEW to
whom is in the files that they write; only of a process that was killed its last batch may be missing there.
"""

import os
import random
import subprocess
import time

NAME, BATCHES = "race", (1, 64, 1000, 4096)
RATE = 1e-12  # so that no key is taken for one that is there, in the million that are added
PATIENCE = 600


class Racer:
    def __init__(self, name, command, store, keys, seed, batch, out):
        self.name, self.command, self.batch, self.out = name, command, batch, out
        words = [*command, "race", store, NAME, "0", str(keys), str(seed), str(batch), out]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ready(self):
        line = self.process.stdout.readline()
        if line != b"ready\n":
            raise AssertionError(f"{self.name} is not ready: {line!r}")

    def go(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.close()

    def kill_in_the_middle(self, bytes_, seconds):
        """Kills it when its file has so many bytes, or after that time; False if it was faster than that."""
        last = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > last or (os.path.exists(self.out) and os.path.getsize(self.out) >= bytes_):
                self.process.kill()
                return self.process.wait() != 0
            time.sleep(0.001)
        return False

    def end(self):
        if self.process.wait(PATIENCE) != 0:
            raise AssertionError(f"{self.name} ended with {self.process.returncode}")

    def new(self):
        if not os.path.exists(self.out):
            return []
        with open(self.out, encoding="ascii") as file:
            return [int(line.removeprefix("key-")) for line in file]


def twice(racers, keys):
    """Prints who was told NEW of a key that another was told NEW of, and returns how many keys nobody was."""
    owner, wrong = {}, 0
    for racer in racers:
        for number in racer.new():
            if not 0 <= number < keys or number in owner:
                wrong += 1
                if wrong <= 10:
                    print(f"key-{number} was NEW to {owner.get(number)} and to {racer.name}")
            owner[number] = racer.name
    if wrong:
        raise AssertionError(f"{wrong} keys were NEW twice")
    return keys - len(owner)


def race(commands, arguments, scratch, dice):
    store = os.path.join(scratch, "store")
    # A quarter of the keys: the filter grows while all add to it.
    subprocess.run([arguments.tamis, "--store", store, "create", NAME, "-n", str(max(arguments.keys // 4, 1)), "-p", str(RATE)],
                   check=True)
    # Two at a time have the same order, and meet at each key.
    racers = [Racer(name, command, store, arguments.keys, arguments.seed + i // 2, dice.choice(BATCHES),
                    os.path.join(scratch, f"{i}.new"))
              for i, (name, command) in enumerate(commands.items())]
    # The command keeps answers in a buffer of its own for a while.
    victim = dice.choice([racer for racer in racers if racer.name != "command"])
    print(f"race: {', '.join(f'{racer.name} by {racer.batch}' for racer in racers)}; {victim.name} is killed", flush=True)
    for racer in racers:
        racer.ready()
    for racer in racers:
        racer.go()
    killed = victim.kill_in_the_middle(dice.randrange(1, max(arguments.keys // 2, 2)), dice.uniform(0.02, 0.5))
    if killed:
        again = Racer(victim.name, victim.command, store, arguments.keys, arguments.seed, victim.batch, victim.out + ".again")
        again.ready()
        again.go()
        racers.append(again)
    for racer in racers:
        if racer is not victim or not killed:
            racer.end()
    missing = twice(racers, arguments.keys)
    print(f"race: {'killed' if killed else 'too fast to be killed'}; NEW to nobody whose file is whole: {missing}; "
          + ", ".join(f"{racer.name} {len(racer.new())}" for racer in racers))
    if missing > (victim.batch if killed else 0):
        raise AssertionError(f"{missing} keys were NEW to nobody")
    for name, command in commands.items():
        done = subprocess.run([*command, "found", store, NAME, "0", str(arguments.keys)], stdout=subprocess.PIPE, check=True)
        if int(done.stdout) != arguments.keys:
            raise AssertionError(f"{name} finds {int(done.stdout)} of {arguments.keys} keys")


def run(commands, arguments, scratch):
    print(f"race: --seed {arguments.seed}")
    try:
        race(commands, arguments, scratch, random.Random(arguments.seed))
    except AssertionError as error:
        print(f"race: FAILED: {error}")
        return 1
    return 0
