# SPDX-License-Identifier: BSD-2-Clause
"""pull_signed.py TAMIS: `tamis pull` of lists that minisign has signed, and of patches.

Broken to see it fail: without the comparison of keys in may_ask_if_new() a list that was never
verified is unchanged; without the size of the frame in patch_apply() zeros fill the disk; without learn_etag() the list of the next
night comes whole; without its comparisons of digest and length a list that came between is never taken.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from command import finish, same, seeded
from hostile import Server
from puller import Builder, Reader, bad, check, good, unchanged


def check_signed(reader, builder, directory):
    """--verify: the signature is asked for first, and decides."""
    if not shutil.which("minisign"):
        print("minisign is not installed: nothing is signed")
        return
    keys = {}
    for name in ("good", "wrong"):
        keys[name] = os.path.join(directory, name)
        subprocess.run(["minisign", "-G", "-f", "-W", "-p", keys[name] + ".pub", "-s", keys[name] + ".sec"], check=True,
                       capture_output=True)

    def sign(data, key="good"):
        path = os.path.join(directory, "list")  # the trusted comment says file:list
        with open(path, "wb") as file:
            file.write(data)
        subprocess.run(["minisign", "-S", "-s", keys[key] + ".sec", "-m", path, "-x", path + ".minisig"], check=True,
                       capture_output=True)
        with open(path + ".minisig", "rb") as file:
            return file.read()

    server = Server()

    def offer(data, signature, etag, **options):
        whole, small = server.whole(data, etag, **options), server.whole(signature or b"", None)
        server.answer = lambda request: (
            whole(request) if not request.path.split("?")[0].endswith(".minisig")
            else small(request) if signature else request.head(404, "Content-Length: 0"))
    verify = ["--verify", keys["good"] + ".pub"]
    before = reader.in_force()
    one = builder.list(10000)
    offer(one, None, '"s1"')
    bad("no signature", reader, "minisig is not there", reader.pull(server.url(), *verify), before)
    offer(one, sign(one, "wrong"), '"s1"')
    bad("a wrong key", reader, "key", reader.pull(server.url(), *verify), before)
    same("nothing but the signature was asked for", True, server.requests[-1].path.endswith(".minisig"))
    offer(one, b"garbage" * 100, '"s1"')
    bad("a signature that is none", reader, "", reader.pull(server.url(), *verify), before)
    offer(one, b"x" * 100000, '"s1"')
    bad("a long signature", reader, "longer than 16384", reader.pull(server.url(), *verify), before)
    other = bytearray(one)
    other[-20] ^= 1
    offer(bytes(other), sign(one), '"s1"')
    bad("a list that is not the signed one", reader, "", reader.pull(server.url(), *verify), before)
    two = builder.list(10100)
    offer(two, sign(one), '"s1"')
    bad("a good list that is not the signed one", reader, "", reader.pull(server.url(), *verify), before)
    same("is not kept", False, "part" in reader.spools())

    # Not signed, then signed: what is in force was not verified, so the ETag does not do.
    offer(one, sign(one), '"s1"')
    good("not verified", reader.pull(server.url(), "--insecure"))
    generation = reader.tamis.run("info", "list", "generation")[0]
    server.sent = 0
    good("verified: what is in force was not", reader.pull(server.url(), *verify, "--insecure"))
    differ = reader.tamis.run("info", "list", "generation")[0]
    same("a generation of its own", False, differ == generation)
    generation = differ
    same("all of it was read", True, server.sent >= len(one))
    server.sent = 0
    unchanged("verified; with --insecure the file is another one", reader.pull(server.url(), *verify), generation)
    same("all of it was read again", True, server.sent >= len(one))
    server.sent = 0
    unchanged("verified already", reader.pull(server.url(), *verify), generation)
    same("nothing but the signature was read", True, server.sent < 1000)
    half = len(two) // 2
    offer(two, sign(two), '"s2"', cut=half)
    bad("signed, cut", reader, "goes on there", reader.pull(server.url(), *verify, "--retry", "0"), reader.in_force())
    offer(two, sign(two), '"s2"')
    good("signed, in two parts", reader.pull(server.url("/list"), *verify))
    same("in force", ["key10100"], check(reader, "key10100", "key10099"))
    three = builder.list(10200)
    offer(three, sign(three), '"s3"')
    good("a query stays behind", reader.pull(server.url("/list?q=1"), *verify))
    same("where the signature is", ["/list.minisig?q=1"],
         [request.path for request in server.requests[-2:] if "minisig" in request.path])
    offer(one, sign(one), '"s4"')
    good("another place", reader.pull(server.url("/list"), *verify, "--signature", server.url("/there.minisig")))

    # An old list with a good signature.
    old = builder.list(10300)
    new = builder.list(10310)
    offer(new, sign(new), '"s5"')
    good("the newer list", reader.pull(server.url(), *verify, "--newer-than-mine"))
    before = reader.in_force()
    offer(old, sign(old), '"s6"')
    bad("an old list", reader, "is older than the one in force", reader.pull(server.url(), *verify, "--newer-than-mine"), before)
    good("an old list that may come", reader.pull(server.url(), *verify))
    server.close()


def check_etag_of_patches(reader, server, builder, offer, patch, options):
    """What the server says of the list belongs to what the patch has made only if it is that list."""
    before, made, other = [builder.list(30000 + 10 * i) for i in range(3)]
    digest = before[16:32].hex()
    for what, data, etag, ranges in (("another list", other, '"e1"', True), ("a longer one", made + b"x", '"e2"', True),
                                     ("the same, without parts", made, '"e3"', False)):
        offer(before, '"e0"', {})
        good("before", reader.pull(server.url(), *options))
        bytes_ = patch(before, made)
        whole, small = server.whole(data, etag, ranges=ranges), server.whole(bytes_, None)
        server.answer = lambda r: whole(r) if r.path == "/list" else small(r) if digest in r.path else r.head(404, "Content-Length: 0")
        good(f"by a patch, and the server has {what}", reader.pull(server.url(), *options))
        same(f"in force, {what}", made[16:32].hex(), reader.in_force())
        whole = server.whole(made if data is made else other, etag)
        reader.pull(server.url(), *options)
        same(f"known, {what}", etag if data is made else None, server.requests[-1].headers.get("if-none-match"))
        same(f"then in force, {what}", (made if data is made else other)[16:32].hex(), reader.in_force())


def check_patches(reader, builder, directory):
    """--patches: a list of the one before and a patch; whatever is wrong with it costs a request."""
    if not shutil.which("zstd"):
        print("zstd is not installed: nothing is patched")
        return
    server = Server()
    old, new = os.path.join(directory, "old"), os.path.join(directory, "new")

    def patch(before, after):
        for path, data in ((old, before), (new, after)):
            with open(path, "wb") as file:
                file.write(data)
        return subprocess.run(["zstd", "-q", "-q", "-19", "--long=27", f"--patch-from={old}", new, "-c"],
                              stdout=subprocess.PIPE, check=True).stdout

    def offer(data, etag, patches):
        whole = server.whole(data, etag)
        kept = {f"/list.{digest}.zst": server.whole(bytes(bytes_), None) for digest, bytes_ in patches.items()}
        server.answer = lambda request: (
            whole(request) if request.path == "/list"
            else kept[request.path](request) if request.path in kept else request.head(404, "Content-Length: 0"))
        server.sent = 0

    options = ["--insecure", "--patches"]
    nights = [builder.list(20000 + i) for i in range(6)]
    digests = [night[16:32].hex() for night in nights]
    offer(nights[0], '"p0"', {})
    good("the first night", reader.pull(server.url(), *options))
    same("a base is kept", ["base", "last"], reader.spools())
    good_patch = patch(nights[0], nights[1])
    offer(nights[1], '"p1"', {digests[0]: good_patch})
    good("by a patch", reader.pull(server.url(), *options))
    same("in force", digests[1], reader.in_force())
    same("nothing but the patch and a head was moved", len(good_patch) + 32, server.sent)
    generation = reader.tamis.run("info", "list", "generation")[0]
    server.sent = 0
    unchanged("the same night", reader.pull(server.url(), *options), generation)
    same("nothing was moved", 0, server.sent)
    check_etag_of_patches(reader, server, builder, offer, patch, options)
    offer(nights[0], '"p0"', {})
    good("the first night again", reader.pull(server.url(), *options))
    offer(nights[1], '"p1"', {digests[0]: good_patch})
    good("the second night again", reader.pull(server.url(), *options))
    same("in force", digests[1], reader.in_force())
    good_patch = patch(nights[1], nights[2])
    wrong = bytearray(good_patch)
    wrong[len(wrong) // 2] ^= 1
    bomb = subprocess.run(["zstd", "-q", "-c"], input=bytes(2**26), stdout=subprocess.PIPE, check=True).stdout
    for i, (what, bytes_) in enumerate((
            ("garbage", os.urandom(1000)), ("a wrong bit", bytes(wrong)), ("cut", good_patch[:-5]),
            ("more behind it", good_patch + b"x"), ("of another list", patch(nights[3], nights[2])),
            ("to another list", patch(nights[1], b"no list")), ("a long one", os.urandom(200000)), ("zeros", bomb))):
        offer(nights[2], '"p2"', {digests[1]: bytes_})
        good(f"a patch that is {what}", reader.pull(server.url(), *options))
        same(f"a patch that is {what}", digests[2], reader.in_force())
        reader.tamis.run("rollback", "list")
        offer(nights[1], f'"again{i}"', {})
        unchanged(f"after {what}", reader.pull(server.url(), *options), reader.tamis.run("info", "list", "generation")[0])
        # The base is of the night after; the old one comes back by another list in between.
        offer(nights[4 + i % 2], f'"between{i}"', {})
        good("in between", reader.pull(server.url(), *options))
        offer(nights[1], f'"back{i}"', {})
        good("back", reader.pull(server.url(), *options))
    good("without --patches", reader.pull(server.url(), "--insecure", "-q"))
    same("no base is kept", ["last"], reader.spools())
    server.close()


def main():
    seeded()
    with tempfile.TemporaryDirectory() as directory:
        reader, builder = Reader(sys.argv[1], directory), Builder(sys.argv[1], directory)
        reader.tamis.run("create", "other", "-n", "10")
        check_signed(reader, builder, directory)
        check_patches(reader, builder, directory)
    finish(20)


main()
