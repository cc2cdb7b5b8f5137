# SPDX-License-Identifier: BSD-2-Clause
"""consumers.py TAMIS HEADER LIBRARY PYTHONPATH: docs/consumers.md, as it stands there, with the real programs: squid,
Postfix, unbound, dnsdist, rspamd and nginx ask a list, which is published anew while they run.

Each program is started on a port of 127.0.0.1 with the files of the page, in which only paths and ports are others, and once more with
the setting for a list that cannot be read turned round. It starts without a store. Then it must say no to what is listed, yes to what
is not, and the other way round after another list was published; what the setting says of a list that is damaged, or gone; and
what is right again of another store at the same path, and of the first one when it is back. All of this without a restart.

The units of systemd that the page has copied are sound, and their programs answer at a socket that they are given.

Broken to see it fail: without the page's os.chmod() of the socket nginx may not ask, and without its unlink the second server ends; a
list that is not looked for again after the start fails nearly all; without the flush before a read `check --answer` never answers;
without --channel squid takes the number for the host; without --parents www.bad.example passes.
"""
import contextlib
import glob
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
from command import VECTORS, Tamis, finish, make_program, same, skip

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
        return self.placed(self.files[path], **others)

    def placed(self, text, **others):
        for old, new in {**self.places, **others}.items():
            text = text.replace(old, new)
        return text

    def recipe(self, path, closed):
        """The same of one whose setting is a truth, which is closed if it is true."""
        text = self.text(path)
        same(f"{path}: the setting", 1, len(re.findall(r"UNREADABLE = [Ff]alse", text)))
        return re.sub(r"UNREADABLE = ([Ff])alse", lambda found: "UNREADABLE = " + ("T" if found[1] == "F" else "t") + "rue", text) if closed else text

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
        self.tamis.run("build", "hosts", "--key-rule", "name", "-p", "1e-6", lines=keys)

    def damage(self):
        """Cuts the files of the list short."""
        folder = os.path.join(self.store, "segments")
        for name in os.listdir(folder):
            os.truncate(os.path.join(folder, name), 4000)

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


class Talk:
    """What a program is asked, and how it has to answer: `is_refused` asks it."""

    def __init__(self, machine, name, is_refused, first, second):
        self.machine, self.name, self.is_refused, self.first, self.second = machine, name, is_refused, first, second

    def expect(self, when, refused, passed):
        """In whatever time; then the one and the other stay so."""
        until(f"{self.name}, {when}: {refused} is refused", lambda: all(map(self.is_refused, refused)))
        until(f"{self.name}, {when}: {passed} pass", lambda: not any(map(self.is_refused, passed)))

    def unreadable(self, when, closed):
        both = [self.first, self.second]
        self.expect(when, both if closed else [], [] if closed else both)

    def run(self, closed):
        machine, (first, second) = self.machine, (self.first, self.second)
        away = machine.path("away")
        self.unreadable("without a store", closed)
        machine.publish(FIRST)
        self.expect("with its first list", [first], [second])
        machine.publish(SECOND)
        self.expect("after the next list", [second], [first])
        machine.damage()
        self.unreadable("with a damaged list", closed)
        machine.publish(SECOND)
        self.expect("after the list was mended", [second], [first])
        os.rename(machine.store, away)
        self.unreadable("with a store that is gone", closed)
        machine.publish(FIRST)
        self.expect("after another store has come", [first], [second])
        shutil.rmtree(machine.store)
        os.rename(away, machine.store)
        self.expect("after the first store is back", [second], [first])


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


def squid(machine, closed):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    port = free_port()
    own = machine.give("squid", "proxy")
    names = machine.write("hosts", "".join(f"127.0.0.1 {name}\n" for name in ("www.bad.example", "worse.example")))
    recipe = machine.text("/etc/squid/conf.d/tamis.conf")
    same("squid's answers are kept for a minute", 2, recipe.count("ttl=60"))
    recipe = recipe.replace("ttl=60", "ttl=1")  # else the next list counts after a minute
    same("squid's setting", 1, recipe.count("OK,ERR,ERR"))
    if closed:
        recipe = recipe.replace("OK,ERR,ERR", "OK,ERR,OK")
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
        Talk(machine, "squid", is_refused, "www.bad.example", "worse.example").run(closed)
    site.shutdown()


