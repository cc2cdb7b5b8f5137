# SPDX-License-Identifier: BSD-2-Clause
"""tls.py MODULE TAMIS: stores of rediss://, and URLs with several hosts.

It was seen to fail without expect_host() and with SSL_VERIFY_NONE in tools/tamis/remote/tls.c, and for a read that leaves
bytes in the TLS library."""
import os
import subprocess
import tempfile

from cluster_servers import Cluster
from harness import run, same, server
from redis_server import free_port
from remote import remote, urls


def openssl(directory, *words):
    subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)


def make_certificates(directory):
    """ca.pem signs good.pem, which is for 127.0.0.1 and localhost, and other.pem, for another host."""
    openssl(directory, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days",
            "2", "-subj", "/CN=tests")
    for name, hosts in (("good", "IP:127.0.0.1,DNS:localhost"), ("other", "DNS:other.example")):
        openssl(directory, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr",
                "-subj", "/CN=" + name)
        with open(os.path.join(directory, name + ".ext"), "w", encoding="utf-8") as file:
            file.write("subjectAltName=" + hosts + "\n")
        openssl(directory, "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", name + ".ext", "-out", name + ".pem")


def settings(directory, name="good", clients="no"):
    return {"tls_cert_file": f"{directory}/{name}.pem", "tls_key_file": f"{directory}/{name}.key",
            "tls_ca_cert_file": f"{directory}/ca.pem", "tls_auth_clients": clients}


def bus_port():
    """A port whose neighbour 10,000 above, of the cluster's bus, is one too."""
    port = 65535
    while port > 55000:
        port = free_port()
    return port


def ask(store, *words, keys=None, status=0, why="", **environment):
    names = {"TAMIS_TLS_" + name.upper(): value for name, value in environment.items()}
    done = remote(store, *words, keys=keys, status=status, environment=names)
    assert why in done.err, done.err
    return done.out


def streams(tls, socket, here):
    """`import --from` and `export --to` by TLS, and by a socket, of 4 MiB and what grew out of it."""
    trust, local = ["--cacert", here + "/ca.pem"], here + "/local"
    ask(local, "create", "big", "-n", "2M", "-p", "0.1%", "--hash-set", "redisbloom")
    ask(local, "add", "big", keys=urls(0, 5000))
    for to, other in ((tls, socket), (socket, tls)):
        ask(local, "export", "big", "--to", to, "stream", *(trust if to == tls else []))
        ask(local, "import", "back", "--from", other, "stream", *(trust if other == tls else []))
        same(ask(local, "check", "-c", "back", keys=urls(0, 5000)), b"5000\n")
        ask(local, "drop", "back")
        ask(tls, "drop", "stream", *trust)
    ask(local, "import", "x", "--from", tls, "stream", status=2, why="certificate is refused")
    ask(local, "import", "x", "--from", socket, "stream", *trust, status=2, why="--cacert goes with TLS")
    ask(local, "export", "big", "--to", "rediss://127.0.0.1,127.0.0.2", "k", status=2, why="the URL of the server is not")


def a_server_by_tls():
    """The certificate and its host are checked; the client has one, where the server asks for it."""
    with tempfile.TemporaryDirectory() as here:
        make_certificates(here)
        port, trust = free_port(), {"cacert": here + "/ca.pem"}
        with server(tls_port=port, unixsocket="socket", **settings(here)) as one:
            store = f"rediss://127.0.0.1:{port}"
            ask(store, "create", "f", "-n", "200k", "-p", "1e-9", "--shards", "4", **trust)
            keys = urls(0, 20000)
            same(ask(store, "add", "--new", "f", keys=keys, **trust), b"".join(key + b"\n" for key in keys))
            same(ask(store, "check", "-c", "f", keys=keys, **trust), b"20000\n")
            same(ask(f"rediss://localhost:{port}", "list", "-q", **trust), b"f\n")
            ask(store, "list", status=2, why="certificate is refused")
            streams(store, f"unix://{one.directory}/socket", here)
            ask(store, "list", status=2, why="--cacert, or $TAMIS_TLS_CACERT: '/nowhere' cannot be used", cacert="/nowhere")
            same(ask(store, "list", "-q", insecure="1"), b"f\n")
            same(ask(store, "list", "-q", "--cacert", here + "/ca.pem", cacert="/nowhere"), b"f\n")
            same(ask(store, "list", "-q", "--insecure"), b"f\n")
            ask(store, "list", "--insecure", "--cert", here + "/good.pem", status=2, why="--cert and --key")
            ask(store, "list", "--insecure", "--cert", here + "/good.pem", "--key", here + "/other.key", status=2,
                why="other.key' cannot be used: key values mismatch")
            ask(f"rediss://127.0.0.1:{one.port}", "list", status=2, why="TLS", **trust)
        port = free_port()
        with server(tls_port=port, **settings(here, "other")):
            ask(f"rediss://127.0.0.1:{port}", "list", status=2, why="IP address mismatch", **trust)
        port = free_port()
        with server(tls_port=port, **settings(here, clients="yes")):
            ask(f"rediss://127.0.0.1:{port}", "list", status=2, **trust)
            own = {"cert": here + "/good.pem", "key": here + "/good.key"}
            same(ask(f"rediss://127.0.0.1:{port}", "list", "-q", status=1, **trust, **own), b"")
            options = ["--cacert", here + "/ca.pem", "--cert", here + "/good.pem", "--key", here + "/good.key"]
            same(ask(f"rediss://127.0.0.1:{port}", *options, "list", "-q", status=1), b"")


def a_cluster_by_tls():
    """Each node is asked by TLS, on the port that it announces for it."""
    with tempfile.TemporaryDirectory() as here:
        make_certificates(here)
        cluster = Cluster(3, tls_cluster="yes", **settings(here))
        for one in cluster.servers:
            one.settings["tls-port"] = bus_port()
        with cluster:
            store, trust = f"rediss://127.0.0.1:{cluster.servers[0].settings['tls-port']}", {"cacert": here + "/ca.pem"}
            ask(store, "create", "f", "-n", "100k", "-p", "1e-9", "--shards", "32", **trust)
            keys = urls(0, 10000)
            same(ask(store, "add", "--new", "f", keys=keys, **trust), b"".join(key + b"\n" for key in keys))
            same(ask(store, "check", "-c", "f", keys=keys, **trust), b"10000\n")


def any_of_several_hosts():
    """Those that are down are passed over; with none of them up it is status 2."""
    with server() as one:
        dead = [free_port(), free_port()]
        store = f"redis://127.0.0.1:{dead[0]},127.0.0.1:{one.port},[::1]:{dead[1]}"
        ask(store, "create", "f", "-n", "1k")
        same(ask(store + "/0", "add", "--new", "f", "k"), b"k\n")
        ask(f"redis://127.0.0.1:{dead[0]},127.0.0.1:{dead[1]}", "list", status=2, why="Connection refused")
        for wrong in (",127.0.0.1", "127.0.0.1,", "127.0.0.1:1,,x", "a,b:0"):
            ask("redis://" + wrong, "list", status=2, why="the URL is not")
    with Cluster(3) as cluster:
        store = ",".join(["redis://127.0.0.1:%d" % free_port()] + ["127.0.0.1:%d" % one.port for one in cluster.servers])
        ask(store, "create", "f", "-n", "1k", "--shards", "8")
        same(ask(store, "add", "--new", "f", "k"), b"k\n")


run(a_server_by_tls, a_cluster_by_tls, any_of_several_hosts)
