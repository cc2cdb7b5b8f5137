# SPDX-License-Identifier: BSD-2-Clause
"""sessions.py [--by-section] PAGE: the sessions of a document, or of a manual page, give exactly the output that stands
there.

In a ```console block commands stand after "$ ", continued after "> "; all else is what they print, on
standard output and standard error.  They run in order, by one bash, in an empty directory.  A block of another language is a file: its first or second line names it, as "# NAME",
"// NAME" or "/* NAME", and it is put into the directory first.  Other blocks are refused, so that
nothing stands in the page that is not tried.

--by-section: each "## " section has a directory and a bash of its own.  A section that needs what may
be missing says so in a comment: <!-- needs: php -->.

Words of the command that stand in running text, as `tamis NAME`, must be commands.

Of a manual page the displays of EXAMPLES (.Bd -literal) are the blocks: a file, if it begins with its name in a comment,
and else a session.  No command of these may fail.

Seen to fail: a digit changed in an output, a word changed in a command, a block without a name.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

TAMIS = os.path.abspath(os.environ["TAMIS"])
NAME = re.compile(r"(?:#|//|/\*|<\?php //) ([\w@.-]+\.\w+|Makefile)(?: |:|$)")
# What a section may need: how it is found.
NEEDS = {
    "php": lambda: bool(os.environ.get("TAMIS_PHP")),
    "python": lambda: bool(os.environ.get("TAMIS_PYTHON")),
    "cc": lambda: not os.environ.get("TAMIS_SANITIZE"),
    "minisign": lambda: shutil.which("minisign") is not None,
    "systemd": lambda: shutil.which("systemd-analyze") is not None,
}


def write(path, text):
    """As an editor does: a script can be run when the page has had it made so."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_tool(path, text):
    write(path, text)
    os.chmod(path, 0o755)


def make_tools(directory):
    """`tamis`, `cc`, `pkg-config tamis`, `python3` and `php` as a reader has them after an installation."""
    tools = os.path.join(directory, "bin")
    os.mkdir(tools)
    os.symlink(TAMIS, os.path.join(tools, "tamis"))
    library = os.environ["TAMIS_LIBRARY_DIR"]
    os.symlink(shutil.which(os.environ["CC"]), os.path.join(tools, "cc"))
    sanitize = f" -fsanitize={os.environ['TAMIS_SANITIZE']}" if os.environ.get("TAMIS_SANITIZE") else ""
    with open(os.path.join(directory, "tamis.pc"), "w", encoding="utf-8") as file:
        file.write("Name: tamis\nDescription: the library as built\nVersion: 0\n"
                   f"Libs: -L{library} -Wl,-rpath,{library} -ltamis{sanitize}\n"
                   f"Cflags: -I{os.environ['TAMIS_INCLUDE_DIR']}{sanitize}\n")
    if NEEDS["python"]():
        interpreter, path = os.environ["TAMIS_PYTHON"].split(":")
        write_tool(os.path.join(tools, "python3"),
                   f'#!/bin/sh\nPYTHONPATH={path} exec {interpreter} -B "$@"\n')
    if NEEDS["php"]():
        interpreter, extension = os.environ["TAMIS_PHP"].split(":")
        write_tool(os.path.join(tools, "php"),
                   f'#!/bin/sh\nexec {interpreter} -d extension={extension} "$@"\n')
    return tools


def blocks(text):
    """(language, lines) of each block."""
    found, language = [], None
    for line in text.splitlines(keepends=True):
        if language is None and line.startswith("```"):
            language = line[3:].strip()
            found.append((language, []))
        elif line.startswith("```"):
            language = None
        elif language is not None:
            found[-1][1].append(line)
    return found


def displays(page, text):
    """The same of a manual page, as it is read."""
    examples = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)", text, re.MULTILINE | re.DOTALL)
    for display in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", examples[1], re.MULTILINE | re.DOTALL) if examples else ():
        # groff sets the plain ones as typographic ones, which do not survive being copied into a shell.
        plain = re.findall(r"^(?:[.'].*|.*['`^~].*)$", display, re.MULTILINE)
        if plain:
            sys.exit("\n".join([page + ": in these lines write \\(aq \\(ga \\(ha \\(ti instead:", *plain]))
        for escape, character in (r"\(aq", "'"), (r"\(ga", "`"), (r"\(ha", "^"), (r"\(ti", "~"), (r"\&", ""):
            display = display.replace(escape, character)
        unknown = re.findall(r"^.*\\(?!e).*$", display, re.MULTILINE)
        if unknown:
            sys.exit("\n".join([page + ": this test does not know the escapes in these lines:", *unknown]))
        yield "c" if display.startswith("/*") else "console", display.replace(r"\e", "\\").splitlines(keepends=True)


