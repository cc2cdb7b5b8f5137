# SPDX-License-Identifier: BSD-2-Clause
"""consumers.py TAMIS HEADER LIBRARY PYTHONPATH: docs/consumers.md, as it stands there, with the real programs: squid,
Postfix, unbound, dnsdist, rspamd and nginx ask a list, which is published anew while they run.

Each program is started on a port of 127.0.0.1 with the files of the page, in which only paths and ports are others. It must
say no to what is listed, yes to what is not, and the other way round after another list was published, without a restart.

Broken to see it fail: a lookup of the filter only when the program starts (a stored answer of the first question) fails
each `after the next list`; without the flush before a read `check --answer` never answers, and squid, Postfix and the
first test wait; without --channel squid takes the number for the host.
"""
import contextlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import smtplib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import command
from command import VECTORS, Tamis, finish, same, skip

PAGE = os.path.join(os.path.dirname(VECTORS), "..", "..", "docs", "consumers.md")
# Each of them, with the file of Debian that shows that it is there.
PROGRAMS = {"squid": "/usr/sbin/squid", "postfix": "/usr/sbin/postfix", "unbound": "/usr/sbin/unbound",
            "dnsdist": "/usr/bin/dnsdist", "rspamd": "/usr/bin/rspamd", "nginx": "/usr/sbin/nginx"}
FIRST, SECOND = ["bad.example", "127.0.0.2"], ["worse.example", "127.0.0.3"]
PATIENCE = 60


def failures():
    return command.failures


def page():
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"^```([a-z]+)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


def files_of_page():
    """path -> text; their first or second line names them, behind # or --."""
    named = {}
    for _, block in page():
        name = re.match(r"(?:#!.*\n)?(?:#|--) (/\S+)\n", block)
        if name:
            named[name.group(1)] = block
    return named


def free_port():
    """One of 127.0.0.1 that is free by TCP and by UDP: a name server listens to both."""
    for _ in range(100):
        with socket.socket() as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
            stream.bind(("127.0.0.1", 0))
            with contextlib.suppress(OSError):
                datagrams.bind(stream.getsockname())
                return stream.getsockname()[1]
    raise AssertionError("no port is free")


def until(what, ask):
    """Calls `ask` until it gives something true; errors of a program that is not up yet count as not yet."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException, smtplib.SMTPException):
            if ask():
                return True
        time.sleep(0.05)
    same(what, f"within {PATIENCE} s", "never")
    return False


class Machine:
    """The paths of the page, in a directory that all users may read."""

    def __init__(self, directory, binary, header, library, python):
        self.directory = directory
        os.chmod(directory, 0o755)
        self.store = os.path.join(directory, "store")
        self.python = os.path.join(directory, "python")
        shutil.copytree(python, self.python)
        self.binary = shutil.copy(binary, os.path.join(directory, "tamis"))
        self.header = shutil.copy(header, os.path.join(directory, "tamis_ffi.h"))
        self.library = shutil.copy(os.path.realpath(library), os.path.join(directory, "libtamis.so"))
        self.tamis = Tamis(self.binary, self.store)
        self.files = files_of_page()
        self.places = {"/var/lib/tamis": self.store, "/usr/bin/tamis": self.binary, "/usr/include/tamis_ffi.h": self.header,
                       'ffi.load("tamis")': f'ffi.load("{self.library}")'}

    def path(self, name):
        return os.path.join(self.directory, name)

    def text(self, path, **others):
        """A block of the page, with this machine's places in it."""
        text = self.files[path]
        for old, new in {**self.places, **others}.items():
            text = text.replace(old, new)
        return text

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def give(self, name, user):
        """A directory that belongs to the user."""
        os.makedirs(self.path(name), exist_ok=True)
        shutil.chown(self.path(name), user, user)
        return self.path(name)

    def publish(self, keys):
        self.tamis.run("build", "hosts", "-p", "1e-6", lines=keys)

    @contextlib.contextmanager
    def running(self, *words, **options):
        log = self.path(os.path.basename(words[0]) + ".log")
        with open(log, "wb") as file:
            process = subprocess.Popen(words, stdout=file, stderr=file, stdin=subprocess.DEVNULL, start_new_session=True,
                                       **options)
        try:
            before = failures()
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if failures() > before:
                with open(log, encoding="utf-8", errors="replace") as file:
                    sys.stderr.write(file.read()[-4000:])


