# SPDX-License-Identifier: BSD-2-Clause
"""promises.py PROMISES.MD PROMISES.TXT: the promises in bold of the document are those that mutants break, each of them once.

tests/mutants/promises.txt has them without marks, one a line, between the word that the tables of mutants use and the name of the
page.  Seen to fail with a promise that only one of the two files has.
"""
import re
import sys


def plain(sentence):
    """In one line, without marks of code, a capital and a full stop."""
    return " ".join(re.sub("[`']", "", sentence).split()).removesuffix(".").lower()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = [plain(sentence) for sentence in re.findall(r"^\*\*(.*?)\*\*", file.read(), re.S | re.M)]
    with open(sys.argv[2], encoding="utf-8") as file:
        mutants = [plain(sentence) for sentence in re.findall(r"^[a-z-]+: +(.*) \(promises\.md\)$", file.read(), re.M)]
    bad = [f"promised, but no mutant is about it: {promise}" for promise in document if promise not in mutants]
    bad += [f"mutants break it, but nobody promises it: {promise}" for promise in mutants if promise not in document]
    bad += [f"twice: {promise}" for promise in set(document) if document.count(promise) > 1]
    print("\n".join(bad + [f"{len(document)} promises, {len(mutants)} lines for mutants"]))
    return 1 if bad or not document else 0


sys.exit(main())
