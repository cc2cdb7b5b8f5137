#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""terminal.py [--check]: terminal.svg, an animated terminal, of a recorded session of the real command.

    TAMIS=.build/test/bin/tamis docs/pictures/terminal.py           records it and writes terminal.svg
    TAMIS=.build/test/bin/tamis docs/pictures/terminal.py --check   fails if it would show another text

terminal.session has the commands.  One bash runs them in a pseudo-terminal of 80 columns, and marks
where each begins and ends.  What they print, and when, is kept as it comes; only the typing of the
commands is made up, at TYPING seconds a letter.

The SVG has a text element for each line.  A line of output appears by a CSS animation at the time at
which it was printed; a command is uncovered letter by letter.  A reader who asks for less motion,
and a program without animations, gets the last picture.  The first round begins near its end, so whoever opens the
page sees text at once, and not an empty terminal.

Seen to fail: a digit changed in terminal.svg; a command changed in terminal.session.
"""
import html
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SVG = os.path.join(HERE, "terminal.svg")
COLUMNS, TYPING, PAUSE, END = 80, 0.035, 0.7, 7.0
FIRST = 3.0  # seconds of the whole text before the first round
CHAR, LINE, LEFT, TOP, SIZE = 7.8, 19, 18, 58, 13
BEGIN, DONE = b"\x1b]9;begin\x07", b"\x1b]9;done\x07"

STYLE = """
:root { --back: #fbfbf9; --bar: #ecece8; --edge: #d3d3cd; --text: #23282e; --soft: #6a7178; --prompt: #1d6f42; }
@media (prefers-color-scheme: dark) {
:root { --back: #14171a; --bar: #1f2429; --edge: #343b42; --text: #e3e6e8; --soft: #9098a0; --prompt: #7fd09c; }
}
text { font: %(size)dpx ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--text); white-space: pre; }
.title, .note { fill: var(--soft); }
.prompt { fill: var(--prompt); }
.back { fill: var(--back); stroke: var(--edge); }
.bar { fill: var(--bar); stroke: var(--edge); }
.cover { fill: var(--back); }
.cursor { fill: var(--soft); }
.type { visibility: hidden; }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
"""


def read_session():
    setup, vary, steps = [], [], []
    with open(os.path.join(HERE, "terminal.session"), encoding="utf-8") as file:
        for line in file.read().splitlines()[3:]:
            if line.startswith("@setup "):
                setup.append(line[len("@setup "):])
            elif line.startswith("@vary "):
                vary.append(re.compile(line[len("@vary "):]))
            elif line:
                steps.append(line)
    return setup, vary, steps


def shown(data):
    """Lines of text as a terminal shows them: a carriage return goes back, ESC [ K erases."""
    lines, line, at = [], [], 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", data.decode("utf-8", "replace"))
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.|\n", text):
        if part == "\n":
            lines.append("".join(line).rstrip())
            line, at = [], 0
        elif part == "\r":
            at = 0
        elif part[0] == "\x1b":
            if part[-1] == "K":
                del line[at:]
        else:
            line[at:at + 1] = part
            at += 1
    if line:
        lines.append("".join(line).rstrip())
    return lines


def record(setup, steps):
    """For each command (its line, [(seconds since its begin, line of output)], seconds in all)."""
    tamis = os.path.abspath(os.environ["TAMIS"])
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "bin"))
        os.mkdir(os.path.join(directory, "work"))
        os.symlink(tamis, os.path.join(directory, "bin", "tamis"))
        environment = {"PATH": f"{directory}/bin:{os.environ['PATH']}", "HOME": directory,
                       "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}
        script = "\n".join(setup) + "\nstty cols %d rows 40\n" % COLUMNS
        for step in steps:
            script += f"printf '\\033]9;begin\\a'\n{step}\nprintf '\\033]9;done\\a'\n"
        path = os.path.join(directory, "script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        master, slave = pty.openpty()
        with subprocess.Popen(["bash", path], cwd=os.path.join(directory, "work"), env=environment,
                              stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as shell:
            os.close(slave)
            chunks = read_all(master)
            os.close(master)
            if shell.wait() != 0:
                sys.exit("terminal.py: the session failed")
    return take_apart(steps, chunks)


def read_all(master):
    chunks = []
    while True:
        if not select.select([master], [], [], 120)[0]:
            sys.exit("terminal.py: the session prints nothing more, and does not end")
        try:
            data = os.read(master, 65536)
        except OSError:  # the other side is closed
            return chunks
        if not data:
            return chunks
        chunks.append((time.monotonic(), data))


def take_apart(steps, chunks):
    taken = []
    text, times = b"".join(data for _, data in chunks), []
    for when, data in chunks:
        times += [when] * len(data)
    at = 0
    for step in steps:
        begin = text.index(BEGIN, at) + len(BEGIN)
        at = text.index(DONE, begin)
        began, ended = times[begin - 1], times[at]
        output, done = [], 0
        for end in range(begin, at + 1):
            if end == at or text[end:end + 1] == b"\n":
                lines = shown(text[begin:min(end + 1, at)])
                output += [(times[min(end, at - 1)] - began, line) for line in lines[done:]]
                done = len(lines)
        taken.append((step, output, ended - began))
    return taken


def lines_of(taken):
    """The text of the picture, line by line."""
    for step, output, _ in taken:
        yield step if step.startswith("#") else f"$ {step}"
        for _, line in output:
            yield line


class Drawing:
    def __init__(self):
        self.now, self.row, self.shapes, self.keys = PAUSE, 0, [], []

    def text(self, line, kind=""):
        y = TOP + LINE * self.row
        self.row += 1
        prompt = f'<tspan class="prompt">$</tspan>{html.escape(line[1:])}' if kind == "prompt" \
            else html.escape(line)
        width = f' textLength="{CHAR * len(line):.1f}"' if line else ""
        return (f'<text class="line{" note" if kind == "note" else ""}" x="{LEFT}" y="{y}"{width} '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{prompt}</text>')

    def appears(self, shape):
        self.keys.append([self.now, None, 0])
        self.shapes.append(f'<g class="k{len(self.keys)}">{shape}</g>')

    def typed(self, line, kind):
        """The line appears at once under a cover, which goes to the right a letter at a time."""
        y, begin = TOP + LINE * self.row - LINE + 5, 2 if kind == "prompt" else 0
        self.appears(self.text(line, kind))
        letters = len(line) - begin
        self.keys.append([self.now, self.now + letters * TYPING, letters])
        self.shapes.append(
            f'<g class="type k{len(self.keys)}"><rect class="cover" x="{LEFT + CHAR * begin:.1f}" y="{y}" '
            f'width="{CHAR * (letters + 1):.1f}" height="{LINE}"/><rect class="cursor" '
            f'x="{LEFT + CHAR * begin:.1f}" y="{y + 1}" width="7" height="{LINE - 3}"/></g>')
        self.now += letters * TYPING

    def draw(self, taken):
        for step, output, seconds in taken:
            is_note = step.startswith("#")
            self.typed(step if is_note else f"$ {step}", "note" if is_note else "prompt")
            begun = self.now + (0 if is_note else 0.15)
            for when, line in output:
                self.now = begun + when
                self.appears(self.text(line))
            self.now = max(self.now, begun + seconds) + (0.2 if is_note else PAUSE)

    def rules(self):
        """Each shape is there from its time to the end of a round; a cover from its time to its end."""
        total, rules = self.now + END, ""
        for number, (begin, end, letters) in enumerate(self.keys, 1):
            a, animation = 100 * begin / total, f"k{number} {total:.2f}s {FIRST - total:.2f}s infinite"
            if end is None:
                rules += (f"@keyframes k{number} {{ 0%, {a:.3f}% {{ visibility: hidden; }} "
                          f"{a + .001:.3f}%, 100% {{ visibility: visible; }} }}\n"
                          f".k{number} {{ animation: {animation} step-end; }}\n")
            else:
                b = 100 * end / total
                rules += (f"@keyframes k{number} {{ 0% {{ visibility: hidden; }} {a:.3f}% {{ visibility: visible; "
                          f"transform: none; animation-timing-function: steps({letters}); }} {b:.3f}% {{ visibility: "
                          f"visible; transform: translateX({CHAR * letters:.1f}px); }} {b + .01:.3f}%, 100% "
                          f"{{ visibility: hidden; }} }}\n.k{number} {{ animation: {animation} step-end; }}\n")
        return rules


def svg(taken):
    drawing = Drawing()
    drawing.draw(taken)
    width, height = round(2 * LEFT + CHAR * COLUMNS), TOP + LINE * drawing.row + 4
    label = "A terminal: " + "; ".join(line for line in lines_of(taken))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{html.escape(label)}">\n'
            f"<!-- Recorded by docs/pictures/terminal.py; not drawn by hand. -->\n<style>{STYLE % {'size': SIZE}}"
            f'{drawing.rules()}</style>\n<rect class="back" x=".5" y=".5" width="{width - 1}" '
            f'height="{height - 1}" rx="8"/>\n<path class="bar" d="M.5 30.5V8.5a8 8 0 0 1 8 -8H{width - 8.5}'
            f'a8 8 0 0 1 8 8V30.5z"/>\n<text class="title" x="{LEFT}" y="20">four processes, one filter, no server'
            f'</text>\n<clipPath id="inside"><rect x="1" y="31" width="{width - 2}" height="{height - 32}" rx="7"/>'
            '</clipPath>\n<g clip-path="url(#inside)">\n' + "\n".join(drawing.shapes) + "\n</g>\n</svg>\n")


def check(taken, vary):
    """The lines of terminal.svg beside those of now; digits that depend on chance are not compared."""
    with open(SVG, encoding="utf-8") as file:
        there = [html.unescape(re.sub(r"<[^>]*>", "", line))
                 for line in re.findall(r'<text class="line[^>]*>(.*)</text>', file.read())]
    now = list(lines_of(taken))

    def fixed(line):
        return re.sub(r" *\d+", "0", line) if any(p.fullmatch(line) for p in vary) else line
    if [fixed(line) for line in there] == [fixed(line) for line in now]:
        return
    print("docs/pictures/terminal.svg shows (-) what the command does not print today (+):")
    for was, line in zip(there + [""] * len(now), now + [""] * len(there)):
        if fixed(was) != fixed(line):
            print(f"-{was}\n+{line}")
    sys.exit("record it again: TAMIS=... docs/pictures/terminal.py")


def main():
    setup, vary, steps = read_session()
    taken = record(setup, steps)
    if sys.argv[1:] == ["--check"]:
        check(taken, vary)
        return
    with open(SVG, "w", encoding="utf-8") as file:
        file.write(svg(taken))
    print("\n".join(lines_of(taken)))


main()