def both_lists(machine, name, is_refused, first, second):
    """`first` is refused at the beginning, and `second` after the next list; `is_refused` asks the program."""
    machine.publish(FIRST)
    if not until(f"{name} refuses {first}", lambda: is_refused(first)):
        return
    same(f"{name}: {second} before the next list", False, is_refused(second))
    machine.publish(SECOND)
    if until(f"{name} refuses {second}, after the next list", lambda: is_refused(second)):
        until(f"{name} lets {first} pass, after the next list", lambda: not is_refused(first))


# ---- The sessions of the page ----------------------------------------------------------------------

def sessions(machine):
    """Each command prints what stands there."""
    for language, block in page():
        if language != "console":
            continue
        for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if line.startswith("export "):
                continue
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=machine.directory,
                                  env={**os.environ, "PATH": machine.directory + ":" + os.environ["PATH"],
                                       "TAMIS_STORE": machine.path("session")})
            same(line, expected, done.stdout + done.stderr)


def calls(pid):
    """How often it has called read(2) and write(2), or what is like them."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        of = dict(line.split(": ") for line in file.read().splitlines())
    return int(of["syscr"]), int(of["syscw"])


def line_by_line(machine):
    """An answer comes before the next question is written."""
    machine.publish(FIRST)
    with subprocess.Popen(machine.tamis.call + ["check", "hosts", "--answer", "OK,ERR"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, bufsize=0) as helper:
        for key, answer in ((b"bad.example", b"OK\n"), (b"good.example", b"ERR\n"), (b"", b"ERR\n"), (b"x" * 70000, b"ERR\n")):
            helper.stdin.write(key + b"\n")
            same(f"the answer for {key[:20]}", answer, helper.stdout.readline())
        before = calls(helper.pid)
        for _ in range(100):
            helper.stdin.write(b"bad.example\n")
            helper.stdout.readline()
        same("a read and a write for each line", [100, 100], [now - then for now, then in zip(calls(helper.pid), before)])
        machine.publish(SECOND)
        helper.stdin.write(b"bad.example\nworse.example\n")
        same("after the next list", [b"ERR\n", b"OK\n"], [helper.stdout.readline(), helper.stdout.readline()])
        helper.stdin.close()
        same("the status of one that found something", 0, helper.wait(PATIENCE))


# ---- The programs ----------------------------------------------------------------------------------

class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def squid(machine):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    port = free_port()
    own = machine.give("squid", "proxy")
    names = machine.write("hosts", "".join(f"127.0.0.1 {name}\n" for name in ("bad.example", "worse.example")))
    recipe = machine.text("/etc/squid/conf.d/tamis.conf")
    same("squid's answers are kept for a minute", 2, recipe.count("ttl=60"))
    recipe = recipe.replace("ttl=60", "ttl=1")  # else the next list counts after a minute
    conf = machine.write("squid.conf", f"http_port 127.0.0.1:{port}\npid_filename {own}/pid\ncache_log {own}/cache.log\n"
                         f"access_log none\ncache deny all\nhosts_file {names}\nshutdown_lifetime 1 second\n"
                         f"coredump_dir {own}\nnetdb_filename none\npinger_enable off\nvisible_hostname localhost\n"
                         + recipe + "http_access allow all\n")

    def is_refused(host):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", f"http://{host}:{site.server_address[1]}/", headers={"Host": host})
        status = connection.getresponse().status
        connection.close()
        if status not in (200, 403):
            raise OSError(f"squid answers {status}")
        return status == 403

    with machine.running("/usr/sbin/squid", "-N", "-n", f"tamis{os.getpid()}", "-f", conf):
        both_lists(machine, "squid", is_refused, "bad.example", "worse.example")
    site.shutdown()


def postfix(machine):
    table, smtp = free_port(), free_port()
    conf, queue, data = machine.path("postfix"), machine.path("queue"), machine.give("data", "postfix")
    os.makedirs(conf)
    os.makedirs(queue)
    script = machine.write("tamis-table", machine.text("/etc/postfix/tamis-table"), 0o755)
    moved = {"127.0.0.1:2527": f"127.0.0.1:{table}", "/etc/postfix/tamis-table": script}
    machine.write("postfix/master.cf", machine.text("/etc/postfix/master.cf", **moved) +
                  f"127.0.0.1:{smtp} inet n - n - - smtpd\n" + "".join(
                      f"{name} unix - - n - - {name}\n" for name in ("rewrite", "cleanup", "proxymap", "anvil", "tlsmgr")
                  ).replace("rewrite unix - - n - - rewrite", "rewrite unix - - n - - trivial-rewrite") +
                  "pickup unix n - n 60 1 pickup\nqmgr unix n - n 300 1 qmgr\n"
                  "discard unix - - n - - discard\nerror unix - - n - - error\nbounce unix - - n - 0 bounce\n"
                  "postlog unix-dgram n - n - 1 postlogd\n")
    machine.write("postfix/main.cf", machine.text("/etc/postfix/main.cf", **moved) +
                  f"compatibility_level = 3.6\nqueue_directory = {queue}\ndata_directory = {data}\nmyhostname = localhost.example\n"
                  "mydestination = localhost.example\nlocal_recipient_maps =\nlocal_transport = discard\nalias_maps =\n"
                  f"alias_database =\nsmtpd_relay_restrictions = reject_unauth_destination\nmaillog_file = /var/log/tamis-test-{os.getpid()}.log\n"
                  "smtpd_delay_reject = no\nsmtpd_peername_lookup = no\n")

    def is_refused(domain):
        with smtplib.SMTP("127.0.0.1", smtp, timeout=20) as client:
            client.helo("localhost")
            code, words = client.mail(f"somebody@{domain}")
        if code not in (250, 554):
            raise OSError(f"Postfix answers {code} {words}")
        return code == 554

    log = f"/var/log/tamis-test-{os.getpid()}.log"
    try:
        with machine.running("/usr/sbin/postfix", "-c", conf, "start-fg"):
            both_lists(machine, "Postfix", is_refused, "bad.example", "worse.example")
            subprocess.run(["/usr/sbin/postfix", "-c", conf, "stop"], capture_output=True, check=False)
    finally:
        with contextlib.suppress(OSError):
            if "-v" in sys.argv:
                with open(log, encoding="utf-8") as file:
                    sys.stderr.write(file.read())
            os.unlink(log)


def dns_question(name):
    return (struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) +
            b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0" + struct.pack(">HH", 1, 1))


class Upstream:
    """A name server to which each name is 192.0.2.1."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                question, whence = self.socket.recvfrom(4096)
                end = question.index(b"\0", 12) + 5
                kind = struct.unpack(">H", question[end - 4:end - 2])[0]
                answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([192, 0, 2, 1]) if kind == 1 else b""
                head = question[:2] + struct.pack(">HHHHH", 0x8580, 1, 1 if answer else 0, 0, 0)
                self.socket.sendto(head + question[12:end] + answer, whence)

    def __exit__(self, *_):
        self.socket.close()


