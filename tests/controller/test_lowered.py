"""Jobs that are given less before all they were let go with has come: a controller makes what it has read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.controller.lowered import Lowered
from tidegate.controller.operator import Operator
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.wire import Object
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.server import SimulatedServer, a_folder
from tidegate.workloads import LetGo, pod_facts

Json = Any
CPUS = 4
FAR = 5
"""With this seed other controllers are up to a second away from the server."""
KEY = ("n", "w")


@pytest.mark.parametrize("after_s", [0.5, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("preempts", [False, True])
def test_what_a_job_may_still_make_is_nobody_elses(after_s: float, preempts: bool) -> None:
    """A Job was let go with four pods and shrunk to one, or held, for another. Its controller had read the four, and
    made them: there were seven pods on four cpus, until it had heard. Nobody was killed, and nothing had failed."""
    with a_folder() as folder:
        run(lambda loop: _story(folder, loop, after_s, preempts))


async def _story(folder: Path, loop: VirtualLoop, after_s: float, preempts: bool) -> None:
    server = SimulatedServer(folder, loop, Random(FAR))
    server.start()
    client = server.client
    await _furnish(client)
    operating = asyncio.create_task(Operator(Client(server.transport), clock=loop.unix).run())
    await asyncio.sleep(5)
    most: list[int] = []
    server.store.listen(lambda _: most.append(sum(pod_facts(pod).present for pod in server.objects("core/pods/"))))
    await _job(client, "first", 4, least=4 if preempts else 1)
    await asyncio.sleep(after_s)
    await _job(client, "second", 3, least=3, urgent=preempts)
    await asyncio.sleep(60)
    second = await client.get(WORKLOADS, "job-second", "n")
    assert second["status"]["podSets"][0]["granted"] == 3, "and it is not kept waiting for ever"
    assert (await client.get(r.JOBS, "second", "n"))["status"]["active"] == 3
    assert max(most) <= CPUS
    operating.cancel()
    await asyncio.gather(operating, return_exceptions=True)
    await server.stop()


async def _furnish(client: Client) -> None:
    await client.create(r.NAMESPACES, {"metadata": {"name": "n", "labels": {"tidegate.dev/managed": "true"}}})
    quotas = [{"flavor": "default", "resources": {"cpu": {"nominalQuota": str(CPUS)}}}]
    spec = {"quotas": quotas, "preemption": {"withinQueue": "LowerPriority"}}
    await client.create(CLUSTER_QUEUES, {"metadata": {"name": "x"}, "spec": spec})
    await client.create(QUEUES, {"metadata": {"name": "default", "namespace": "n"}, "spec": {"clusterQueue": "x"}})
    await client.create(r.PRIORITYCLASSES, {"metadata": {"name": "urgent"}, "value": 10})


async def _job(client: Client, name: str, count: int, *, least: int, urgent: bool = False) -> None:
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    meta: Json = {"name": name, "namespace": "n", "annotations": {"tidegate.dev/min-count": str(least)}}
    if urgent:
        meta["labels"] = {"tidegate.dev/priority-class": "urgent"}
    spec = {"suspend": True, "parallelism": count, "completions": count, "template": template}
    await client.create(r.JOBS, {"metadata": meta, "spec": spec})


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def job(**status: Json) -> Object:
    return {"metadata": {"uid": "1"}, "status": status}


def test_it_counts_until_its_controller_has_spoken_and_the_news_of_its_pods_are_there() -> None:
    clock = Clock()
    lowered = Lowered(clock)
    lowered.lowered(KEY, job(active=1), {"main": LetGo(4, "fast")}, {"main": 1})
    assert lowered.beside(KEY, {"main": LetGo(1, "fast")}) == {"main": LetGo(4, "fast")}
    lowered.heard(KEY, job(active=1))
    assert lowered.until(KEY) == 110, "it has not said anything"
    lowered.heard(KEY, job(active=4))
    assert lowered.until(KEY) == 101
    clock.now = 101
    assert lowered.beside(KEY, {"main": LetGo(4, "fast")}) == {"main": LetGo(4, "fast")}, "which tells that itself now"
    assert lowered.beside(KEY, {}) == {}


def test_of_a_controller_that_has_nothing_to_say_it_is_not_waited_for_ever() -> None:
    """It had not heard of more, nor of less: as it was before, it is again."""
    clock = Clock()
    lowered = Lowered(clock)
    lowered.lowered(KEY, job(active=1), {"main": LetGo(4)}, {"main": 1})
    clock.now = 110
    assert lowered.until(KEY) is None
    assert lowered.beside(KEY, {"main": LetGo(1)}) == {"main": LetGo(1)}


def test_less_and_less_counts_as_what_it_was_first() -> None:
    lowered = Lowered(Clock())
    lowered.lowered(KEY, job(active=1), {"main": LetGo(4)}, {"main": 1})
    lowered.lowered(KEY, job(active=1), {"main": LetGo(2)}, {"main": 1})
    assert lowered.beside(KEY, {}) == {"main": LetGo(4)}


def test_what_has_all_come_is_seen_and_need_not_be_remembered() -> None:
    lowered = Lowered(Clock())
    lowered.lowered(KEY, job(active=4), {"main": LetGo(4)}, {"main": 4})
    assert lowered.until(KEY) is None
