# SPDX-License-Identifier: BSD-2-Clause
"""The files of cases: requests, and what another module answers to them (bf_cases.txt tells the notation)."""
import os
import shlex

from harness import same
from redis_client import shown

HERE = os.path.dirname(os.path.abspath(__file__))


def cases_of(name):
    """(request, answers by protocol) of a file."""
    cases = []
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        for line in file:
            if line.startswith("> "):
                cases.append((line[2:-1], {}))
            elif line[0] in "23":
                cases[-1][1][int(line[0])] = line[2:-1]
    return cases


def ask(client, name, resp, words):
    """Asks all of a file; `words` stand for others in the requests."""
    for request, answers in cases_of(name):
        answer = client(*[words.get(word, word) for word in shlex.split(request)])
        same(shown(answer, "_" if resp == 3 else "nil"), answers.get(resp, answers[2]), f"RESP{resp}: {request}")