def asks_by_dns(port):
    def is_refused(name):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.settimeout(2)
            one.sendto(dns_question(name), ("127.0.0.1", port))
            code = one.recv(4096)[3] & 15
        if code not in (0, 3):
            raise OSError(f"code {code}")
        return code == 3
    return is_refused


def unbound(machine):
    port = free_port()
    path = machine.text("/etc/default/unbound").strip().split("PYTHONPATH=")[1]
    with Upstream() as upstream:
        script = machine.write("tamis_hosts.py", machine.text("/etc/unbound/tamis_hosts.py"))
        conf = machine.write("unbound.conf", machine.text("/etc/unbound/unbound.conf.d/tamis.conf",
                                                          **{"/etc/unbound/tamis_hosts.py": script}) +
                             f'server:\n interface: 127.0.0.1@{port}\n do-not-query-localhost: no\n pidfile: ""\n use-syslog: no\n'
                             ' username: "unbound"\n num-threads: 1\n do-daemonize: no\n cache-max-ttl: 0\n'
                             'remote-control:\n control-enable: no\n'
                             f'forward-zone:\n name: "."\n forward-addr: 127.0.0.1@{upstream.port}\n')
        with machine.running("/usr/sbin/unbound", "-d", "-c", conf,
                             env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
                                  "PYTHONPATH": f"{machine.python}:{path}"}):
            both_lists(machine, "unbound", asks_by_dns(port), "www.BAD.example", "worse.example")


