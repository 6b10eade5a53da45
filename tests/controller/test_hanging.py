"""A write of a leader that hangs in the server while another takes over."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from random import Random

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUE_JOBS, QUEUES, WORKLOADS
from tidegate.kube.client import Client
from tidegate.kube.resources import NAMESPACES
from tidegate.kube.wire import Object, Request, Response
from tidegate.local.apiserver.deadline import MOST_S, asked_s
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.network import Fault, Network, Weather
from tidegate.sim.faults.operators import Process
from tidegate.sim.faults.server import SimulatedServer, a_folder


class Stuck(Network):
    """Where what grants one Workload hangs in the server until the last moment that this lets it."""

    def __init__(self, server: SimulatedServer, name: str = "") -> None:
        super().__init__(server.transport, Random(0), Weather(), Counter(), calm=True)
        self._at = f"/{name}/status"
        self.hangs = asyncio.Event()

    async def _carry(self, request: Request, fault: Fault | None) -> Response:
        if request.method == "PUT" and request.path.endswith(self._at) and b'"Admitted"' in request.body:
            self.hangs.set()
            await asyncio.sleep(0.99 * (asked_s(request) or MOST_S))
        return await super()._carry(request, fault)


def test_what_hangs_when_another_takes_over_takes_nobodys_room() -> None:
    """A leader gave free room to who was told to wait for it, and died; its write hung in the server. The next leader
    gave the room to somebody more urgent, and wrote nothing to the first, which had been told all there was to be told.
    Then the write took effect, and twice as much was granted as there was."""
    with a_folder() as folder:
        run(lambda loop: _story(folder, loop))


async def _story(folder: Path, loop: VirtualLoop) -> None:
    server = SimulatedServer(folder, loop, Random(0))
    server.start(controllers=False)
    client = server.client
    await _furnish(client)
    most: list[int] = []
    server.store.listen(lambda _: most.append(sum(map(_granted_to, server.objects("tidegate.dev/workloads/")))))
    wire = Stuck(server, "first")
    leader = Process(wire, loop, "one", skew_s=0, leads_alone=False)
    await _workload(client, "holds", 0)
    await asyncio.sleep(3)
    await _workload(client, "first", 0)
    await asyncio.sleep(5)
    assert await _granted(client) == {"holds": 2, "first": 0}
    await client.delete(WORKLOADS, "holds", "n")
    await wire.hangs.wait()
    await leader.kill()
    await _workload(client, "urgent", 10)
    follower = Process(Stuck(server), loop, "two", skew_s=0, leads_alone=False)
    await asyncio.sleep(90)
    follower.check()
    assert max(most) == 2, "at any moment"
    assert await _granted(client) == {"first": 2, "urgent": 0}, "what was written in time counts"
    await follower.kill()
    await server.stop()


class Lingering(Network):
    """Where every deletion hangs in the server until the last moment that this lets it."""

    def __init__(self, server: SimulatedServer) -> None:
        super().__init__(server.transport, Random(0), Weather(), Counter(), calm=True)
        self.hangs = asyncio.Event()

    async def _carry(self, request: Request, fault: Fault | None) -> Response:
        if request.method == "DELETE":
            self.hangs.set()
            await asyncio.sleep(0.99 * (asked_s(request) or MOST_S))
        return await super()._carry(request, fault)


def test_what_a_leader_deletes_is_gone_before_another_leads() -> None:
    """A leader took a pod from a QueueJob for somebody urgent, and died; the deletion hung in the server. The next one
    found that nobody was in need of that room any more: what it then does with the pod must be its own to decide."""
    with a_folder() as folder:
        run(lambda loop: _taken(folder, loop))


async def _taken(folder: Path, loop: VirtualLoop) -> None:
    server = SimulatedServer(folder, loop, Random(0))
    server.start(controllers=False)
    client = server.client
    await _furnish(client)
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    task = {"name": "t", "replicas": 2, "minReplicas": 1, "template": {"spec": {"containers": [container]}}}
    await client.create(QUEUE_JOBS, {"metadata": {"name": "j", "namespace": "n"}, "spec": {"taskSpecs": [task]}})
    wire = Lingering(server)
    leader = Process(wire, loop, "one", skew_s=0, leads_alone=False)
    await asyncio.sleep(5)
    mine = _uids(server)
    assert len(mine) == 2
    led: list[tuple[str, set[str]]] = []
    server.store.listen(lambda _: led.append((_holder(server), _uids(server))))
    await _workload(client, "urgent", 10, count=1)
    await wire.hangs.wait()
    await leader.kill()
    await client.delete(WORKLOADS, "urgent", "n")
    follower = Process(Stuck(server), loop, "two", skew_s=0, leads_alone=False)
    await asyncio.sleep(90)
    follower.check()
    assert {holder for holder, there in led if len(mine & there) == 2} == {"one"}
    assert led[-1][0] == "two"
    assert len(_uids(server)) == 2, "and it has the other again"
    await follower.kill()
    await server.stop()


def _holder(server: SimulatedServer) -> str:
    (lease,) = server.objects("coordination.k8s.io/leases/")
    return str(lease["spec"]["holderIdentity"])


def _uids(server: SimulatedServer) -> set[str]:
    pods = server.objects("core/pods/")
    return {pod["metadata"]["uid"] for pod in pods if not pod["metadata"].get("deletionTimestamp")}


async def _furnish(client: Client) -> None:
    await client.create(NAMESPACES, {"metadata": {"name": "n", "labels": {"tidegate.dev/managed": "true"}}})
    quotas = [{"flavor": "default", "resources": {"cpu": {"nominalQuota": "2"}}}]
    await client.create(CLUSTER_QUEUES, {"metadata": {"name": "x"}, "spec": {"quotas": quotas}})
    await client.create(QUEUES, {"metadata": {"name": "default", "namespace": "n"}, "spec": {"clusterQueue": "x"}})


async def _workload(client: Client, name: str, priority: int, *, count: int = 2) -> None:
    pods = {"name": "main", "count": count, "requests": {"cpu": "1"}}
    spec = {"queue": "default", "priority": priority, "podSets": [pods]}
    await client.create(WORKLOADS, {"metadata": {"name": name, "namespace": "n"}, "spec": spec})


async def _granted(client: Client) -> dict[str, int]:
    listed = (await client.list(WORKLOADS, "n")).items
    return {each["metadata"]["name"]: _granted_to(each) for each in listed}


def _granted_to(workload: Object) -> int:
    return sum(pods["granted"] for pods in (workload.get("status") or {}).get("podSets") or ())
