# SPDX-License-Identifier: BSD-2-Clause
"""The table of docs/bindings.md: what each binding lacks of the library."""

BEGIN, END = "<!-- made by tests/bindings/run.py table: begin -->\n", "<!-- end -->\n"


def lacked(run, functions):
    """What a binding lacks: functions, and what it cannot say of one that it has, as "function(what)"."""
    return functions - run.functions | {name for name in run.lacks if "(" in name}


def rows(text):
    """The table that is on the page: of each binding, what it lacks."""
    lines = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in text.splitlines() if line.startswith("|")]
    if len(lines) < 2:
        return {}
    return {name: {cells[0].strip("`") for cells in lines[2:] if cells[column] == "lacks"}
            for column, name in enumerate(lines[0]) if column > 0}


def made(lacks):
    names = list(lacks)
    all_lacks = sorted(set().union(*lacks.values()))
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| `{what}` | " + " | ".join("lacks" if what in lacks[name] else "" for name in names) + " |" for what in all_lacks]
    return "\n".join(lines) + "\n"


def run(runs, arguments, functions):
    with open(arguments.page, encoding="utf-8") as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    there, now = rows(old), {run.name: lacked(run, functions) for run in runs}
    if arguments.write:
        # A binding whose toolchain is not here keeps its column.
        with open(arguments.page, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + made({**there, **now}) + END + after)
        return True
    wrong = [name for name in now if there.get(name) != now[name]]
    for name in wrong:
        print(f"{arguments.page}: the column {name} is not up to date: {sorted(there.get(name, set()) ^ now[name])}; "
              "make it anew with --write")
    return not wrong
