#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""fpm.py PHP-FPM EXTENSION TAMIS [--requests N] [--workers N]: PHP-FPM in earnest.

Workers of PHP-FPM answer a page (fpm/page.php) that looks domains up in a blacklist of 1,000,000, while `tamis build` publishes
a new generation each second.  A generation is the million domains and one that says its number, so that each answer tells which
generation it is of.  Held:

  - every request is answered, without an error in the answer or in PHP-FPM's log;
  - no answer is mixed: all listed domains are there, no others, and one generation's number;
  - a request that begins after `tamis build` has ended sees that generation or a later one;
  - each visitor is told once that he is new, whichever worker he meets;
  - a worker's memory, descriptors and mappings do not grow;
  - when PHP-FPM ends and lets its workers end (process_control_timeout), they bring what they added to the disk.

A second, short run has workers that end after 200 requests each.  1,000,000 requests, by hand: --requests 1000000.

Seen to fail: with a string that openOrCreate() leaves at each request; without the close of kept handles when a worker ends;
with an add() that answers true always; with a library whose handles do not look for a new generation.
"""
import argparse
import calendar
import json
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = 4
DOMAINS = 1_000_000
PUBLISHED, BEGUN, DONE = 0, 1, 2  # of the counters: a number of a generation, another, and requests from there on


# ---- FastCGI: what a web server would say ---------------------------------------------------------

def record(kind, body):
    return struct.pack(">BBHHBx", 1, kind, 1, len(body), 0) + body


def pair(name, value):
    lengths = b"".join(struct.pack(">B", n) if n < 128 else struct.pack(">I", n | 1 << 31) for n in (len(name), len(value)))
    return lengths + name + value


class Connection:
    """For one request, or one that PHP-FPM keeps for all of them."""

    def __init__(self, path, script, is_kept):
        self.path, self.script, self.is_kept, self.socket = path, script, is_kept, None

    def get(self, query):
        if self.socket is None:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(120)
            self.socket.connect(self.path)
        parameters = {"SCRIPT_FILENAME": self.script, "REQUEST_METHOD": "GET", "QUERY_STRING": query, "SCRIPT_NAME": "/page.php",
                      "SERVER_PROTOCOL": "HTTP/1.1", "GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_URI": "/page.php"}
        body = b"".join(pair(name.encode(), value.encode()) for name, value in parameters.items())
        # BEGIN_REQUEST as responder; PARAMS and their end; the end of STDIN.
        self.socket.sendall(record(1, struct.pack(">HB5x", 1, self.is_kept)) + record(4, body) + record(4, b"") + record(5, b""))
        out, errors = b"", b""
        while True:
            kind, length, padding = struct.unpack(">xB2xHBx", self.read(8))
            body = self.read(length + padding)[:length]
            if kind == 6:
                out += body
            elif kind == 7:
                errors += body
            elif kind == 3:
                if not self.is_kept:
                    self.socket.close()
                    self.socket = None
                return out, errors

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("PHP-FPM has closed the connection in the middle of an answer")
            data += more
        return data


# ---- PHP-FPM and the store ------------------------------------------------------------------------

class Fpm:
    def __init__(self, arguments, directory, workers, max_requests):
        self.directory, self.socket, self.log = directory, directory + "/fpm.sock", directory + "/fpm.log"
        for left in (self.socket, self.log):
            if os.path.exists(left):
                os.remove(left)
        with open(directory + "/fpm.conf", "w") as conf:
            conf.write(f"""[global]
