# SPDX-License-Identifier: BSD-2-Clause
"""A Redis Cluster of servers with the module, for the time of a `with`; without `places`, on ports of 127.0.0.1 of its own."""
import signal

from harness import MODULE, eventually
from redis_server import Server

SLOTS = 16384


class Cluster:
    """`masters` masters that share the slots evenly, and a replica for each number of a master in `replicas`.
    `places`: for each server, what else it is made with, such as its host."""

    def __init__(self, masters=3, replicas=(), timeout_ms=1500, places=None, **settings):
        places = places or [{}] * (masters + len(replicas))
        self.servers = [Server(MODULE, cluster_enabled="yes", cluster_node_timeout=timeout_ms,
                               repl_diskless_sync_delay=0, repl_ping_replica_period=1, **settings, **place)
                        for place in places]
        self.replica_of = replicas
        self.masters = self.servers[:masters]
        self.replicas = self.servers[masters:]

    def __enter__(self):
        for server in self.servers:
            server.__enter__()
        self.meet()
        return self

    def meet(self):
        count = len(self.masters)
        for i, server in enumerate(self.masters):
            first, last = SLOTS * i // count, SLOTS * (i + 1) // count - 1
            server.client().good("CLUSTER", "ADDSLOTSRANGE", first, last)
        for i, server in enumerate(self.servers):
            server.client().good("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for server in self.servers[1:]:
            self.servers[0].client().good("CLUSTER", "MEET", server.host,
                                          server.settings.get("tls-port", server.port))
        eventually(lambda: all(self.knows_all(server) for server in self.servers), "all nodes know each other")
        for of, server in zip(self.replica_of, self.replicas):
            server.client().good("CLUSTER", "REPLICATE", self.name(self.masters[of]))
        eventually(lambda: all(self.is_whole(server) for server in self.servers), "the cluster is whole")

    def knows_all(self, server):
        nodes = server.client().good("CLUSTER", "NODES").decode().splitlines()
        return len(nodes) == len(self.servers) and not any("handshake" in line for line in nodes)

    def is_whole(self, server):
        info = server.client().good("CLUSTER", "INFO").decode()
        if "cluster_state:ok" not in info:
            return False
        if server in self.replicas:
            return "master_link_status:up" in server.client().good("INFO", "replication").decode()
        slots = server.client().good("CLUSTER", "SLOTS")
        return sum(len(line) - 3 for line in slots) >= len(self.replicas)

    @staticmethod
    def name(server):
        return server.client().good("CLUSTER", "MYID").decode()

    def url(self, at=0):
        return self.servers[at].url()

    def slots_of(self, server):
        """The slots that the server has by its own word."""
        mine = self.name(server)
        for line in server.client().good("CLUSTER", "NODES").decode().splitlines():
            words = line.split()
            if words[0] != mine:
                continue
            ranges = [word for word in words[8:] if not word.startswith("[")]
            return [slot for part in ranges
                    for slot in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]
        return []

    def move(self, slot, source, target, between=lambda: None):
        """Moves a slot with its keys, as redis-cli --cluster reshard does; `between` is called while it is
        half moved."""
        source_id, target_id = self.name(source), self.name(target)
        a, b = source.client(), target.client()
        b.good("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
        a.good("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        between()
        while True:
            keys = a.good("CLUSTER", "GETKEYSINSLOT", slot, 10)
            if not keys:
                break
            a.good("MIGRATE", target.host, target.port, "", 0, 20000, "KEYS", *keys)
            between()
        b.good("CLUSTER", "SETSLOT", slot, "NODE", target_id)
        a.good("CLUSTER", "SETSLOT", slot, "NODE", target_id)

    @staticmethod
    def role(server):
        return server.client().good("ROLE")[0].decode()

    @staticmethod
    def hang(server):
        server.process.send_signal(signal.SIGSTOP)

    def __exit__(self, kind, *rest):
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
            server.__exit__(kind, *rest)