def turned(text, setting, value):
    """The recipe with the other setting."""
    same(f"the setting {setting}", 1, text.count(setting))
    return text.replace(setting, value)


def postfix(machine, closed):
    table, smtp = free_port(), free_port()
    conf, queue, data = machine.path("postfix"), machine.path("queue"), machine.give("data", "postfix")
    os.makedirs(conf, exist_ok=True)
    os.makedirs(queue, exist_ok=True)
    program = machine.text("/etc/postfix/tamis-table")
    if closed:
        program = turned(program, 'UNREADABLE = "500 not listed"', 'UNREADABLE = "400 try again"')
    script = machine.write("tamis-table", program)
    make_program(PAGE, "/etc/postfix/tamis-table", script)
    moved = {"127.0.0.1:2527": f"127.0.0.1:{table}", "/etc/postfix/tamis-table": script}
    machine.write("postfix/master.cf", machine.text("/etc/postfix/master.cf", **moved) +
                  f"127.0.0.1:{smtp} inet n - n - - smtpd\n" + "".join(
                      f"{name} unix - - n - - {name}\n" for name in ("rewrite", "cleanup", "proxymap", "anvil", "tlsmgr")
                  ).replace("rewrite unix - - n - - rewrite", "rewrite unix - - n - - trivial-rewrite") +
                  "pickup unix n - n 60 1 pickup\nqmgr unix n - n 300 1 qmgr\n"
                  "discard unix - - n - - discard\nerror unix - - n - - error\nbounce unix - - n - 0 bounce\n"
                  "postlog unix-dgram n - n - 1 postlogd\n")
    log = f"/var/log/tamis-test-{os.getpid()}.log"
    machine.write("postfix/main.cf", machine.text("/etc/postfix/main.cf", **moved) +
                  f"compatibility_level = 3.6\nqueue_directory = {queue}\ndata_directory = {data}\nmyhostname = localhost.example\n"
                  "mydestination = localhost.example\nlocal_recipient_maps =\nlocal_transport = discard\nalias_maps =\n"
                  f"alias_database =\nsmtpd_relay_restrictions = reject_unauth_destination\nmaillog_file = {log}\n"
                  "smtpd_delay_reject = no\nsmtpd_peername_lookup = no\n"
                  # Where the package python3-tamis is not installed.
                  f"export_environment = TZ MAIL_CONFIG LANG PYTHONPATH={machine.python} PYTHONDONTWRITEBYTECODE=1\n")

    def is_refused(domain):
        with smtplib.SMTP("127.0.0.1", smtp, timeout=20) as client:
            client.helo("localhost")
            code, words = client.mail(f"somebody@{domain}")
        if code not in ((250, 451, 554) if closed else (250, 554)):
            raise OSError(f"Postfix answers {code} {words}")
        return code != 250

    try:
        with machine.running("/usr/sbin/postfix", "-c", conf, "start-fg"):
            Talk(machine, "Postfix", is_refused, "mx.BAD.example", "worse.example").run(closed)
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


def unbound(machine, closed):
    port = free_port()
    path = machine.text("/etc/default/unbound").strip().split("PYTHONPATH=")[1]
    with Upstream() as upstream:
        script = machine.write("tamis_hosts.py", machine.recipe("/etc/unbound/tamis_hosts.py", closed))
        conf = machine.write("unbound.conf", machine.text("/etc/unbound/unbound.conf.d/tamis.conf",
                                                          **{"/etc/unbound/tamis_hosts.py": script}) +
                             f'server:\n interface: 127.0.0.1@{port}\n do-not-query-localhost: no\n pidfile: ""\n use-syslog: no\n'
                             ' username: "unbound"\n num-threads: 1\n do-daemonize: no\n cache-max-ttl: 0\n'
                             'remote-control:\n control-enable: no\n'
                             f'forward-zone:\n name: "."\n forward-addr: 127.0.0.1@{upstream.port}\n')
        with machine.running("/usr/sbin/unbound", "-d", "-c", conf,
                             env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
                                  "PYTHONPATH": f"{machine.python}:{path}"}):
            Talk(machine, "unbound", asks_by_dns(port), "www.BAD.example", "worse.example").run(closed)


