# SPDX-License-Identifier: BSD-2-Clause
"""draw.py: draw docs/layers.svg from the table of layers.txt.  check.py fails while the drawing is not
that of the table."""

import textwrap
from xml.sax.saxutils import escape

from layers import DRAWING, read_rows

WIDTH, MARGIN, GAP, HEAD = 780, 20, 12, 66
LINE = 17  # from one line of text to the next
LETTER = 6.4  # the mean width of one at 12 px, on the safe side

STYLE = """<style>
:root { --back: #ffffff; --text: #1f2328; --soft: #59636e; --room: #f3f6f9; --edge: #b4bec9; --arrow: #0b5fb4; }
@media (prefers-color-scheme: dark) {
:root { --back: #14171b; --text: #e6e8eb; --soft: #9aa4af; --room: #1f252c; --edge: #4a545f; --arrow: #58a6ff; }
}
text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.title { font-size: 16px; font-weight: 600; fill: var(--text); }
.name { font-size: 14px; font-weight: 600; fill: var(--text); }
.back { fill: var(--back); }
.room { fill: var(--room); stroke: var(--edge); }
.arrow { stroke: var(--arrow); stroke-width: 2; fill: none; }
</style>"""


def draw_row(row, top):
    """The row as SVG, and where it ends."""
    width = (WIDTH - 3 * MARGIN - GAP * (len(row) - 1)) / len(row)
    letters = int((width - 24) / LETTER)
    texts = [textwrap.wrap(purpose, letters) for _, purpose in row]
    height = 36 + LINE * max(map(len, texts))
    parts = []
    for i, (folder, _) in enumerate(row):
        x = 2 * MARGIN + i * (width + GAP)
        parts.append(f'<rect class="room" x="{x:.1f}" y="{top}" width="{width:.1f}" height="{height}" rx="6"/>')
        parts.append(f'<text class="name" x="{x + 12:.1f}" y="{top + 23}">{escape(folder)}/</text>')
        for j, line in enumerate(texts[i]):
            parts.append(f'<text x="{x + 12:.1f}" y="{top + 23 + LINE * (j + 1)}">{escape(line)}</text>')
    return parts, top + height


def drawing():
    parts, top = [], HEAD
    for row in read_rows():
        drawn, end = draw_row(row, top)
        parts += drawn
        top = end + GAP
    bottom = top - GAP
    height = bottom + MARGIN
    arrow = (f'<path class="arrow" d="M{MARGIN} {HEAD + 4} V{bottom - 4} '
             f'm-5 -8 l5 8 l5 -8"/>')
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="The layers of store/">',
            STYLE,
            f'<rect class="back" width="{WIDTH}" height="{height}"/>',
            f'<text class="title" x="{MARGIN}" y="30">The layers of store/</text>',
            f'<text x="{MARGIN}" y="50">A folder calls and includes what is in the rows below it, and in its '
            'own row what stands to its left.</text>',
            arrow]
    return "\n".join([*head, *parts, "</svg>", ""])


def is_stale():
    try:
        with open(DRAWING, encoding="utf-8") as file:
            return file.read() != drawing()
    except FileNotFoundError:
        return True


if __name__ == "__main__":
    with open(DRAWING, "w", encoding="utf-8") as file:
        file.write(drawing())
