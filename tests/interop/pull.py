# SPDX-License-Identifier: BSD-2-Clause
"""pull.py TAMIS: `tamis pull` from servers that are good, and from those that are not.

After each fault: exit status 2, one sentence, and the list in force is the one from before.

Broken to see it fail: with CURLOPT_RANGE sent without If-Range a file that has changed is joined with
the one before, and refused; without part_is_right() the wrong part is joined; without check_room()
and `limit` the endless stream runs until the disk is full; without in_force_is() the pull after a
rollback says that nothing is new; without was_cut in begin_file() a server that gives no parts "has changed"; without
spool_empty() in fail_too_long() an endless list keeps half of the disk; without look_at_file() a pipe is waited for;
without is_half_written() notes stay behind a kill; without may_pass a locked store costs the transfer.
"""
import fcntl
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from shutil import which

from command import finish, same, seeded
from hostile import Server, authority, first_then, head
from puller import KEYS, Builder, Reader, bad, check, good, unchanged


def check_usual(reader, server, builder):
    """The way of each night."""
    one, two = builder.list(0), builder.list(5000)
    server.answer = server.whole(one)
    good("first pull", reader.pull(server.url(), "--insecure", "--keep", "5"))
    same("keys", ["key0"], reader.tamis.run("check", "list", "key0", "key24999"))
    same("where from", [server.url()], reader.tamis.run("info", "list", "imported_from"))
    same("no spool is left", ["last"], reader.spools())
    sent = server.sent
    unchanged("ETag", reader.pull(server.url(), "--insecure", "--keep", "5"), 1)
    same("nothing was moved", sent, server.sent)
    status, out, _ = reader.pull(server.url(), "--insecure", "--json", "-q")
    same("JSON", (0, False, 1), (status, json.loads(out)["published"], json.loads(out)["generation"]))
    same("quiet", (0, "", ""), reader.pull(server.url(), "--insecure", "-q"))

    # The server tells another ETag for the same list: the head of the stream says so.
    server.answer = server.whole(one, '"again"')
    unchanged("digest in the head", reader.pull(server.url(), "--insecure"), 1)

    server.answer = server.whole(two, '"two"')
    good("another list", reader.pull(server.url(), "--insecure"))
    same("keys", ["key24999"], reader.tamis.run("check", "list", "key0", "key24999"))

    # After a rollback the ETag is that of a list that is not in force.
    reader.tamis.run("rollback", "list")
    same("rolled back", ["key0"], reader.tamis.run("check", "list", "key0", "key24999"))
    good("after a rollback", reader.pull(server.url(), "--insecure"))
    same("again", ["key24999"], reader.tamis.run("check", "list", "key0", "key24999"))
    same("no condition", None, server.requests[-1].headers.get("if-none-match"))

    # A key that was added here makes it another list; so do exceptions that are asked for.
    reader.tamis.run("add", "list", "mine")
    good("after an add", reader.pull(server.url(), "--insecure"))
    same("mine", [], list(check(reader, "mine")))
    with open(os.path.join(reader.directory, "except"), "w", encoding="ascii") as file:
        file.write("key24999\nkey6000\nkey7000\n")
    options = ["--insecure", "--except", file.name]
    good("exceptions", reader.pull(server.url(), *options))
    same("exceptions", [], list(check(reader, "key24999")))
    before = len(server.requests)
    sent = server.sent
    generation = reader.tamis.run("info", "list", "generation")[0]
    unchanged("the same exceptions", reader.pull(server.url(), *options), generation)
    same("by the ETag", (before + 1, sent), (len(server.requests), server.sent))
    with open(file.name, "a", encoding="ascii") as file:
        file.write("key8000\n")
    good("one more exception", reader.pull(server.url(), *options))
    same("one more exception", [], list(check(reader, "key8000")))
    return two


