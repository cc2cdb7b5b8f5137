#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""links.py FOLDER...: every relative link of the Markdown files below the folders leads to a file.

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
    pages = [page for folder in sys.argv[1:] for page in sorted(pathlib.Path(folder).rglob("*.md"))]
    for page in pages:
        for link in broken(page):
            print(f"{page}: no file at {link}")
            bad += 1
    print(f"{len(pages)} pages, {bad} links that lead nowhere")
    return 1 if bad or not pages else 0


sys.exit(main())
