# SPDX-License-Identifier: BSD-2-Clause
"""Keys such as PHP programs ask buckets about."""


def some_keys(random, count, addresses=10**5, bytes_least=1):
    """Comments, addresses, ids, bytes, in hexadecimal.  Of the addresses, which are neighbours, some pass that were not
    added: all who are asked must say so of the same ones."""
    kinds = (lambda: "评论 {}：{}".format(random.randrange(10**6), random.choice("好差中")).encode(),
             lambda: b"https://www.example.com/article/%d.html" % random.randrange(addresses),
             lambda: b"user:%d" % random.randrange(10**9),
             lambda: random.randbytes(16).hex().encode(),
             lambda: random.randbytes(random.randrange(bytes_least, 40)))
    keys = set()
    while len(keys) < count:
        keys.add(random.choice(kinds)().hex())
    keys = sorted(keys)
    random.shuffle(keys)
    return keys