def dnsdist(machine, closed):
    port = free_port()
    with Upstream() as upstream:
        recipe = machine.write("tamis.lua", machine.recipe("/etc/dnsdist/tamis.lua", closed))
        conf = machine.write("dnsdist.conf", f'setLocal("127.0.0.1:{port}")\nsetSecurityPollSuffix("")\n'
                             f'newServer({{address="127.0.0.1:{upstream.port}", healthCheckMode="up"}})\ndofile("{recipe}")\n')
        with machine.running("/usr/bin/dnsdist", "--supervised", "--disable-syslog", "-C", conf):
            Talk(machine, "dnsdist", asks_by_dns(port), "www.Bad.example", "worse.example").run(closed)


def rspamd(machine, closed):
    """A message that has a URL with the host; only names below a top-level domain that it knows are URLs to rspamd."""
    port = free_port()
    own = machine.give("rspamd", "_rspamd")
    recipe = machine.write("rspamd.local.lua", machine.recipe("/etc/rspamd/rspamd.local.lua", closed))
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
        Talk(machine, "rspamd", is_refused, "www.Bad.example", "worse.example").run(closed)
    # At the end rspamd itself terminates its helpers by SIGTERM, and may log that.
    with open(machine.path("rspamd.log"), encoding="utf-8", errors="replace") as file:
        died = re.findall(r".*(?:fatal signal|terminated abnormally).*", file.read())
        same("rspamd: workers that died", [], [line for line in died if "by signal: Terminated" not in line])


def ends(process, how):
    process.send_signal(how)
    process.wait(PATIENCE)


def nginx(machine, closed):
    port, site = free_port(), machine.path("www")
    os.makedirs(site, exist_ok=True)
    machine.write("www/index.html", "ok")
    door = machine.path("auth.sock")
    machine.places.update({"/run/tamis-auth.sock": door, "127.0.0.1:8080": f"127.0.0.1:{port}", "/srv/www": site})
    script = machine.write("tamis-auth.py", machine.recipe("/usr/local/lib/tamis-auth.py", closed))
    own = machine.give("nginx", "www-data")
    paths = "".join(f"{kind}_temp_path {own}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    recipe = machine.text("/etc/nginx/conf.d/tamis.conf")
    if closed:
        recipe = turned(recipe, "return 204;", "return 403;")
    conf = machine.write("nginx.conf", f"pid {own}/pid;\nerror_log stderr;\nuser www-data;\ndaemon off;\nevents {{}}\n"
                         f"http {{\naccess_log off;\n{paths}{recipe}}}\n")

    def is_refused(address):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(address, 0))
        connection.request("GET", "/index.html")
        status = connection.getresponse().status
        connection.close()
        if status not in (200, 403):
            raise OSError(f"nginx answers {status}")
        return status == 403

    command = ["/usr/bin/python3", "-B", script]
    environment = {**os.environ, "PYTHONPATH": machine.python}
    talk = Talk(machine, "nginx", is_refused, "127.0.0.2", "127.0.0.3")
    with machine.running("/usr/sbin/nginx", "-c", conf, "-e", "stderr"):
        talk.unreadable("without the server of the list", closed)
        with machine.running(*command, env=environment) as server:
            until("the socket of the answers", lambda: os.path.exists(door))
            talk.run(closed)
            ends(server, signal.SIGKILL)
        talk.unreadable("after the server of the list was killed", closed)
        with machine.running(*command, env=environment) as server:
            talk.expect("after it was started again", ["127.0.0.3"], ["127.0.0.2"])
            ends(server, signal.SIGTERM)
        with machine.running(*command, env=environment):
            talk.expect("after it was stopped and started again", ["127.0.0.3"], ["127.0.0.2"])


# ---- The units of systemd --------------------------------------------------------------------------

UNITS = os.path.join(os.path.dirname(PAGE), "..", "tools", "tamis", "systemd")


def copied_units(machine):
    """The units that the page has copied, by its patterns, with this machine's places."""
    folder = machine.path("units")
    os.makedirs(folder, exist_ok=True)
    with open(PAGE, encoding="utf-8") as file:
        patterns = re.findall(r"^cp /usr/share/tamis/systemd/(\S+) /etc/systemd/system/$", file.read(), re.MULTILINE)
    copied = {}
    for pattern in patterns:
        for path in glob.glob(os.path.join(UNITS, pattern)):
            with open(path, encoding="utf-8") as file:
                copied[os.path.basename(path)] = machine.placed(file.read())
    for name, text in copied.items():
        machine.write(os.path.join("units", name), text)
    same("the units", sorted(os.listdir(UNITS)), sorted(copied))
    return copied


