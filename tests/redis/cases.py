# SPDX-License-Identifier: BSD-2-Clause
"""cases.py MODULE TAMIS: the answers of RedisBloom, case by case, in RESP2 and RESP3.

It was seen to fail for an error rate of 0 that was accepted, and for BF.INFO's single field as a map in RESP2.
"""
import os
import shlex

from harness import run, same, server
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


def ask_all(name, resp):
    with server("exact", "yes") as redis:
        client = redis.client(resp)
        client.good("SET", "s", "v")
        words = {}
        if name == "bf_cases.txt":  # the two chunks of a filter as the case that makes `i` has it
            client.good("BF.RESERVE", "i", "0.001", "100")
            words["HDR"] = client.good("BF.SCANDUMP", "i", "0")[1]
            words["DATA"] = client.good("BF.SCANDUMP", "i", "1")[1]
            client.good("DEL", "i")
        for request, answers in cases_of(name):
            answer = client(*[words.get(word, word) for word in shlex.split(request)])
            same(shown(answer, "_" if resp == 3 else "nil"), answers.get(resp, answers[2]), f"RESP{resp}: {request}")


def bloom_answers_as_redisbloom():
    for resp in (2, 3):
        ask_all("bf_cases.txt", resp)


def cuckoo_answers_as_redisbloom():
    for resp in (2, 3):
        ask_all("cf_cases.txt", resp)


run(bloom_answers_as_redisbloom, cuckoo_answers_as_redisbloom)