def dnsdist(machine):
    port = free_port()
    with Upstream() as upstream:
        recipe = machine.write("tamis.lua", machine.text("/etc/dnsdist/tamis.lua"))
        conf = machine.write("dnsdist.conf", f'setLocal("127.0.0.1:{port}")\nsetSecurityPollSuffix("")\n'
                             f'newServer({{address="127.0.0.1:{upstream.port}", healthCheckMode="up"}})\ndofile("{recipe}")\n')
        with machine.running("/usr/bin/dnsdist", "--supervised", "--disable-syslog", "-C", conf):
            both_lists(machine, "dnsdist", asks_by_dns(port), "www.Bad.example", "worse.example")


def rspamd(machine):
    """A message that has a URL with the host; only names below a top-level domain that it knows are URLs to rspamd."""
    port = free_port()
    own = machine.give("rspamd", "_rspamd")
    recipe = machine.write("rspamd.local.lua", machine.text("/etc/rspamd/rspamd.local.lua"))
    domains = machine.write("domains", "example\n")
    conf = machine.write("rspamd.conf", f'options {{ pidfile = "{own}/pid"; tempdir = "{own}"; filters = ""; url_tld = "{domains}"; '
                         'dns { nameserver = ["127.0.0.1"]; } }\nlogging { type = "console"; level = "notice"; }\n'
                         f'worker "normal" {{ bind_socket = "127.0.0.1:{port}"; count = 1; }}\n'
                         f'actions {{ reject = 15; add_header = 6; }}\nlua = "{recipe}";\n')

    def is_refused(host):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/checkv2", "From: a@b.test\r\nTo: c@d.test\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
                           f"Content-Type: text/plain\r\n\r\nlook at http://{host}/x now\r\n")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        same("rspamd sees the URL", [host.lower()], answer.get("urls"))
        return "TAMIS_LISTED" in answer["symbols"]

    with machine.running("/usr/bin/rspamd", "-f", "-u", "_rspamd", "-g", "_rspamd", "-c", conf):
        both_lists(machine, "rspamd", is_refused, "www.Bad.example", "worse.example")


def nginx(machine):
    port, site = free_port(), machine.path("www")
    os.makedirs(site)
    machine.write("www/index.html", "ok")
    door = machine.path("auth.sock")
    moved = {"/run/tamis-auth.sock": door, "127.0.0.1:8080": f"127.0.0.1:{port}", "/srv/www": site}
    script = machine.write("tamis-auth.py", machine.text("/usr/local/lib/tamis-auth.py", **moved))
    own = machine.give("nginx", "www-data")
    paths = "".join(f"{kind}_temp_path {own}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    conf = machine.write("nginx.conf", f"pid {own}/pid;\nerror_log stderr;\nuser www-data;\ndaemon off;\nevents {{}}\n"
                         f"http {{\naccess_log off;\n{paths}{machine.text('/etc/nginx/conf.d/tamis.conf', **moved)}}}\n")

    def is_refused(address):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(address, 0))
        connection.request("GET", "/index.html")
        status = connection.getresponse().status
        connection.close()
        if status not in (200, 403):
            raise OSError(f"nginx answers {status}")
        return status == 403

    machine.publish(FIRST)  # the filter must be there when the script begins
    with machine.running("/usr/bin/python3", "-B", script, env={**os.environ, "PYTHONPATH": machine.python}):
        until("the socket of the answers", lambda: os.path.exists(door))
        os.chmod(door, 0o666)
        with machine.running("/usr/sbin/nginx", "-c", conf, "-e", "stderr"):
            both_lists(machine, "nginx", is_refused, "127.0.0.2", "127.0.0.3")


def main():
    if os.geteuid() != 0:
        skip("the programs change to users of their own, which root may do")
    os.umask(0o022)
    missing = [name for name, path in PROGRAMS.items() if not os.access(path, os.X_OK)]
    with tempfile.TemporaryDirectory() as directory:
        machine = Machine(directory, *sys.argv[1:5])
        sessions(machine)
        line_by_line(machine)
        for consumer in (squid, postfix, unbound, dnsdist, rspamd, nginx):
            if consumer.__name__ in missing:
                print("not installed, and not tried:", consumer.__name__)
                continue
            machine.publish(FIRST)
            begin = time.monotonic()
            consumer(machine)
            print(f"{consumer.__name__}: {time.monotonic() - begin:.1f} s")
    if len(missing) == len(PROGRAMS):
        skip("none of the programs is installed")
    finish(8)


main()
