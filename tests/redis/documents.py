# SPDX-License-Identifier: BSD-2-Clause
"""documents.py MODULE TAMIS: what docs/redis.md shows of TLS, users, systemd and Prometheus happens.

Its redis.conf starts a server, its sessions are replayed, its drop-in is given to systemd-analyze, and its exporter is
asked.  It was seen to fail for a user without the TAMIS.* commands beside SETBIT, and for a misspelt setting of the
drop-in.
"""
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

from harness import MODULE, TAMIS, eventually, run, same, served
from pages import Page, bash
from redis_server import free_port, skip

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SHARE = os.path.join(TOP, "tools", "redis", "share")
PAGE = Page("redis.md")
missing = []


class TlsServer:
    """The server of the document, on a port of its own."""

    def __enter__(self):
        self.directory, self.port = tempfile.mkdtemp(prefix="tamis-redis-"), free_port()
        os.symlink(TAMIS, os.path.join(self.directory, "tamis-command"))
        status, said = bash(PAGE.blocks("sh")[0], self.directory, self.directory)
        same(status, 0, said)
        conf = PAGE.blocks("conf")[0].replace("6379", str(self.port))
        conf = re.sub("/usr/lib/.*/tamis.so", MODULE, conf)
        with open(os.path.join(self.directory, "redis.conf"), "w", encoding="utf-8") as file:
            file.write(conf + "bind 127.0.0.1\nsave \"\"\n")
        self.log = os.path.join(self.directory, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["redis-server", "redis.conf"], cwd=self.directory, stdout=log, stderr=log)
        eventually(lambda: self.process.poll() is not None or "Ready to accept" in self.said(), "the server is up")
        same(self.process.poll(), None, self.said())
        return self

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory)


def replay(tls):
    """Each command of the session gives what stands below it."""
    head = "shopt -s expand_aliases\n"
    steps = PAGE.steps()
    same(len(steps) > 10, True, "the session is found")
    for command, output in steps:
        real = re.sub(r"^tamis ", "./tamis-command ", command).replace("6379", str(tls.port))
        if command.startswith("alias "):
            head += real + "\n"
        else:
            same(bash(head + real + " || true", tls.directory, tls.directory), (0, output), command)


def metrics(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            return dict(re.findall(r'^redis_script_values\{key="(\w+)"\} (\S+)$', answer.read().decode(), re.MULTILINE))
    except OSError:
        return {}


def exporter_shows(tls):
    if not shutil.which("prometheus-redis-exporter"):
        missing.append("prometheus-redis-exporter is not installed")
        return
    port = free_port()
    command = PAGE.blocks("sh")[1].replace("6379", str(tls.port)).replace("/usr/share/tamis", SHARE).replace("\\\n", " ")
    with open(os.path.join(tls.directory, "exporter.log"), "wb") as log:
        exporter = subprocess.Popen(command.split() + ["-web.listen-address", f"127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        eventually(lambda: metrics(port), "the exporter shows the figures of the script")
        shown = metrics(port)
        same((shown["tamis_filters"], shown["tamis_attached_filters"]), ("2", "1"), "filters")
        same(float(shown["tamis_mapped_bytes"]) > 1250000, True, "mapped bytes")
        for name in re.findall(r"`(tamis_\w+)`", PAGE.text) + re.findall(r'redis_script_values\{key="(\w+)"\}', PAGE.text):
            same(name in shown, True, f"{name} of the document is shown")
    finally:
        exporter.kill()
        exporter.wait()


def tls_users_and_figures_are_as_shown():
    if not shutil.which("openssl"):
        skip("openssl is not installed")
    with TlsServer() as tls:
        replay(tls)
        exporter_shows(tls)


def a_user_needs_both_names_of_a_command():
    with served() as (redis, client):
        client.good("ACL", "SETUSER", "php", "on", ">x", "~*", "+setbit", "+getbit", "+auth")
        client.good("SETBIT", "plain", 1, 1)
        user = redis.client()
        user.good("AUTH", "php", "x")
        same(user.good("GETBIT", "plain", 1), 1, "other keys need only their own")


def systemd_takes_the_drop_in():
    unit = "/lib/systemd/system/redis-server.service"
    if not shutil.which("systemd-analyze") or not os.path.exists(unit):
        missing.append("systemd-analyze, or redis-server.service, is not installed")
        return
    with tempfile.TemporaryDirectory() as directory:
        place = os.path.join(directory, "redis-server.service.d")
        os.mkdir(place)
        shutil.copy(unit, directory)
        for extra in ("", "Misspelt=yes\n"):
            shutil.copy(os.path.join(SHARE, "redis-server.conf"), os.path.join(place, "tamis.conf"))
            with open(os.path.join(place, "tamis.conf"), "a", encoding="utf-8") as file:
                file.write(extra)
            done = subprocess.run(["systemd-analyze", "verify", os.path.join(directory, "redis-server.service")],
                                  capture_output=True, text=True, check=False)
            said = [line for line in done.stderr.splitlines() if "tamis.conf" in line]
            same((done.returncode, len(said)), (0, 1 if extra else 0), f"systemd-analyze: {done.stderr}")


run(tls_users_and_figures_are_as_shown, a_user_needs_both_names_of_a_command, systemd_takes_the_drop_in)
if missing:
    skip("; ".join(missing))