def is_manual(page):
    return not page.endswith(".md")


def named(lines):
    for line in lines[:2]:
        match = NAME.match(line)
        if match:
            return match.group(1)
    return None


def steps_of(page, language, lines):
    """[command, output], ..."""
    steps = []
    for line in lines:
        if line.startswith("$ "):
            steps.append([line[2:], ""])
        elif not steps:
            sys.exit(f"{page}: {language} block: '{line.rstrip()}' follows no command")
        elif line.startswith("> ") and not steps[-1][1]:
            steps[-1][0] += line[2:]
        else:
            steps[-1][1] += line
    return steps


def run(steps, work, environment, *options):
    """The shell's status, and what each printed."""
    script = ""
    for number, (command, _) in enumerate(steps):
        script += f"exec >{work}/../got.{number} 2>&1\n{command}"
    path = os.path.join(work, "..", "script")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    done = subprocess.run(["bash", *options, path], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False, timeout=240)
    got = []
    for number in range(len(steps)):
        name = os.path.join(work, "..", f"got.{number}")
        if not os.path.exists(name):
            break
        with open(name, encoding="utf-8", errors="backslashreplace") as file:
            got.append(file.read().replace(work, "/home/me"))
    return done.returncode, got


def try_part(page, text):
    """(commands that were run, those that printed something else)."""
    with tempfile.TemporaryDirectory() as directory:
        work = os.path.join(directory, "home")
        os.mkdir(work)
        steps = []
        for language, lines in displays(page, text) if is_manual(page) else blocks(text):
            if language == "console":
                steps += steps_of(page, language, lines)
                continue
            name = named(lines)
            if name is None:
                sys.exit(f"{page}: this block is neither a session nor a file with its name:\n"
                         + "".join(lines[:4]))
            write(os.path.join(work, name), "".join(lines))
        environment = {"PATH": make_tools(directory) + ":" + os.environ["PATH"], "HOME": work,
                       "LC_ALL": "C.UTF-8", "TZ": "UTC", "PKG_CONFIG_PATH": directory}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "CLASSPATH"):
            if name in os.environ:
                environment[name] = os.environ[name]
        wrong = 0
        if is_manual(page):
            environment["TAMIS_STORE"] = os.path.join(directory, "store")
            wrong, got = run(steps, work, environment, "-e")
            if wrong:
                print(f"{page}: status {wrong} of: {steps[len(got) - 1][0]}")
        else:
            _, got = run(steps, work, environment)
        for (command, expected), printed in zip(steps, got):
            if printed != expected:
                wrong += 1
                print(f"{page}: expected (-) and got (+) of: {command}", *list(difflib.unified_diff(
                    expected.splitlines(), printed.splitlines(), lineterm="", n=1))[2:], sep="\n")
        if len(got) < len(steps):
            wrong += 1
            print(f"{page}: the shell ended before: {steps[len(got)][0]}")
        return len(steps), wrong


def check_words(page, text):
    """Commands in running text are commands."""
    done = subprocess.run([TAMIS, "help"], capture_output=True, text=True, check=True)
    known = set(re.findall(r"^  ([a-z]+)\b", done.stdout, re.MULTILINE)) | {"help"}
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    unknown = set(re.findall(r"`tamis ([a-z]+)", prose)) - known
    if unknown:
        print(f"{page}: no command of tamis: {', '.join(sorted(unknown))}")
    return len(unknown)


def main(arguments):
    by_section = arguments[0] == "--by-section"
    path = arguments[-1]
    page = os.path.basename(path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wrong, commands, skipped = 0 if is_manual(page) else check_words(page, text), 0, []
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE) if by_section else [text]:
        needs = set(re.findall(r"<!-- needs: (\w+) -->", part))
        if not all(NEEDS[need]() for need in needs):
            skipped.append(part.split("\n", 1)[0])
            continue
        ran, differ = try_part(page, part)
        commands, wrong = commands + ran, wrong + differ
    print(f"{page}: {commands} commands, {wrong} wrong", *[f"left out here: {s}" for s in skipped],
          sep="\n")
    sys.exit(1 if wrong or commands == 0 else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
