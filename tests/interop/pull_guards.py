# SPDX-License-Identifier: BSD-2-Clause
"""pull_guards.py TAMIS: what keeps `tamis pull` from a list that is sound and signed, and not the one that is wanted; and how
long it waits where the server says when to come again.

Broken to see it fail: without MAX_SHRINK_DEFAULT a list of one key replaces one of 20,000; without is_expected() another
list of the same key does; with strstr() alone in has_fields() 'list' is in 'file:list'; without the at-least in end_unchanged() a list that
is too short is unchanged; with strtoll() alone in transfer_retry_after() a date is not heeded.
"""
import email.utils
import os
import shutil
import subprocess
import sys
import tempfile
import time

from command import finish, same, seeded, skip
from hostile import Server, first_then, head
from puller import KEYS, Builder, Reader, bad, check, good, unchanged


class Signer:
    """A key, and a server that has lists that it has signed."""

    def __init__(self, directory):
        self.directory = directory
        self.public = os.path.join(directory, "key.pub")
        self.secret = os.path.join(directory, "key.sec")
        subprocess.run(["minisign", "-G", "-W", "-p", self.public, "-s", self.secret], check=True, capture_output=True)
        self.server = Server()

    def offer(self, data, etag, name="list", comment=None):
        path = os.path.join(self.directory, name)
        with open(path, "wb") as file:
            file.write(data)
        subprocess.run(["minisign", "-S", "-s", self.secret, "-m", path, *(["-t", comment] if comment is not None else [])],
                       check=True, capture_output=True)
        with open(path + ".minisig", "rb") as file:
            signature = self.server.whole(file.read(), None)
        whole = self.server.whole(data, etag)
        self.server.answer = lambda request: (signature if ".minisig" in request.path else whole)(request)


def check_length(reader, builder, signer):
    """A list that is much shorter than the one in force."""
    pull = lambda *options: reader.pull(signer.server.url(), "--verify", signer.public, *options)
    signer.offer(builder.list(0), '"a"')
    good("the first list", pull())
    before = reader.in_force()
    one = builder.list(0, 1)
    signer.offer(one, '"b"')
    refusal = (f"tamis: the list for 'list' has 1 key, and {KEYS} are in force: it may shrink by 50 %; look where the list "
               "comes from, or give --max-shrink 100 (max_shrink) if that is right\n")
    result = pull()
    bad("one key", reader, "it may shrink by 50 %", result, before)
    same("the sentence", refusal, result[2])
    bad("one key, again", reader, "it may shrink by 50 %", pull(), before)
    bad("one key, 99.9 %", reader, "it may shrink by 99.9 %", pull("--max-shrink", "99.9%"), before)
    same("nothing is kept", ["last"], reader.spools())
    half = builder.list(0, KEYS // 2)
    signer.offer(half, '"c"')
    good("half of it", pull())
    signer.offer(builder.list(0, KEYS // 2 - 100), '"d"')
    bad("less than it must have", reader, f"at least {KEYS // 2} are asked for", pull("--at-least", str(KEYS // 2)), half[16:32].hex())
    bad("it may not shrink", reader, "--max-shrink 1 ", pull("--max-shrink", "0"), half[16:32].hex())
    signer.offer(one, '"e"')
    good("one key that is meant", pull("--max-shrink", "100"))
    same("in force", ["key0"], check(reader, "key0", "key1"))
    generation = reader.tamis.run("info", "list", "generation")[0]
    unchanged("the same again", pull(), generation)
    bad("unchanged, and too short", reader, "which has 1 key, and at least 2 are asked for", pull("--at-least", "2"), one[16:32].hex())
    signer.server.answer = signer.server.whole(builder.list(0), '"f"')
    good("not signed", reader.pull(signer.server.url(), "--insecure"))
    signer.server.answer = signer.server.whole(one, '"g"')
    good("not signed: any length", reader.pull(signer.server.url(), "--insecure"))
    signer.server.answer = signer.server.whole(builder.list(0), '"h"')
    good("not signed, long again", reader.pull(signer.server.url(), "--insecure"))
    signer.server.answer = signer.server.whole(one, '"i"')
    bad("not signed, guarded", reader, "it may shrink by 10 %", reader.pull(signer.server.url(), "--insecure", "--max-shrink", "10"),
        reader.in_force())


def check_comment(reader, builder, signer):
    """Another list that the same key has signed."""
    pull = lambda path="/list", *options: reader.pull(signer.server.url(path), "--verify", signer.public, *options)
    data = builder.list(100)
    signer.offer(data, None)
    good("file:list at /list", pull())
    good("with a query", pull("/list?token=1", "-q"))
    before = reader.in_force()
    signer.offer(builder.list(200), None, name="another list")
    bad("file:another list at /list", reader, "was made for a file 'another list', as its trusted comment says, and not for 'list'",
        pull(), before)
    same("nothing but the signature was asked for", True, signer.server.requests[-1].path.endswith(".minisig"))
    good("file:another list, which is meant", pull("/list", "--expect-comment", "file:another list"))
    good("a name with a blank", pull("/some/another%20list", "-q"))
    before = reader.in_force()
    signer.offer(builder.list(300), None, comment="timestamp:1\tfile:list\tmalware, of tonight\tfor mail")
    for text in ("malware", "list", "file:list2", "of tonight", "for mail\t", "timestamp:", "", "x" * 9000):
        bad(f"--expect-comment {text[:20]!r}", reader, "in its trusted comment, and --expect-comment wants", pull("/list", "--expect-comment", text),
            before)
    for text in ("malware, of tonight", "for mail", "file:list", "malware, of tonight\tfor mail",
                 "timestamp:1\tfile:list\tmalware, of tonight\tfor mail"):
        good(f"--expect-comment {text!r}", pull("/list", "-q", "--expect-comment", text))
    signer.offer(builder.list(400), None, comment="malware")
    good("a comment without a file", pull())
    good("the whole comment", pull("/list", "-q", "--expect-comment", "malware"))


def check_waits(reader, server, data):
    """Retry-After, in seconds and as a date of each form, by the server's clock, which is a year behind."""
    now = time.time() - 365 * 86400
    at = time.gmtime(now + 2)
    forms = {"seconds": "2", "date": email.utils.formatdate(now + 2, usegmt=True), "RFC 850": time.strftime("%A, %d-%b-%y %H:%M:%S GMT", at),
             "asctime": time.asctime(at), "a date long ago": email.utils.formatdate(now - 90, usegmt=True), "garbage": "soon", "nothing": ""}
    for what, value in forms.items():
        busy = head(503, "Content-Length: 0", "Date: " + email.utils.formatdate(now, usegmt=True), f"Retry-After: {value}")
        server.answer = first_then(busy, server.whole(data, '"x"'))
        status, _, err = reader.pull(server.url(), "--insecure", "--progress", "-q")
        seconds = 2 if what in ("seconds", "date", "RFC 850", "asctime") else 1
        same(f"Retry-After: {what}", (0, True), (status, f"trying again in {seconds} s" in err))


def main():
    seeded()
    if not shutil.which("minisign"):
        skip("minisign is not installed")
    with tempfile.TemporaryDirectory() as directory:
        reader, builder = Reader(sys.argv[1], directory), Builder(sys.argv[1], directory)
        signer = Signer(directory)
        check_length(reader, builder, signer)
        check_comment(reader, builder, signer)
        server = Server()
        check_waits(reader, server, builder.list(0))
        server.close()
        signer.server.close()
    finish(30)


main()
