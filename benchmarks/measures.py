"""What is measured: one function per group of rows, each for one running server."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness import Cluster, Embedded, RealKube
from tests.harness.processes import resident_bytes

OBJECTS = 10_000
_runs = itertools.count()


@dataclass(frozen=True, slots=True)
class Row:
    """One number of one server. `smaller` says which way is better."""

    name: str
    value: float
    unit: str
    smaller: bool = False


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    seconds: float
    watch_writes: int


@dataclass(slots=True)
class Server:
    """A server under measurement: how to start it, and what counts as its memory."""

    name: str
    started: Embedded | RealKube

    @property
    def cluster(self) -> Cluster:
        return self.started.cluster

    def resident_mb(self) -> float:
        return sum(map(family_bytes, (process.pid for process in self.started.running.values()))) / 1e6


def family_bytes(pid: int) -> int:
    """Resident memory of a process and all it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return resident_bytes(pid) + sum(family_bytes(int(child)) for child in children)


def fresh(name: str) -> Server:
    """A new server with an empty store. The peer is etcd and kube-apiserver alone, without controllers."""
    started = Embedded(agent=True) if name == "embedded" else RealKube(controllers=False, durable=True)
    started.start()
    return Server(name, started)


def load(server: Server, operation: str, **spec: Any) -> dict[str, Any]:
    """Run one load process to its end."""
    cluster = server.cluster
    given = {
        "url": cluster.url,
        "ca": str(cluster.ca_file),
        "token": cluster.token,
        "operation": operation,
        "run": f"{operation}{next(_runs)}",
        **spec,
    }
    command = [sys.executable, "-m", "benchmarks.load", json.dumps(given)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    assert not result["errors"], f"{server.name} {operation}: {result['errors']}"
    return result


def namespace(server: Server) -> str:
    """A namespace with its service account, which the peer's missing controllers would make."""
    name: str = server.cluster.create("/api/v1/namespaces", {"metadata": {"generateName": "bench-"}})["metadata"][
        "name"
    ]
    server.cluster.http("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})
    server.cluster.eventually(f"/api/v1/namespaces/{name}/serviceaccounts/default", lambda reply: reply.status == 200)
    return name


def writes(server: Server, effort: Effort) -> Iterator[Row]:
    """Creates, updates and status patches of pods, by one client and by 32 at once."""
    for operation, title in (("create", "creates"), ("update", "updates"), ("status", "status patches")):
        for clients in (1, 32):
            done = load(server, operation, namespace=namespace(server), clients=clients, seconds=effort.seconds)
            yield Row(f"{title}, {clients} client{'s' * (clients > 1)}", done["count"] / done["seconds"], "/s")
            if clients == 32:
                yield Row(f"{title}, 32 clients, p99", done["p99"] * 1e3, "ms", smaller=True)


def watches(server: Server, effort: Effort) -> Iterator[Row]:
    """From the start of a write to its arrival at each of 100 watchers."""
    done = load(server, "watch", namespace=namespace(server), watchers=100, writes=effort.watch_writes)
    yield Row("write to 100 watchers, p50", done["p50"] * 1e3, "ms", smaller=True)
    yield Row("write to 100 watchers, p99", done["p99"] * 1e3, "ms", smaller=True)


def bulk(server: Server, effort: Effort) -> Iterator[Row]:
    """Many objects: how fast they are listed, and what they weigh."""
    name = namespace(server)
    load(server, "create", namespace=name, clients=32, seconds=600, total=OBJECTS)
    listed = load(server, "list", path=f"/api/v1/namespaces/{name}/pods", repeats=5)
    yield Row(f"list of {OBJECTS:,} pods", listed["seconds"] * 1e3, "ms", smaller=True)
    yield Row(f"list of {OBJECTS:,} pods, throughput", listed["bytes"] / listed["seconds"] / 1e6, "MB/s")
    time.sleep(2)
    yield Row(f"memory with {OBJECTS:,} pods", server.resident_mb(), "MB", smaller=True)


def idle(server: Server, effort: Effort) -> Iterator[Row]:
    """What a server costs before anybody uses it. Asked of a server just started."""
    yield Row("time to ready", server.started.ready_s * 1e3, "ms", smaller=True)
    time.sleep(3)
    yield Row("memory, idle", server.resident_mb(), "MB", smaller=True)


GROUPS: dict[str, Callable[[Server, Effort], Iterator[Row]]] = {
    "idle": idle,
    "writes": writes,
    "watches": watches,
    "bulk": bulk,
}