error_log = {self.log}
log_level = notice
daemonize = no
; Else workers are killed when PHP-FPM ends.
process_control_timeout = 60s
[www]
listen = {self.socket}
pm = static
pm.max_children = {workers}
pm.max_requests = {max_requests}
catch_workers_output = yes
clear_env = yes
php_admin_value[tamis.store] = {directory}/store
php_admin_value[display_errors] = on
php_admin_value[error_reporting] = -1
""")
        command = [arguments.fpm, "-n", "-d", "extension=" + arguments.extension, "-F", "-p", directory, "-y", directory + "/fpm.conf"]
        if os.geteuid() == 0:
            command.append("-R")
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
        while not re.search("ready to handle connections", self.said()):
            if self.process.poll() is not None:
                sys.exit("PHP-FPM does not start: " + self.process.stderr.read().decode() + self.said())
            time.sleep(0.01)

    def said(self):
        try:
            with open(self.log) as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def workers(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            return [int(word) for word in children.read().split()]

    def end(self):
        """Workers finish their requests and end in order."""
        self.process.send_signal(signal.SIGQUIT)
        if self.process.wait(120) != 0:
            sys.exit("PHP-FPM ends with an error: " + self.said())
        said = self.said()
        if re.search(r"WARNING|ERROR|ALERT", said):
            sys.exit("PHP-FPM's log has an error:\n" + said)


class Publisher:
    """Runs `tamis build` once a second, and counts what it has begun and published."""

    def __init__(self, tamis, directory, counters):
        self.tamis, self.directory, self.counters, self.process, self.next = tamis, directory, counters, None, 0.0
        self.domains = directory + "/domains"
        with open(self.domains, "w") as out:
            out.writelines(f"d{i}.example\n" for i in range(DOMAINS))

    def begin(self):
        number = self.counters[BEGUN] + 1
        with open(self.directory + "/number", "w") as out:
            out.write(f"generation-{number}.example\n")
        self.counters[BEGUN] = number
        self.next = time.monotonic() + 1
        self.process = subprocess.Popen([self.tamis, "build", "blacklist", self.domains, self.directory + "/number", "-p", "1e-9",
                                         "--store", self.directory + "/store"], stderr=subprocess.PIPE)

    def turn(self, may_begin=True):
        """Returns whether a build is still under way."""
        if self.process and self.process.poll() is not None:
            if self.process.returncode != 0:
                sys.exit("tamis build: " + self.process.stderr.read().decode())
            self.process.stderr.close()
            self.process = None
            self.counters[PUBLISHED] = self.counters[BEGUN]
        if not self.process and may_begin and time.monotonic() >= self.next:
            self.begin()
        return self.process is not None


# ---- Clients --------------------------------------------------------------------------------------

def check(answer, errors, begun_before, counters, n):
    """What is wrong with an answer; None if nothing is."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if errors or b"Status:" in head:
        return f"an error: {head!r} {body!r} {errors!r}"
    try:
        said = json.loads(body)
    except ValueError:
        return f"no answer: {body!r}"
    numbers = [int(word) for word in said["generation"].split(",") if word]
    if said["listed"] != 20 or said["unlisted"] != 0 or len(numbers) != 1 or not said["single"]:
        return f"a mixed answer: {said}"
    if not begun_before <= numbers[0] <= counters[BEGUN]:
        return f"generation {numbers[0]} after {begun_before} was published and before {counters[BEGUN]} was begun"
    if not said["new"] or said["again"]:
        return f"visitor {n} is told {said['new']}, then {said['again']}"
    return None


def client(number, connection, requests, counters, least_generation):
    """A process of its own.  It goes on until it has made its requests and has seen enough generations."""
    done = 0
    while done < requests or counters[PUBLISHED] < least_generation:
        published = counters[PUBLISHED]
        n = number * 1_000_003 + done
        query = f"first={published}&n={n % DOMAINS}&visitor={os.getpid()}-{n}"
        try:
            answer, errors = connection.get(query)
        except (ConnectionError, OSError) as error:
            print(f"client {number}: {error!r}")
            os._exit(1)
        wrong = check(answer, errors, published, counters, n)
        if wrong:
            print(f"client {number}: request {done}: {wrong}")
            os._exit(1)
        done += 1
        counters[DONE + number] = done
    os._exit(0)


# ---- What must not grow ---------------------------------------------------------------------------

def sizes(worker):
    """KiB of memory of the worker's own, descriptors, mappings of segments."""
    with open(f"/proc/{worker}/smaps_rollup") as rollup:
        own = int(re.search(r"^Anonymous: +(\d+)", rollup.read(), re.M).group(1))
    with open(f"/proc/{worker}/maps") as maps:
        segments = maps.read().count("/segments/")
    return own, len(os.listdir(f"/proc/{worker}/fd")), segments


