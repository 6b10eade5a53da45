"""The control plane is killed with -9 at random moments under write load; nothing acknowledged is lost.

Writers create and change objects without pause and note what was acknowledged. A watcher follows with one resource
version in hand, as an informer does, and resumes after every cut. After each cut everything acknowledged must be there,
whole; nothing may be there that nobody sent; versions go up only; and the watcher must have seen it all in order.
"""

from __future__ import annotations

import hashlib
import http.client
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.harness import Cluster, Embedded

Json = Any
WRITERS = 4
PATH = "/api/v1/namespaces/default/configmaps"
FAULTS = (OSError, http.client.HTTPException)


def content(name: str, turn: int) -> Json:
    """Data that proves its own wholeness."""
    text = f"{name}/{turn}/" + "x" * 2000
    return {"turn": str(turn), "text": text, "sum": hashlib.sha256(text.encode()).hexdigest()}


@dataclass
class Ledger:
    """What was sent, and what was acknowledged: last turn and version by name."""

    sent: dict[str, int] = field(default_factory=dict)
    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Writer(threading.Thread):
    """Creates objects, and changes the last few of them, until told to stop; a cut makes it try the next one."""

    def __init__(self, cluster: Cluster, ledger: Ledger, number: int, stop: threading.Event) -> None:
        super().__init__()
        self.cluster, self.ledger, self.stop = cluster, ledger, stop
        self.names = [f"w{number}-{index}" for index in range(8)]
        self.turn = 0

    def run(self) -> None:
        while not self.stop.is_set():
            self.turn += 1
            for name in self.names:
                try:
                    self.write(name, self.turn)
                except FAULTS:
                    self.cluster.close()
                    time.sleep(0.02)
        self.cluster.close()

    def write(self, name: str, turn: int) -> None:
        body = {"metadata": {"name": name}, "data": content(name, turn)}
        with self.ledger.lock:
            known = name in self.ledger.acknowledged
            self.ledger.sent[name] = turn
        reply = self.cluster.http("PUT" if known else "POST", f"{PATH}/{name}" if known else PATH, body, timeout_s=5)
        if reply.status == 409 and not known:
            # An unacknowledged create was kept; that is allowed, and an update follows.
            reply = self.cluster.http("PUT", f"{PATH}/{name}", body, timeout_s=5)
        assert reply.status in (200, 201), (reply.status, reply.body[:300])
        version = int(reply.json["metadata"]["resourceVersion"])
        with self.ledger.lock:
            self.ledger.acknowledged[name] = (turn, version)


class Follower(threading.Thread):
    """Watches from the last version it saw, over every cut."""

    def __init__(self, cluster: Cluster, version: str, stop: threading.Event) -> None:
        super().__init__()
        self.cluster, self.version, self.stop = cluster, version, stop
        self.seen: dict[str, int] = {}
        self.wrong: list[str] = []

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                with self.cluster.watch(PATH, {"resourceVersion": self.version, "timeoutSeconds": 5}) as watch:
                    for event in watch:
                        self.note(event)
            except (*FAULTS, ValueError):
                time.sleep(0.02)

    def note(self, event: Json) -> None:
        if event["type"] == "ERROR":
            self.wrong.append(f"resuming from {self.version}: {event['object']}")
            return
        metadata = event["object"]["metadata"]
        if int(metadata["resourceVersion"]) <= int(self.version):
            self.wrong.append(f"{metadata['resourceVersion']} came after {self.version}")
        self.version = metadata["resourceVersion"]
        if event["type"] != "BOOKMARK" and metadata["name"].startswith("w"):
            self.seen[metadata["name"]] = int(event["object"]["data"]["turn"])


@pytest.fixture
def embedded() -> Iterator[Embedded]:
    server = Embedded()
    server.start()
    yield server
    server.stop()


def check(cluster: Cluster, ledger: Ledger) -> None:
    """Everything acknowledged is there, whole, and nothing that was never sent."""
    with ledger.lock:
        acknowledged = dict(ledger.acknowledged)
    listed = cluster.get(PATH)
    stored = {item["metadata"]["name"]: item for item in listed["items"] if item["metadata"]["name"].startswith("w")}
    with ledger.lock:
        sent = dict(ledger.sent)
    for name, (turn, version) in acknowledged.items():
        assert name in stored, f"{name} was acknowledged and is lost"
        found = int(stored[name]["data"]["turn"])
        assert turn <= found <= sent[name], f"{name}: turn {turn} was acknowledged, {found} is stored"
        assert int(stored[name]["metadata"]["resourceVersion"]) >= version
        assert int(listed["metadata"]["resourceVersion"]) >= version
    for name, item in stored.items():
        assert item["data"] == content(name, int(item["data"]["turn"])), f"{name} is half-written"
        assert item["metadata"]["uid"]


# Where the server dies between a client's connect and its handshake, Python's ssl forgets to close the client's socket.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("cuts", [3, pytest.param(50, marks=pytest.mark.kube)])
def test_no_acknowledged_write_is_lost_over_power_cuts(embedded: Embedded, cuts: int) -> None:
    """See the module's docstring."""
    chance = random.Random(cuts)
    cluster, ledger, stop, unfollow = embedded.cluster, Ledger(), threading.Event(), threading.Event()
    follower = Follower(cluster, cluster.get(PATH)["metadata"]["resourceVersion"], unfollow)
    writers = [Writer(cluster, ledger, number, stop) for number in range(WRITERS)]
    for thread in (*writers, follower):
        thread.start()
    try:
        for _ in range(cuts):
            time.sleep(chance.uniform(0.05, 0.6))
            embedded.kill()
            embedded.start()
            check(embedded.cluster, ledger)
        cluster.eventually("/version", lambda _: len(ledger.acknowledged) == WRITERS * 8)
        stop.set()
        for writer in writers:
            writer.join(30)
        check(embedded.cluster, ledger)
        last = {name: int(cluster.get(f"{PATH}/{name}")["data"]["turn"]) for name in ledger.acknowledged}
        cluster.eventually("/version", lambda _: follower.seen == last or follower.wrong)
        assert not follower.wrong
    finally:
        stop.set()
        unfollow.set()
        for thread in (*writers, follower):
            thread.join(30)
        cluster.close()
