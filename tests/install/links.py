#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""links.py PLACE...: every relative link of Markdown files leads to a file; a place is such a file, or a folder with them.

It is run on the tree and on what is installed of it. Seen to fail: the README that was installed linked
store/include/tamis.h and tools/python/README.md, which were not.
"""
import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)", re.S)
FENCE = re.compile(r"^```.*?^```", re.S | re.M)


def broken(page):
    text = FENCE.sub("", page.read_text())
    for link in LINK.findall(text):
        target = link.partition("#")[0]
        if target and "://" not in link and not (page.parent / target).exists():
            yield link


def main():
    bad = 0
    places = [pathlib.Path(place) for place in sys.argv[1:]]
    pages = [page for place in places for page in ([place] if place.is_file() else sorted(place.rglob("*.md")))]
    for page in pages:
        for link in broken(page):
            print(f"{page}: no file at {link}")
            bad += 1
    print(f"{len(pages)} pages, {bad} links that lead nowhere")
    return 1 if bad or not pages else 0


sys.exit(main())
