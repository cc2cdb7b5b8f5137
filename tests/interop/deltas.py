# SPDX-License-Identifier: BSD-2-Clause
"""deltas.py TAMIS: the script blacklist-publish of docs/nightly.md, as it stands there, over some nights: each night every
list of the nights before becomes the new one by its patch, byte for byte, and is in force by an import.

Broken to see it fail: with `ls -t` in the script turned round (`ls -tr`) the newest patch is missing; without its `rm -f` of the new list's own
digest a rollback leaves a patch from a list to itself; with the `ln` taken out there is no patch at all.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from command import VECTORS, Tamis, finish, make_program, same, seeded, skip

PAGE = os.path.join(os.path.dirname(VECTORS), "..", "..", "docs", "nightly.md")
NAMES = 20000
NIGHTS = 3


class Publisher:
    """The machine that builds, with its directory of the web server."""

    def __init__(self, binary, directory):
        self.www = os.path.join(directory, "www")
        self.names = os.path.join(directory, "names")
        self.script = os.path.join(directory, "blacklist-publish")
        self.tamis = Tamis(binary, os.path.join(directory, "builder"))
        tools = os.path.join(directory, "bin")
        os.mkdir(self.www)
        os.mkdir(tools)
        os.symlink(os.path.abspath(binary), os.path.join(tools, "tamis"))
        self.environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"], "TAMIS_STORE": os.path.join(directory, "builder"),
                            "WWW": self.www, "NIGHTS": str(NIGHTS)}
        with open(PAGE, encoding="utf-8") as page, open(self.script, "w", encoding="utf-8") as script:
            script.write(re.search(r"^```sh\n(#!/bin/sh\n# /usr/local/bin/blacklist-publish\n.*?)^```$", page.read(),
                                   re.MULTILINE | re.DOTALL)[1])
        make_program(PAGE, "/usr/local/bin/blacklist-publish", self.script)

    def build(self, names):
        with open(self.names, "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in names)
        self.tamis.run("build", "blacklist", self.names, "--kind", "blocked", "-p", "0.1%", "-n", NAMES * 11 // 10, "--keep", 1)

    def publish(self):
        os.makedirs(os.path.join(self.www, "new"), exist_ok=True)
        with open(os.path.join(self.www, "new", "blacklist.tamis.minisig"), "w", encoding="ascii") as file:
            file.write("signature")
        done = subprocess.run([self.script], env=self.environment, capture_output=True, text=True, check=False)
        same("blacklist-publish", (0, "", ""), (done.returncode, done.stdout, done.stderr))

    def stream(self):
        with open(os.path.join(self.www, "blacklist.tamis"), "rb") as file:
            return file.read()

    def files(self):
        return sorted(name for name in os.listdir(self.www) if os.path.isfile(os.path.join(self.www, name)))


def digest_of(stream):
    return stream[16:32].hex()


def patched(publisher, old, work):
    """What the patch from the stream `old` makes of it, or None if there is no patch; and the bytes of the patch."""
    patch = os.path.join(publisher.www, f"blacklist.tamis.{digest_of(old)}.zst")
    if not os.path.exists(patch):
        return None, 0
    base, new = os.path.join(work, "base"), os.path.join(work, "new")
    with open(base, "wb") as file:
        file.write(old)
    subprocess.run(["zstd", "-q", "-f", "-d", "--long=31", f"--patch-from={base}", patch, "-o", new], check=True)
    with open(new, "rb") as file:
        return file.read(), os.path.getsize(patch)


def nights_pass(publisher, reader, names, work):
    """Five nights, in each of which one name in a hundred goes and another comes.  Returns the streams."""
    streams = []
    for night in range(5):
        tonight = names[night * NAMES // 100:night * NAMES // 100 + NAMES]
        publisher.build(tonight)
        publisher.tamis.run("except", "blacklist", "add", f"by-hand-{night}")  # an export of the reader is another stream then
        publisher.publish()
        new = publisher.stream()
        same("the patches are from the last nights", sorted(["blacklist.tamis", "blacklist.tamis.minisig"] + [
            f"blacklist.tamis.{digest_of(old)}.zst" for old in streams[-NIGHTS:]]), publisher.files())
        for old in streams[-NIGHTS:]:
            made, patch_bytes = patched(publisher, old, work)
            same("the old list and the patch are the new list", True, made == new)
            same("the patch is a fraction of the list", True, patch_bytes < len(new) / 2)
        arrived = os.path.join(work, "new")
        if not streams:
            shutil.copy(os.path.join(publisher.www, "blacklist.tamis"), arrived)
        reader.run("import", "blacklist", "--from", "tamis", "--publish", arrived)
        same("the reader has it in force", [digest_of(new)], reader.run("info", "blacklist", "imported_digest"))
        same("with a name of tonight", tonight[-1:], reader.run("check", "blacklist", tonight[-1]))
        publisher.publish()
        same("publishing it again changes nothing", len(streams[-NIGHTS:]) + 2, len(publisher.files()))
        streams.append(new)
    return streams


def main():
    if not shutil.which("zstd"):
        skip("zstd is not installed")
    rng = seeded()
    names = [f"{rng.getrandbits(60):x}.example" for _ in range(NAMES * 2)]
    with tempfile.TemporaryDirectory() as directory:
        publisher, reader = Publisher(sys.argv[1], directory), Tamis(sys.argv[1], os.path.join(directory, "reader"))
        streams = nights_pass(publisher, reader, names, directory)
        publisher.tamis.run("rollback", "blacklist")
        publisher.tamis.run("except", "blacklist", "remove", "by-hand-4")
        publisher.publish()
        new = publisher.stream()
        same("after a rollback the list is that of the night before", True, new == streams[-2])
        same("and a patch leads back to it", True, patched(publisher, streams[-1], directory)[0] == new)
        same("but none from itself", False, f"blacklist.tamis.{digest_of(new)}.zst" in publisher.files())
    finish(30)


main()
