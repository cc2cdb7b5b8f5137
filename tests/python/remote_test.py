# SPDX-License-Identifier: BSD-2-Clause
"""remote_test.py MODULE TAMIS: filters on redis-server and on a cluster, as tamis.scrapy uses them, by python3-redis.

What `tamis --store URL check` says of the keys shows that both sides use the same shard.  Seen to fail with the low half of
the hash for the shard, and with an _ask() that tells of no loss.
"""

import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../redis"))
from harness import server, tamis  # noqa: E402
from cluster_servers import Cluster  # noqa: E402

from tamis._errors import ExistsError, InvalidError, MismatchError, NotFoundError  # noqa: E402
from tamis._remote import RemoteFilter  # noqa: E402

WANTED = ["1", "299", "new"]
KEYS = [b"%d" % i for i in range(300)]


class Remote(unittest.TestCase):
    def use(self, url, name):
        first, second = (RemoteFilter(url, name, 10_000, 1e-6) for _ in range(2))
        self.assertEqual([first.add(key) for key in KEYS], [True] * len(KEYS))
        self.assertEqual([second.add(key) for key in KEYS + [b"new"]], [False] * len(KEYS) + [True])
        self.assertAlmostEqual(first.fill(), 301 / 10_000, delta=0.005)
        text = tamis("--store", url, "check", name, text="1\n299\nnew\nnothing\n")
        self.assertEqual([line.split()[0] for line in text.splitlines()], WANTED, text)
        first.close()
        second.close()

    def test_server(self):
        with server() as instance:
            url = instance.url()
            self.use(url, "one")
            tamis("--store", url, "create", "many", "-n", "10000", "-p", "0.0001%", "--shards", "16")
            self.use(url, "many")
            instance.client().good("SET", "text", "x")
            with self.assertRaises(ExistsError):
                RemoteFilter(url, "text", 100, 0.01)
            instance.client().good("HSET", "many", "state", "dropping")
            with self.assertRaises(InvalidError):
                RemoteFilter(url, "many", 100, 0.01)
            with self.assertRaises(NotFoundError):
                RemoteFilter(url, "huge", 10**10, 0.01)

    def test_key_rule(self):
        """The form decides on the shard, too.  Seen to fail with the shard of the bytes."""
        urls = [b"http://example.com/%d?a&b" % i for i in range(100)]
        with server() as instance:
            url = instance.url()
            tamis("--store", url, "create", "many", "-n", "10000", "-p", "1e-9", "--shards", "16", "--key-rule", "url:sort")
            for name in ("many", "one"):
                seen = RemoteFilter(url, name, 10_000, 1e-9, key_rule="url:sort")
                self.assertEqual([seen.add(key) for key in urls], [True] * 100)
                self.assertEqual([seen.add(b"HTTP://Example.com:80/%d?b&a#f" % i) for i in range(100)], [False] * 100)
                seen.close()
                text = tamis("--store", url, "check", "-c", name, text="HTTP://EXAMPLE.COM/5?b&a\n")
                self.assertEqual(text, "1\n")
                for other in (None, "url"):
                    with self.assertRaisesRegex(MismatchError, "with key rule url:sort, not"):
                        RemoteFilter(url, name, 10_000, 1e-9, key_rule=other)

    def test_cluster(self):
        with Cluster() as cluster:
            self.use(cluster.url(), "one")
            tamis("--store", cluster.url(), "create", "many", "-n", "10000", "-p", "0.0001%", "--shards", "16")
            self.use(cluster.url(1), "many")

    def test_keys_in_doubt_are_told_as_new(self):
        with server() as instance:
            seen = RemoteFilter(instance.url(), "seen", 1000, 1e-6)
            ask, answers = seen._ask_once, []

            def lose(*words):
                answers.append(ask(*words))
                if len(answers) == 1:
                    raise seen._lost[0]("lost")
                return answers[-1]

            seen._ask_once = lose
            self.assertTrue(seen.add(b"a"))
            self.assertEqual((seen.doubts, len(answers)), (1, 2))
            self.assertFalse(seen.add(b"a"))
            self.assertEqual(seen.doubts, 1)

    def test_server_that_is_away_for_a_while(self):
        with server(save="3600 1") as instance:
            seen = RemoteFilter(instance.url(), "seen", 1000, 1e-6, wait=2)
            self.assertTrue(seen.add(b"a"))
            instance.process.terminate()
            instance.process.wait()
            errors = []

            def add():
                try:
                    seen.add(b"b")
                except seen._lost as error:
                    errors.append(error)

            thread = threading.Thread(target=add)
            thread.start()
            thread.join(30)
            self.assertEqual(len(errors), 1)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
