# SPDX-License-Identifier: BSD-2-Clause
"""remote_cases.py MODULE TAMIS: commands with --store URL fail with a sentence, in bounded time, whatever the server
does; that they answer as on a directory is for cli_cases.py."""
import concurrent.futures
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time

from harness import TAMIS, eventually, run, same, server
from remote import Adding, bounded, remote, urls
from redis_server import free_port


def keys_of_other_clients():
    """A filter that BF.RESERVE made is used as it is, and BF.EXISTS finds what tamis added."""
    with server() as one:
        client, store = one.client(), one.url()
        client.good("BF.RESERVE", "seen", "0.001", "1000")
        client.good("BF.MADD", "seen", "a", "b")
        same(remote(store, "add", "--new", "seen", "b", "c").out, b"c\n")
        same(client.good("BF.EXISTS", "seen", "c"), 1)
        client.good("SET", "text", "x")
        client.good("HSET", "hash", "x", "y")
        client.good("TAMIS.RESERVE", "counts", "0.01", 1000, "KIND", "counting")
        client.good("TAMIS.ADD", "counts", "x")
        for name, why in (("text", "is no filter, but a string"), ("hash", "none that describes a filter"),
                          ("none", "no such filter: 'none'")):
            for words in (("add", name, "k"), ("check", name, "k"), ("info", name), ("rename", name, "n")):
                assert why in remote(store, *words, status=2).err, (name, words)
        same(remote(store, "list", "-q").out, b"counts\nseen\n")
        same(remote(store, "count", "counts", "x").out, b"x\t1\n")
        for words in (("verify",), ("backup", "x"), ("build", "x"), ("repair",)):
            err = remote(store, *words, status=2).err
            assert "run it on the server's machine" in err, (words, err)


def what_was_cut_short_is_told():
    """Descriptors in each state that a kill leaves; `drop` and `rename` end what was begun."""
    with server() as one:
        client, store = one.client(), one.url()
        remote(store, "create", "f", "-n", "1k", "--shards", "4")
        remote(store, "add", "f", keys=urls(0, 100))
        client.good("HSET", "f", "state", "renaming g")
        client.good("HSET", "g", "tamis", "1")
        client.good("RENAME", "f:{1}", "g:{1}")
        assert "run 'tamis rename f g' again" in remote(store, "add", "f", "k", status=2).err
        assert "is not whole" in remote(store, "add", "g", "k", status=2).err
        remote(store, "rename", "f", "g")
        same(remote(store, "check", "-c", "g", keys=urls(0, 100)).out, b"100\n")
        client.good("HSET", "g", "state", "making")
        client.good("DEL", "g:{0}")
        assert "tamis drop g" in remote(store, "check", "g", "k", status=2).err
        assert "a filter 'g' exists already" in remote(store, "create", "g", "-n", "1k", "--shards", "4", status=2).err
        remote(store, "drop", "g")
        same(client.good("DBSIZE"), 0)
        remote(store, "create", "f", "-n", "1k", "--shards", "4")
        client.good("DEL", "f:{2}")
        assert "shards is gone: 'f:{2}'" in remote(store, "add", "f", keys=urls(0, 100), status=2).err


