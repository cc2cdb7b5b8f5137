# SPDX-License-Identifier: BSD-2-Clause
# Of random lists with exceptions, each name that can be asked for by --parents has the same answer with and without --drop-covered,
# and no name is in that could be left out.  Twenty lists of ten names, of one seed.
# Seen to fail: with exceptions that are not looked at; with a listed parent looked for behind an exception.
command -v python3 >/dev/null || skip "needs python3"
cat >lists.py <<'PYTHON'
import itertools, random, subprocess, sys
chance = random.Random(7)
universe = [".".join(labels) for count in (1, 2, 3, 4) for labels in itertools.product("ab", repeat=count)]
def tamis(*words, text=""):
    return subprocess.run(["tamis", *words], input=text, capture_output=True, text=True, check=False).stdout.split()
def answers(names, exceptions):
    def answer(name):
        for parent in (name.split(".", i)[-1] for i in range(name.count(".") + 1)):
            if parent in exceptions or parent in names:
                return parent not in exceptions
        return False
    return [name for name in universe if answer(name)]
for _ in range(20):
    names, exceptions = chance.sample(universe, 10), chance.sample(universe, chance.randrange(4))
    with open("rules", "w") as file:
        file.write("".join(f"||{name}^\n" for name in names) + "".join(f"@@||{name}^\n" for name in exceptions))
    tamis("drop", "list")
    tamis("build", "list", "rules", "--format", "adblock", "--drop-covered", "-p", "1e-7")
    kept = tamis("check", "list", text="\n".join(universe))
    asked = tamis("check", "--parents", "list", text="\n".join(universe))
    if asked != answers(names, exceptions):
        sys.exit(f"{names} without {exceptions}: {asked}")
    for name in set(kept) - set(exceptions):
        if answers(set(kept) - {name}, exceptions) == asked:
            sys.exit(f"{names} without {exceptions}: {name} is not needed")
print("20 lists")
PYTHON
python3 lists.py
