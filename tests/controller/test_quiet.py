"""Nothing is written without need: not while nothing changes, and not for every pod of many."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.controller.bench import Bench, Play, quota
from tests.controller.test_refusals import job
from tidegate.controller.kinds import CLUSTER_QUEUES, WORKLOADS
from tidegate.kube.resources import JOBS, PODS
from tidegate.kube.wire import Object

Json = Any


async def pods_of(bench: Bench, name: str, count: int, *, every_s: float = 0.0) -> None:
    """Pods as the controller of a Job makes them, one after another."""
    made: Object = await bench.client.get(JOBS, name, "n")
    template = made["spec"]["template"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": made["metadata"]["uid"], "controller": True}
    for number in range(count):
        meta = {**template["metadata"], "name": f"{name}-{number}", "namespace": "n", "ownerReferences": [owner]}
        await bench.client.create(PODS, {"metadata": meta, "spec": template["spec"]})
        await asyncio.sleep(every_s)


async def running(bench: Bench, name: str) -> int:
    """How many pods of it run, as it was told."""
    found: Object = await bench.client.get(WORKLOADS, name, "n")
    return int(found["status"]["podSets"][0]["running"])


@pytest.mark.parametrize("led", [False, True], ids=["alone", "by a lease"])
def test_nothing_but_the_lease_is_written_while_nothing_changes(play: Play, led: bool) -> None:
    """Work runs, work waits, and an hour passes."""

    async def story(bench: Bench) -> None:
        await job(bench, "runs")
        await asyncio.sleep(5)
        for name, count in (("also", 1), ("waits", 1), ("large", 9)):
            await bench.workload(name, "left", count=count)
        await asyncio.sleep(5)
        await pods_of(bench, "runs", 1)
        await asyncio.sleep(30)
        assert await bench.reason("waits") == "WaitingForQuota"
        bench.wire.writes.clear()
        await asyncio.sleep(3600)
        assert set(bench.wire.writes) <= {"PUT leases"}
        assert bench.wire.writes["PUT leases"] <= led * 1800

    play(story, led=led)


def test_pods_that_come_are_counted_once_a_second_and_not_one_by_one(play: Play) -> None:
    """A Job of a thousand pods was written about with every cycle while they came. Before that it was not looked at
    at all: each pod had it described anew, and who is being described was left out of the cycle."""

    async def story(bench: Bench) -> None:
        await bench.client.patch(CLUSTER_QUEUES, "left", {"spec": {"quotas": quota(1000)}})
        await job(bench, "wide", count=1000)
        await asyncio.sleep(5)
        assert await bench.state("job-wide") == "Admitted"
        bench.wire.writes.clear()
        coming = asyncio.create_task(pods_of(bench, "wide", 1000, every_s=0.005))
        await asyncio.sleep(4)
        assert 400 <= await running(bench, "job-wide") <= 900, "who is asked for all the time is looked at too"
        await coming
        await asyncio.sleep(3)
        assert await running(bench, "job-wide") == 1000
        assert bench.wire.writes["PUT workloads"] <= 8, "five seconds, and what follows"
        assert bench.wire.writes["PUT jobs"] == 0

    play(story)


def test_where_thousands_are_admitted_not_everybody_gets_an_event(play: Play) -> None:
    """Each admission was two writes, a status and an event that says the same, and the server's time was shared."""

    async def story(bench: Bench) -> None:
        await bench.client.patch(CLUSTER_QUEUES, "left", {"spec": {"quotas": quota(1000)}})
        for number in range(600):
            await bench.workload(f"w{number}", "left", count=1)
        await asyncio.sleep(4)
        assert await bench.state("w599") == "Admitted"
        assert 250 <= bench.wire.writes["POST events"] <= 400

    play(story)