def answers_at(path):
    """A socket is there a moment before its server listens."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(path) == 0


def servers_that_refuse():
    """No server, a wrong password, no right, no module, a replica; a hanging one."""
    bounded(f"redis://127.0.0.1:{free_port()}", "list", why="Connection refused")
    bounded("unix:///nowhere/socket", "list", why="cannot connect")
    bounded("redis://127.0.0.1:port", "list", why="the URL is not")
    with server() as one:
        one.client().good("CONFIG", "SET", "requirepass", "secret")
        bounded(one.url(), "list", why="put the password into the URL")
        bounded(f"redis://:wrong@127.0.0.1:{one.port}", "list", why="(the password is that of the URL)")
        remote(f"redis://:secret@127.0.0.1:{one.port}", "create", "f", "-n", "1k")
        client = one.client()
        client.good("AUTH", "secret")
        client.good("ACL", "SETUSER", "reader", "on", ">pw", "~*", "+type", "+tamis.check", "+cluster|slots")
        reader = f"redis://reader:pw@127.0.0.1:{one.port}"
        same(remote(reader, "check", "f", "x", status=1).out, b"")
        bounded(reader, "add", "f", "x", why="docs/cluster.md has the commands that the user needs")
        with tempfile.TemporaryDirectory() as directory:
            bounded(directory + "/store", "import", "i", "--from", reader, "f", why="ACL SETUSER")
    with server() as one:
        client, store = one.client(), one.url()
        remote(store, "create", "f", "-n", "1k")
        client.good("REPLICAOF", "127.0.0.1", "1")
        bounded(store, "add", "f", "x", why="it is a replica")
        client.good("REPLICAOF", "NO", "ONE")
        one.process.send_signal(signal.SIGSTOP)
        bounded(store, "--timeout=2", "add", "f", "x", why="it does not answer")
        threading.Timer(2.5, one.process.send_signal, [signal.SIGCONT]).start()
        same(remote(store, "add", "--new", "f", "late").out, b"late\n", "a server that is silent for a while is waited for")
        client.good("CLIENT", "PAUSE", "20000", "WRITE")
        bounded(store, "--timeout=2", "add", "f", "x", why="nothing was answered for 2 s")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "socket")
        with subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", ""],
                              stdout=subprocess.DEVNULL, cwd=directory) as bare:
            try:
                eventually(lambda: answers_at(path), "the server listens")
                for words in (["create", "f", "-n", "1k"], ["create", "f", "-n", "1k", "--shards", "4"], ["list"],
                              ["add", "none", "x"], ["merge", "a", "b"], ["rename", "a", "b"], ["export", "a", "--to", "tamis", "-"]):
                    bounded(f"unix://{path}", *words, why="load the module tamis.so")
            finally:
                bare.kill()


GARBAGE = [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
           b"$99999999999999999999\r\n", b"*2147483647\r\n", b"$-2\r\n", b"*-7\r\n", b"+OK", b"-\r\n", b":12x\r\n",
           b"*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n$1\r\nh\r\n:1\r\n", b"*1\r\n*3\r\n:0\r\n:5\r\n:7\r\n", b"\0" * 4096,
           b"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:%d\r\n", b"-MOVED 1 nowhere\r\n", b"-ASK 1\r\n"]


def connections(listener):
    """Those that come, until the listener is shut down; each is closed before the next."""
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            yield peer


def serve(listener, answer):
    for peer in connections(listener):
        with contextlib.suppress(OSError):
            peer.settimeout(5)
            while peer.recv(65536):
                peer.sendall(answer)
                if not answer:
                    break


def one_of_garbage(garbage):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        threading.Thread(target=serve, args=(listener, garbage.replace(b"%d", b"%d" % port)), daemon=True).start()
        bounded(f"redis://127.0.0.1:{port}", "--timeout=1", "add", "f", "k", limit=12)
        listener.shutdown(socket.SHUT_RDWR)


def servers_that_answer_garbage():
    """Each connection gets one of these answers to whatever it asks: exit 2, no crash, in bounded time."""
    with concurrent.futures.ThreadPoolExecutor(len(GARBAGE)) as pool:
        list(pool.map(one_of_garbage, GARBAGE))


def pour(listener, head):
    """Half a gigabyte to whatever is asked, if the client takes it."""
    for peer in connections(listener):
        with contextlib.suppress(OSError):
            peer.recv(65536)
            peer.sendall(head)
            for _ in range(512):
                peer.sendall(bytes(1 << 20))


def one_of_half_a_gigabyte(head, *words):
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryDirectory() as directory:
        threading.Thread(target=pour, args=(listener, head), daemon=True).start()
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}"
        store = directory if words[0] == "import" else url
        process = subprocess.Popen([TAMIS, "--store", store, "--timeout", "20", *(word.replace("URL", url) for word in words)],
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        told = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        same(os.waitstatus_to_exitcode(status), 2, told)
        assert "longer than any that is asked for" in told, told
        assert usage.ru_maxrss < 250 * 1024, f"{words}: {usage.ru_maxrss} KiB"
        listener.shutdown(socket.SHUT_RDWR)


def servers_that_answer_half_a_gigabyte():
    """The client gives up long before it has all of it.  Seen to fail without the limit of wire_reply()."""
    for head in (b"$536870912\r\n", b"*2\r\n$4\r\nabcd\r\n$500000000\r\n"):
        one_of_half_a_gigabyte(head, "list")
        one_of_half_a_gigabyte(head, "import", "f", "--from", "URL", "key")


def drip(listener):
    """A byte a second, of a reply that does not end."""
    peer, _ = listener.accept()
    with peer:
        try:
            while True:
                peer.sendall(b"+")
                time.sleep(1)
        except OSError:
            pass


def servers_that_answer_a_byte_a_second():
    """While the client logs in, and while it asks for the slots.  Seen to fail for a client with a limit for each read."""
    for password in ("", ":secret@"):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=drip, args=(listener,), daemon=True).start()
            bounded(f"redis://{password}127.0.0.1:{listener.getsockname()[1]}", "--timeout=2", "add", "f", "k", limit=5,
                    why="it does not answer")


def answers_do_not_wait_for_more_input():
    """Keys that come one by one, or in a crowd, are answered while the input is still open.  Seen to fail for a
    has_more() of tools/tamis/keys.c that waits."""
    with server() as one, tempfile.TemporaryDirectory() as directory:
        store = one.url()
        remote(store, "create", "f", "-n", "100k", "--shards", "16")
        adding, keys = Adding(store, directory, "f"), urls(0, 30003)
        for first, end in ((0, 1), (1, 3), (3, 30003)):
            adding.give(keys[first:end])
            eventually(lambda end=end: len(adding.printed()) >= end - 5, f"{end} keys are answered")
        same(adding.end(), 0, "status")
        printed = adding.printed()
        found = set(printed)
        same([key for key in keys if key in found], printed, "the order")


def memory_of(store, count):
    """The most memory, in KiB, that adding so many keys takes."""
    process = subprocess.Popen([TAMIS, "--store", store, "add", "--new", "m"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL)
    for first in range(0, count, 10000):
        process.stdin.write(b"\n".join(urls(first, 10000)) + b"\n")
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    same(status, 0, "status")
    return usage.ru_maxrss


def memory_is_that_of_one_batch():
    """Seen to fail for a client that keeps the replies of all batches."""
    with server() as one:
        store = one.url()
        remote(store, "create", "m", "-n", "2M", "--shards", "8")
        small, large = memory_of(store, 100000), memory_of(store, 800000)
        assert large < small + 6 * 1024, f"{small} KiB for 100,000 keys, {large} KiB for 800,000"


def the_rate_holds_over_all_shards():
    """Shards get more or fewer keys than the mean; the whole has the rate that was asked for."""
    with server() as one:
        store, count = one.url(), 600000
        remote(store, "create", "r", "-n", count, "-p", "1%", "--shards", "3")
        remote(store, "add", "r", keys=urls(0, count))
        found = int(remote(store, "check", "-c", "r", keys=urls(count, 300000)).out)
        assert 0.002 * 300000 < found < 0.0103 * 300000, f"{found} of 300,000 strangers are found, at 1 %"
        same(one.client().good("HGET", "r", "seed"), b"1", "the seed is not that of the shards")


run(keys_of_other_clients, what_was_cut_short_is_told, servers_that_refuse,
    servers_that_answer_garbage, servers_that_answer_a_byte_a_second, servers_that_answer_half_a_gigabyte,
    answers_do_not_wait_for_more_input, memory_is_that_of_one_batch, the_rate_holds_over_all_shards)