def grown(before, after):
    wrong = []
    for worker in before:
        memory, descriptors, segments = (b - a for a, b in zip(before[worker], after[worker]))
        # 4 KiB were seen; 200 bytes that each of 8,000 requests leaves are 300.
        if memory > 128 or descriptors > 4 or segments > 8:
            wrong.append(f"worker {worker}: {before[worker]} became {after[worker]}")
    return wrong


# ---- The runs -------------------------------------------------------------------------------------

def reap(children):
    for child in list(children):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            children.remove(child)
            if status != 0:
                sys.exit("a client has failed")


def end_all(fpm, publisher, children):
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if fpm.process.poll() is None:
        os.killpg(fpm.process.pid, signal.SIGKILL) # workers too
        fpm.process.wait()
    if publisher.process:
        publisher.process.kill()
        publisher.process.wait()


def run(arguments, publisher, requests, max_requests):
    """Returns how many requests were answered, and when PHP-FPM was told to end."""
    counters, directory = publisher.counters, publisher.directory
    first = counters[PUBLISHED]
    for number in range(CLIENTS):
        counters[DONE + number] = 0
    fpm = Fpm(arguments, directory, arguments.workers, max_requests)
    workers, before, children, started = fpm.workers(), None, [], time.monotonic()
    try:
        for number in range(CLIENTS):
            child = os.fork()
            if child == 0:
                # A worker that ends closes its connection, maybe in the middle of a request.
                connection = Connection(fpm.socket, HERE + "/fpm/page.php", max_requests == 0)
                client(number, connection, requests // CLIENTS, counters, first + arguments.generations)
            children.append(child)
        while children:
            publisher.turn()
            done = sum(counters[DONE:DONE + CLIENTS])
            if before is None and done * 5 >= requests:
                before = {worker: sizes(worker) for worker in workers} if max_requests == 0 else {}
            reap(children)
            time.sleep(0.01)
        seconds = time.monotonic() - started
        while publisher.turn(may_begin=False):
            time.sleep(0.01)
        after = {worker: sizes(worker) for worker in before}
        if max_requests == 0 and fpm.workers() != workers:
            sys.exit("a worker has ended: " + fpm.said())
        ended_at = time.time()
        fpm.end()
    finally:
        end_all(fpm, publisher, children)
    done = sum(counters[DONE:DONE + CLIENTS])
    print(f"{done} requests in {seconds:.1f} s ({done / seconds:.0f}/s) by {arguments.workers} workers" +
          (f" of {max_requests} requests each" if max_requests else "") +
          f", {counters[PUBLISHED] - first} generations published meanwhile")
    for worker in before:
        print(f"  worker {worker}: {before[worker][0]} KiB of its own, {before[worker][1]} descriptors, {before[worker][2]} mappings of "
              f"segments after a fifth; {after[worker][0]}, {after[worker][1]}, {after[worker][2]} at the end")
    wrong = grown(before, after)
    if wrong:
        sys.exit("\n".join(wrong))
    return done, ended_at


def check_visitors(arguments, directory, visitors, ended_at):
    """All were counted, and were brought to the disk when PHP-FPM ended."""
    info = json.loads(subprocess.run([arguments.tamis, "info", "visitors", "--json", "--store", directory + "/store"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    checkpoint = info["checkpointed_at"]
    if info["items"] != visitors or info["state"] != "ok" or not checkpoint or calendar.timegm(
            time.strptime(checkpoint, "%Y-%m-%dT%H:%M:%SZ")) < int(ended_at):
        sys.exit(f"{visitors} visitors, and PHP-FPM ended at {ended_at}, but: {info}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fpm")
    parser.add_argument("extension")
    parser.add_argument("tamis")
    parser.add_argument("--requests", type=int, default=8_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--generations", type=int, default=3, help="at least so many are published in a run")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="tamis-fpm-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        with mmap.mmap(-1, 8 * (DONE + CLIENTS)) as memory, memoryview(memory).cast("Q") as counters:
            publisher = Publisher(arguments.tamis, directory, counters)
            publisher.begin()
            while publisher.turn(may_begin=False):
                time.sleep(0.01)
            visitors, ended_at = run(arguments, publisher, arguments.requests, 0)
            check_visitors(arguments, directory, visitors, ended_at)
            more, ended_at = run(arguments, publisher, arguments.requests // 5, 200)
            check_visitors(arguments, directory, visitors + more, ended_at)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