def value_of(unit, key):
    return re.search(rf"^{key}=(.*)$", unit, re.MULTILINE)[1]


def starts_at_the_socket(machine, socket_unit, service, *words):
    """The program of the service, with the socket of the unit, as systemd starts it."""
    return machine.running("/usr/bin/systemd-socket-activate", *words, "-E", f"PYTHONPATH={machine.python}", "-E", "PYTHONDONTWRITEBYTECODE=1",
                           "-l", value_of(socket_unit, "ListenStream"), *value_of(service, "ExecStart").split())


class Door(http.client.HTTPConnection):
    """A connection to a socket of the file system."""

    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def units(machine):
    if not all(shutil.which(program) for program in ("systemd-analyze", "systemd-socket-activate")):
        print("systemd is not installed: its units are not tried")
        return
    port, door = free_port(), machine.path("unit.sock")
    table = machine.write("tamis-table", machine.text("/etc/postfix/tamis-table"))
    make_program(PAGE, "/etc/postfix/tamis-table", table)
    auth = machine.write("tamis-auth.py", machine.text("/usr/local/lib/tamis-auth.py"))
    machine.places.update({"/run/tamis-auth.sock": door, "127.0.0.1:2527": f"127.0.0.1:{port}", "/etc/postfix/tamis-table": table,
                           "/usr/local/lib/tamis-auth.py": auth})
    copied = copied_units(machine)
    instance = {"tamis-table@.service": "tamis-table@1.service"}
    for name, other in instance.items():
        shutil.copy(machine.path("units/" + name), machine.path("units/" + other))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *[machine.path("units/" + instance.get(name, name)) for name in copied]],
                          capture_output=True, text=True, check=False)
    same("systemd-analyze verify", "", "".join(line for line in (done.stdout + done.stderr).splitlines(True) if "tamis" in line))
    for name, mode in (("tamis-auth.socket", "0660"),):
        same(f"{name}: nginx may ask", ("www-data", mode), (value_of(copied[name], "SocketGroup"), value_of(copied[name], "SocketMode")))
    machine.publish(FIRST)

    def is_refused(address):
        connection = Door(door)
        connection.request("GET", "/", headers={"X-Client": address})
        status = connection.getresponse().status
        connection.close()
        return status == 403

    with starts_at_the_socket(machine, copied["tamis-auth.socket"], copied["tamis-auth.service"]):
        Talk(machine, "tamis-auth.socket", is_refused, "127.0.0.2", "127.0.0.3").expect("with a list", ["127.0.0.2"], ["127.0.0.3"])

    def is_rejected(domain):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, connection.makefile("rwb") as lines:
            lines.write(f"get somebody@{domain}\n".encode())
            lines.flush()
            return lines.readline().startswith(b"200 REJECT")

    same("a process for each connection", "yes", value_of(copied["tamis-table.socket"], "Accept"))
    with starts_at_the_socket(machine, copied["tamis-table.socket"], copied["tamis-table@.service"], "--accept", "--inetd"):
        Talk(machine, "tamis-table.socket", is_rejected, "bad.example", "worse.example").expect("with a list", ["bad.example"], ["worse.example"])


def main():
    if os.geteuid() != 0:
        skip("the programs change to users of their own, which root may do")
    os.umask(0o022)
    missing = [name for name, path in PROGRAMS.items() if not os.access(path, os.X_OK)]
    with tempfile.TemporaryDirectory() as directory:
        machine = Machine(directory, *sys.argv[1:5])
        only = [word for word in sys.argv[5:] if word in PROGRAMS or word == "units"]  # by hand
        sessions(machine)
        line_by_line(machine)
        if not only or "units" in sys.argv[5:]:
            units(machine)
        for consumer in [one for one in (squid, postfix, unbound, dnsdist, rspamd, nginx) if not only or one.__name__ in only]:
            if consumer.__name__ in missing:
                print("not installed, and not tried:", consumer.__name__)
                continue
            for closed in (False, True):
                shutil.rmtree(machine.store, ignore_errors=True)
                begin = time.monotonic()
                consumer(machine, closed)
                print(f"{consumer.__name__}, {'closed' if closed else 'open'}: {time.monotonic() - begin:.1f} s")
    if len(missing) == len(PROGRAMS):
        skip("none of the programs is installed")
    finish(8)


main()