def check_continuing(reader, server, builder):
    """A transfer that is cut goes on, within a pull and in the next one."""
    data = builder.list(100)
    half = len(data) // 2

    server.answer = server.whole(data, '"cut"', cut=half)
    before = reader.in_force()
    bad("a server that cuts", reader, "the next pull goes on there",
        reader.pull(server.url(), "--insecure", "--retry", "0"), before)
    same("the spool stays", ["last", "part"], reader.spools())
    server.sent = 0
    server.answer = server.whole(data, '"cut"')
    good("goes on", reader.pull(server.url(), "--insecure"))
    same("from where it was", len(data) - half, server.sent)
    same("no spool is left", ["last"], reader.spools())

    # In one pull, after a wait.
    data = builder.list(200)
    server.answer = server.whole(data, '"c3"', cut=half)
    server.sent = 0
    good("goes on by itself", reader.pull(server.url(), "--insecure"))
    same("nothing twice", len(data), server.sent)

    # Without ETag, or with a weak one, it begins again, though the reader has read some of it.
    for etag in (None, 'W/"weak"'):
        data = builder.list(300 if etag else 400)
        server.answer = once_cut(server, data, etag, half)
        good(f"begins again, ETag {etag}", reader.pull(server.url(), "--insecure"))
        same("no part was asked for", None, server.requests[-1].headers.get("range"))

    # The file is another one when it goes on.
    one, two = builder.list(500), builder.list(600)
    server.answer = server.whole(one, '"five"', cut=half)
    bad("cut", reader, "goes on", reader.pull(server.url(), "--insecure", "--retry", "0"), reader.in_force())
    server.answer = server.whole(two, '"six"')
    good("another file since", reader.pull(server.url(), "--insecure"))
    same("the new one", (["key600"], []), (check(reader, "key600"), check(reader, "key500")))

    # It changes in the middle of one pull.
    one, two = builder.list(700), builder.list(800)
    server.answer = first_then(server.whole(one, '"seven"', cut=half), server.whole(two, '"eight"'))
    good("another file in one pull", reader.pull(server.url(), "--insecure"))
    same("the new one", ["key800"], check(reader, "key800", "key700"))

    # All was there, and the process ended before it was published: only a question is asked.
    data = builder.list(900)
    server.answer = server.whole(data, '"nine"', cut=len(data) - 1)
    reader.pull(server.url(), "--insecure", "--retry", "0")
    part = [name for name in os.listdir(os.path.join(reader.store, "pulls")) if name.endswith(".part")]
    with open(os.path.join(reader.store, "pulls", part[0]), "ab") as file:
        file.write(data[-1:])
    server.answer = server.whole(data, '"nine"')
    server.sent = 0
    good("a spool that is whole", reader.pull(server.url(), "--insecure"))
    same("nothing was moved", 0, server.sent)
    same("in force", ["key900"], check(reader, "key900"))

    # Bytes of the spool that are not those that were received (a power cut): it begins again.
    data = builder.list(1000)
    server.answer = server.whole(data, '"ten"', cut=half)
    reader.pull(server.url(), "--insecure", "--retry", "0")
    part = [name for name in os.listdir(os.path.join(reader.store, "pulls")) if name.endswith(".part")]
    with open(os.path.join(reader.store, "pulls", part[0]), "r+b") as file:
        file.seek(4096 + half // 2)
        file.write(bytes(1000))
    server.answer = server.whole(data, '"ten"')
    good("a spool with wrong bytes", reader.pull(server.url(), "--insecure"))
    same("in force", ["key1000"], check(reader, "key1000", "key999"))


def more_than_told(data, etag):
    """The second half of a list, and more, in chunks."""
    def answer(request):
        if "range" not in request.headers:
            request.head(200, f"ETag: {etag}", f"Content-Length: {len(data)}")
            request.send(data[:len(data) // 2])
            return
        begin = int(request.headers["range"][6:-1])
        body = data[begin:] + b"x" * 100
        request.head(206, f"ETag: {etag}", f"Content-Range: bytes {begin}-{len(data) - 1}/{len(data)}", "Transfer-Encoding: chunked")
        request.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    return answer


def once_cut(server, data, etag, cut):
    return first_then(server.whole(data, etag, cut=cut), server.whole(data, etag))


def endless(begin):
    """The begin of a list, and then no end."""
    def answer(request):
        request.head(200)
        request.send(begin)
        while True:
            request.send(bytes(65536))
    return answer


def endless_head(request):
    request.send("HTTP/1.1 200 OK\r\n")
    while True:
        request.send("X-Filler: " + "x" * 1000 + "\r\n")


def trickle(request):
    request.head(200, "Content-Length: 100000")
    for _ in range(100000):
        request.send(b"x")
        time.sleep(0.1)


def wrong_part(data, begin, end, etag):
    """Sends another part than it was asked for, whenever one is asked for."""
    def answer(request):
        if "range" not in request.headers:
            request.head(200, f'ETag: {etag}', f"Content-Length: {len(data)}")
            request.send(data[:len(data) // 2])
            return
        request.head(206, f"ETag: {etag}", f"Content-Range: bytes {begin}-{end}/{len(data)}",
                     f"Content-Length: {end - begin + 1}")
        request.send(data[begin:end + 1])
    return answer


def check_faults(reader, server, builder):
    data = builder.list(2000)
    before = reader.in_force()
    size = len(data)

    def fault(what, words, answer, *options):
        server.answer = answer
        started = len(server.requests)
        bad(what, reader, words, reader.pull(server.url(), "--insecure", "--retry", "0", *options), before)
        return len(server.requests) - started

    for status, words in ((404, "there is no such file"), (403, "right user"), (401, "right user"), (410, "no such"),
                          (500, "status 500"), (503, "status 503"), (418, "status 418"), (204, "status 204")):
        fault(f"status {status}", words, head(status, "Content-Length: 9" if status != 204 else "X: y",
                                              body=b"sorry...\n" if status != 204 else b""))
    fault("garbage for HTTP", "HTTP/0.9", lambda r: r.send(b"\0\1\2garbage\r\n\r\n" * 10))
    fault("garbage for a list", "wrong first bytes", head(200, "Content-Length: 5000", body=os.urandom(5000)))
    fault("a page for a list", "wrong first bytes", head(200, body=b"<html>log in here" + b" " * 500))
    fault("nothing", "Empty reply", lambda r: None)
    fault("a reset", "reset", lambda r: r.reset())
    fault("an empty file", "", head(200, "Content-Length: 0"))
    fault("a length that is too long", "transfer closed", head(200, f"Content-Length: {size + 10}", body=data))
    same("without an ETag nothing is kept", False, "part" in reader.spools())
    for etag, words in ((None, "the server gives no ETag"), ('W/"weak"', "the server's ETag is weak")):
        server.answer = server.whole(data, etag, cut=size // 2)
        for retries, beginning in ("0", "the next pull begins anew, as "), ("1", "cannot go on where it was cut, as "):
            bad(f"a server that cuts, ETag {etag}, {retries} retries", reader, beginning + words,
                reader.pull(server.url(), "--insecure", "--retry", retries), before)
    fault("a length that is too short", "truncated", head(200, f"Content-Length: {size - 10}", body=data))
    server.answer = server.whole(data, '"cuts"', cut=size // 2, ranges=False)
    bad("a server that cuts, and gives no parts", reader, "(2 tries); a transfer cannot go on where it was cut, as the server sends the whole file",
        reader.pull(server.url(), "--insecure", "--retry", "1"), before)
    server.answer = more_than_told(data, '"more"')
    bad("more than was told", reader, f"sends more than the {size} bytes that it has told",
        reader.pull(server.url(), "--insecure", "--retry", "1"), before)
    same("is not kept", False, "part" in reader.spools())
    fault("no length, cut", "truncated", head(200, body=data[:-100]))
    fault("a byte more", "", head(200, body=data + b"x"))
    wrong = bytearray(data)
    wrong[size // 2] ^= 4
    fault("a wrong bit", "checksum does not match", head(200, body=bytes(wrong)))
    fault("a chunk that is none", "", head(200, "Transfer-Encoding: chunked", body=b"zz\r\nxx"))
    fault("an endless stream", "longer than 1.0 MiB", endless(builder.list(2000, KEYS, True, "-n", "5M")[:5000]), "--max-bytes", "1MiB")
    same("is not kept", False, "part" in reader.spools())
    fault("an endless head", "", endless_head)
    fault("a length beyond --max-bytes", "longer than", head(200, f"Content-Length: {size}", body=data), "--max-bytes", "1KiB")
    fault("a length beyond the disk", "free some space", head(200, f"Content-Length: {2**60}", body=data))
    fault("a length beyond numbers", "", head(200, f"Content-Length: {2**70}", body=data[:-100]))
    fault("too slow", "", trickle, "--timeout", "2s")
    fault("a circle", "redirects", lambda r: r.head(302, "Location: /list", "Content-Length: 0"))
    fault("a redirect to a file", "sends it on to a URL that is not taken", lambda r: r.head(302, "Location: file:///etc/passwd", "Content-Length: 0"))
    fault("a redirect to ftp", "", lambda r: r.head(302, "Location: ftp://127.0.0.1/x", "Content-Length: 0"))
    fault("a redirect to nowhere", "status 302", lambda r: r.head(302, "Content-Length: 0"))
    fault("a part that nobody asked for", "another part", head(206, f"Content-Range: bytes 0-{size - 1}/{size}", body=data))
    server.answer = head(304)
    bad("304 that nobody asked for", reader, "status 304, which answers nothing",
        reader.pull(server.url("/other"), "--insecure", "--retry", "0"), before)
    same("tries", 1, fault("unavailable", "503", head(503, "Content-Length: 0")))
    server.answer = head(503, "Content-Length: 0")
    started, begun = time.monotonic(), len(server.requests)
    status = reader.pull(server.url(), "--insecure", "--retry", "2")
    same("tries", 3, len(server.requests) - begun)
    same("the tries are told", True, "(3 tries)" in status[2])
    same("waits of 1 and 2 s", True, time.monotonic() - started >= 3)

    # A wrong part is never joined: the whole is asked for, and comes.
    for what, begin in (("from the start", 0), ("too far", size // 2 + 1), ("too early", size // 2 - 1)):
        server.answer = wrong_part(data, begin, size - 1, '"part"')
        reader.pull(server.url(), "--insecure", "--retry", "0")
        same(f"{what}: old list", before, reader.in_force())
    server.answer = server.whole(data, '"part"', ranges=False)
    good("a server that ignores Range", reader.pull(server.url(), "--insecure"))
    same("in force", ["key2000"], check(reader, "key2000", "key1999"))


def check_places(reader, server, builder, directory):
    """No host, refused, files, users, proxies."""
    before = reader.in_force()
    once = ["--insecure", "--retry", "0"]
    bad("no host", reader, "resolve", reader.pull("http://no-such-host.invalid/list", *once), before)
    bad("refused", reader, "onnect", reader.pull("http://127.0.0.1:1/list", *once), before)
    bad("http is not for all", reader, "can change what comes by http", reader.pull(server.url()), before)
    bad("no URL", reader, "begins with https://", reader.pull("ftp://127.0.0.1/list"), before)
    bad("no file", reader, "No such file", reader.pull(f"file://{directory}/none"), before)
    bad("a directory", reader, "it is a directory", reader.pull(f"file://{directory}"), before)
    pipe = os.path.join(directory, "a pipe")
    os.mkfifo(pipe)
    bad("a pipe", reader, "it is a pipe or a device", reader.pull(f"file://{directory}/a%20pipe"), before)
    bad("a device", reader, "it is a pipe or a device", reader.pull("file:///dev/zero"), before)
    bad("a file of another host", reader, "names no file of this machine", reader.pull(f"file://host{pipe}"), before)
    data = builder.list(3000)
    path = os.path.join(directory, "stream")
    good("a file", reader.pull(f"file://{path}"))
    unchanged("a file", reader.pull(f"file://{path}"), reader.tamis.run("info", "list", "generation")[0])

    # A user in the URL goes to the server, and nowhere else.
    server.answer = server.whole(builder.list(3100), '"user"')
    good("a user", reader.pull(server.url(user="tom:s3cret@"), "--insecure"))
    same("sent", "Basic dG9tOnMzY3JldA==", server.requests[-1].headers.get("authorization"))
    everything = "".join(reader.tamis.run("info", "list")) + spool_text(reader)
    server.answer = head(500, "Content-Length: 0")
    everything += "".join(map(str, reader.pull(server.url(path="/list?token=s3cret", user="tom:s3cret@"), *once)))
    same("not shown", False, "s3cret" in everything)
    server.answer = server.whole(builder.list(3200), '"netrc"')
    with open(os.path.join(directory, ".netrc"), "w", encoding="ascii") as file:
        file.write("machine 127.0.0.1 login ann password hidden\n")
    os.chmod(file.name, 0o600)
    good("without --netrc", reader.pull(server.url(), "--insecure"))
    same("not sent", None, server.requests[-1].headers.get("authorization"))
    server.answer = server.whole(builder.list(3300), '"netrc2"')
    good("--netrc", reader.pull(server.url(), "--insecure", "--netrc"))
    same("sent", "Basic YW5uOmhpZGRlbg==", server.requests[-1].headers.get("authorization"))

    # A proxy by the usual variable, and an exception from it.
    proxy = Server()
    proxy.answer = proxy.whole(builder.list(3400), '"proxy"')
    good("a proxy", reader.pull("http://builder.invalid/list", "--insecure", http_proxy=proxy.url("")))
    same("through the proxy", "http://builder.invalid/list", proxy.requests[-1].path)
    server.answer = server.whole(builder.list(3500), '"direct"')
    good("no proxy", reader.pull(server.url(), "--insecure", http_proxy=proxy.url(""), no_proxy="127.0.0.1"))
    same("not through the proxy", 1, len(proxy.requests))
    proxy.close()

    # Redirects are followed; the user is not told to another host.
    server.answer = first_then(lambda r: r.head(302, "Location: /there", "Content-Length: 0"),
                               server.whole(builder.list(3600), '"there"'))
    good("a redirect", reader.pull(server.url(), "--insecure"))
    same("followed", "/there", server.requests[-1].path)


def spool_text(reader):
    text = ""
    folder = os.path.join(reader.store, "pulls")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            text += file.read(4096).decode("latin-1")
    return text


def check_packed(reader, server, builder):
    one = gzip.compress(builder.list(4000))
    server.answer = server.whole(one, '"gz"', cut=len(one) // 2)
    good("gzip, in two parts", reader.pull(server.url("/list.gz"), "--insecure"))
    same("in force", ["key4000"], check(reader, "key4000"))
    before = reader.in_force()
    one = gzip.compress(builder.list(4100))
    server.answer = head(200, "Content-Encoding: gzip", body=one)
    good("gzip as an encoding", reader.pull(server.url(), "--insecure"))
    before = reader.in_force()
    server.answer = head(200, body=gzip.compress(builder.list(4200))[:-20])
    bad("gzip, cut", reader, "cut short", reader.pull(server.url(), "--insecure", "--retry", "0"), before)
    bomb = gzip.compress(bytes(2**26))
    server.answer = head(200, body=bomb)
    bad("gzip of zeros", reader, "", reader.pull(server.url(), "--insecure", "--retry", "0"), before)
    if which("zstd"):
        packed = subprocess.run(["zstd", "-qc"], input=builder.list(4300), stdout=subprocess.PIPE, check=True)
        server.answer = server.whole(packed.stdout, '"zst"')
        good("zstd", reader.pull(server.url("/list.zst"), "--insecure"))
        same("in force", ["key4300"], check(reader, "key4300"))


def check_tls(reader, builder, directory):
    one, two = os.path.join(directory, "one"), os.path.join(directory, "two")
    os.mkdir(one)
    os.mkdir(two)
    ca, context = authority(one)
    other, _ = authority(two)
    server = Server(context)
    server.answer = server.whole(builder.list(5000), '"tls"')
    before = reader.in_force()
    bad("no CA", reader, "certificate", reader.pull(server.url(), "--retry", "0"), before)
    bad("another CA", reader, "certificate", reader.pull(server.url(), "--cacert", other, "--retry", "0"), before)
    bad("no such CA", reader, "", reader.pull(server.url(), "--cacert", "/none", "--retry", "0"), before)
    bad("another host", reader, "", reader.pull(server.url().replace("127.0.0.1", "localhost"), "--cacert", ca,
                                               "--retry", "0"), before)
    good("--cacert", reader.pull(server.url(), "--cacert", ca))
    same("in force", ["key5000"], check(reader, "key5000"))
    for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        unchanged(variable, reader.pull(server.url(), **{variable: ca}),
                  reader.tamis.run("info", "list", "generation")[0])
    plain = Server()
    plain.answer = plain.whole(builder.list(5100))
    before = reader.in_force()
    server.answer = lambda r: r.head(302, f"Location: {plain.url()}", "Content-Length: 0")
    bad("from https to http", reader, "", reader.pull(server.url(), "--cacert", ca, "--retry", "0"), before)
    same("nobody was asked", 0, len(plain.requests))
    bad("not TLS", reader, "", reader.pull(plain.url().replace("http", "https"), "--retry", "0"), before)
    plain.close()
    server.close()


def check_two_at_once(reader, server, builder):
    """The second pull of a name waits for the first, or says that there is one."""
    data = builder.list(6000)
    let_go = threading.Event()
    begun = threading.Event()

    def pace():
        begun.set()
        let_go.wait(60)
    server.answer = first_then(server.whole(data, '"slow"', pace=pace), server.whole(data, '"slow"'))
    before = reader.in_force()
    first = reader.start(server.url(), "--insecure")
    begun.wait(60)
    call = [reader.binary, "--wait", "0", "--store", reader.store, "pull", "list", server.url(), "--insecure"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=reader.environment)
    same("says so", (2, True), (done.returncode, "another process pulls 'list'" in done.stderr))
    same("in force", before, reader.in_force())
    second = reader.start(server.url(), "--insecure")
    other = reader.pull(server.url(), "--insecure", name="other")
    good("another name does not wait", other)
    reader.tamis.run("drop", "other")
    let_go.set()
    same("first", (0, ""), (lambda out: (first.wait(), out[1]))(first.communicate()))
    out = second.communicate()
    same("second", 0, second.returncode)
    same("second has nothing new", True, "is unchanged" in out[1])


def check_locked_store(reader, server, builder):
    """Somebody has the store's lock for longer than --wait: what has come stays for the next pull."""
    data = builder.list(6500)
    with open(os.path.join(reader.store, "catalog.lock"), "rb") as lock:
        def pace():
            fcntl.flock(lock, fcntl.LOCK_EX)
        server.answer = server.whole(data, '"locked"', pace=pace)
        call = [reader.binary, "--wait", "0.2", "--store", reader.store, "pull", "list", server.url(), "--insecure"]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=reader.environment)
        same("locked", (2, True), (done.returncode, "the catalog is locked" in done.stderr))
        same("the spool stays", True, "part" in reader.spools())
        fcntl.flock(lock, fcntl.LOCK_UN)
    server.answer = server.whole(data, '"locked"')
    server.sent = 0
    good("goes on", reader.pull(server.url(), "--insecure"))
    same("from where it was", True, server.sent < len(data))


def check_signal(reader, server, builder):
    data = builder.list(7000)
    begun = threading.Event()

    def pace():
        begun.set()
        time.sleep(0.2)
    server.answer = server.whole(data, '"signal"', pace=pace)
    before = reader.in_force()
    pull = reader.start(server.url(), "--insecure")
    begun.wait(60)
    time.sleep(0.5)
    pull.terminate()
    err = pull.communicate()[1]
    same("SIGTERM", (143, True), (pull.returncode, "stopped by SIGTERM" in err and err.count("\n") == 1))
    same("in force", before, reader.in_force())
    server.answer = server.whole(data, '"signal"')
    server.sent = 0
    good("goes on", reader.pull(server.url(), "--insecure"))
    same("from where it was", True, 0 < server.sent < len(data))


def check_leftovers(reader, server, builder):
    """A spool that nobody goes on with is removed by repair, and after a week by any pull."""
    data = builder.list(8000)
    server.answer = server.whole(data, '"left"', cut=len(data) // 2)
    reader.pull(server.url(), "--insecure", "--retry", "0")
    same("left", ["last", "part"], reader.spools())
    same("verify", [], reader.tamis.run("verify"))
    told = "\n".join(reader.tamis.run("repair", "--dry-run"))
    same("a dry run tells", True, ".part: " in told)
    same("and removes nothing", ["last", "part"], reader.spools())
    told = "\n".join(reader.tamis.run("repair"))
    same("repair tells", True, ".part: " in told)
    same("repair removes", ["last"], reader.spools())
    folder = os.path.join(reader.store, "pulls")
    last = [name for name in os.listdir(folder) if name.endswith(".last")][0]

    def kill_while_noting(name):
        with open(os.path.join(folder, name + ".new"), "wb") as file:
            file.write(b"tamis-pull 1\n")
    kill_while_noting(last)
    with open(os.path.join(folder, last[:16] + ".part"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        same("notes of a pull that runs stay", [], reader.tamis.run("repair"))
    os.unlink(lock.name)
    same("half of notes", [True], [".last.new: " in line for line in reader.tamis.run("repair")])
    kill_while_noting(last)
    kill_while_noting("0123456789abcdef.last")
    reader.pull(server.url(), "--insecure", "--retry", "0")
    same("both are gone", [last], [name for name in os.listdir(folder) if ".last" in name])
    part = [name for name in os.listdir(folder) if name.endswith(".part")][0]
    old = time.time() - 8 * 86400
    os.utime(os.path.join(folder, part), (old, old))
    server.answer = server.whole(data, '"left"')
    good("another name", reader.pull(server.url(), "--insecure", name="other"))
    reader.tamis.run("drop", "other")
    told = reader.tamis.run("repair")
    same("notes of a filter that is not there", [True], [".last: " in line for line in told])
    same("once", [], reader.tamis.run("repair"))
    same("gone", [], [name for name in os.listdir(folder) if name.endswith(".part")])


def main():
    seeded()
    with tempfile.TemporaryDirectory() as directory:
        reader, builder = Reader(sys.argv[1], directory), Builder(sys.argv[1], directory)
        server = Server()
        check_usual(reader, server, builder)
        check_continuing(reader, server, builder)
        check_faults(reader, server, builder)
        check_places(reader, server, builder, directory)
        check_packed(reader, server, builder)
        check_tls(reader, builder, directory)
        check_two_at_once(reader, server, builder)
        check_locked_store(reader, server, builder)
        check_signal(reader, server, builder)
        check_leftovers(reader, server, builder)
    finish(200)


main()
