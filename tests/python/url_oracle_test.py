# SPDX-License-Identifier: BSD-2-Clause
"""The key rule `url` beside ada-url, of PyPI: another implementation of the URL standard.  Of 100,000 URLs, half of them mutated,
both make the same href, without its fragment.

Hosts in Unicode, which the rule leaves as they are, are not compared.
"""

import ctypes
import json
import os
import random
import re
import subprocess
import sys
import unittest

from support import pypi, skip

COUNT = 100_000
HREFS = """
import json, sys, ada_url
def href(text):
    try:
        url = ada_url.URL(text)
    except ValueError:
        return None
    url.hash = ""
    return url.href if url.protocol in ("http:", "https:", "ftp:", "ws:", "wss:") else None
json.dump([href(text) for text in json.load(sys.stdin)], sys.stdout)
"""
SCHEMES = ["http", "https", "HTTP", "Https", "ftp", "ws", "wss"]
HOSTS = ["example.com", "EXAMPLE.com", "www.example.co.uk", "a.b.c.", "localhost", "127.0.0.1", "0x7f.1", "017700000001", "1.2.3",
         "4294967295", "256.1", "[::1]", "[2001:DB8:0:0:1::1]", "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:7::]", "a_b.example",
         "ex%41mple.com", "1.2.3.4.", "0x.0x", "09.1", "a..b", "www.1e2", "0300.168.0.1"]
SEGMENTS = ["a", "b", "..", ".", "%2e", "%2E%2e", ".%2E", "", "index.html", "Über", "日本", "a b", "%zz", "a;b=1", "x|y", "{z}", "^", "`",
            "<t>", '"q"', "it's", "~u", "%C3%A9", "...", "..%2f", "a\\b", "\\"]
PARAMETERS = ["a=1", "b=2", "utm_source=x", "q=a b", "q=%20", "", "&", "x=é", '"', "'", "<>", "a=b=c", "`", "{}", "^", "|", "\\", "[1]", "?"]
USERS = ["user@", "u:p@", ":@", "@", "u:@", "a@b@", "a:b:c@", ":p@", "é;=/@", "u[\\]^|@"]
JUNK = list("/\\?#@:[]%. \t\n\r\0\x01\x7f0x1fAé日~{}|^`<>\"'&=+;-_") + ["%2e", "%41", "%00", "..", "//"]


class Urls(random.Random):
    def url(self):
        text = self.choice(SCHEMES) + ":" + self.choice(["//"] * 5 + ["/", "", "///", "\\\\"])
        text += self.choice(USERS) if self.random() < 0.1 else ""
        labels = ["".join(self.choices("abcxyz019-", k=self.randint(1, 8))) for _ in range(self.randint(1, 4))]
        text += self.choice(HOSTS) if self.random() < 0.7 else ".".join(labels)
        text += self.choice([":80", ":443", ":", ":8080", ":0", ":00080", ":65536", ":21", ":x"]) if self.random() < 0.2 else ""
        text += "".join("/" + self.choice(SEGMENTS) for _ in range(self.randint(0, 6)))
        text += "?" + "&".join(self.choices(PARAMETERS, k=self.randint(0, 5))) if self.random() < 0.5 else ""
        text += "#" + self.choice(["f", "", "#", "/.."]) if self.random() < 0.3 else ""
        return self.mutated(text) if self.random() < 0.5 else text

    def mutated(self, text):
        for _ in range(self.randint(0, 3)):
            i, j = sorted((self.randint(0, len(text)), self.randint(0, len(text))))
            text = self.choice([text[:i] + self.choice(JUNK) + text[i:], text[:i] + text[i + 1:], text[:j] + text[i:]])
        return text


def host_is_in_unicode(form):
    host = re.match(rb"[a-z]+://(?:[^/?]*@)?([^/?]*)", form)
    return host is not None and re.search(rb"[\x80-\xff]|xn--", host[1]) is not None


class Oracle(unittest.TestCase):
    def test_forms_are_hrefs_without_fragments(self):
        seed = int(os.environ.get("TAMIS_TEST_SEED", random.randrange(1 << 32)))
        print("seed", seed)
        urls = Urls(seed)
        texts = [urls.url() for _ in range(COUNT)]
        told = subprocess.run([PYTHON, "-c", HREFS], input=json.dumps(texts), capture_output=True, text=True, check=True).stdout
        compared = 0
        for text, href in zip(texts, json.loads(told)):
            form = form_of(text.encode())
            if host_is_in_unicode(form):
                continue
            compared += href is not None
            self.assertEqual(form, text.encode() if href is None else href.encode(), repr(text))
        self.assertGreater(compared, COUNT // 2)


def form_of(key):
    room = ctypes.create_string_buffer(10_000)
    size = LIBRARY.tamis_key_form(b"url", key, len(key), room, len(room))
    assert 0 <= size <= len(room)
    return room.raw[:size]


if __name__ == "__main__":
    LIBRARY = ctypes.CDLL(sys.argv.pop(1))
    LIBRARY.tamis_key_form.restype = ctypes.c_int64
    LIBRARY.tamis_key_form.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    PYTHON = pypi("ada-url")
    if PYTHON is None:
        skip("PyPI cannot be reached")
    unittest.main()
