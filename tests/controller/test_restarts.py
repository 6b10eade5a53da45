"""An operator that is killed anywhere, again and again, grants nothing twice and loses nothing."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.controller.house import House
from tests.controller.trace import Trace
from tests.local.controllers.stage import succeeds
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.controller.seen.config import snapshot
from tidegate.controller.seen.workloads import Facts, seen_workload
from tidegate.kube import resources as r
from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.kinds import Workload
from tidegate.scheduler import plan

Json = Any
JOBS = 6


async def _play(house: House, chance: random.Random) -> None:
    """Kill and start the operator at random moments while Jobs come, run and end."""
    house.start()
    for number in range(JOBS):
        await house.queued_job(f"job-{number}", chance.randint(1, 3), least=chance.choice([None, 1]))
    for _ in range(200):
        await asyncio.sleep(chance.random() * 0.15)
        if chance.random() < 0.4:
            await house.kill()
            house.start()
        for number in range(JOBS):
            await house.act(f"job-name=job-{number}", succeeds if chance.random() < 0.5 else lambda _: None)
        jobs = await house.list(r.JOBS)
        if all(job["status"].get("completionTime") for job in jobs):
            return
    raise AssertionError([(job["metadata"]["name"], job["spec"]["suspend"], job["status"]) for job in jobs])


@pytest.mark.parametrize("seed", range(3))
async def test_killed_at_random_moments(house: House, seed: int) -> None:
    """Every Job runs to its end; what is granted never exceeds the quota; nothing is admitted twice."""
    await house.kill()
    trace = Trace(house)
    watching = asyncio.create_task(trace.watch())
    with trace.told():
        await _play(house, random.Random(seed))
        for number in range(JOBS):
            await house.state(f"job-job-{number}", "Finished", granted=0)
        watching.cancel()
        assert 0 < trace.most <= house.cpu
        assert trace.admissions == {f"job-job-{number}": 1 for number in range(JOBS)}


async def test_what_is_granted_is_what_the_planner_says(house: House) -> None:
    """A fresh plan over what the API says finds nothing to change."""
    for name, count, least in (("a", 2, None), ("b", 4, 1), ("c", 3, None), ("d", 1, 0)):
        await house.workload(name, count, least=least)
    for name in ("a", "b", "d"):
        await house.state(name, "Admitted")
    await house.waits("c", "WaitingForQuota")
    await house.kill()
    listed = await house.list(WORKLOADS)
    config = snapshot([], [], (await house.client.list(CLUSTER_QUEUES)).items, await house.list(QUEUES), [])
    workloads = tuple(seen_workload(read(Workload, each), Facts()) for each in listed)
    now = max(workload.created for workload in workloads) + 1
    assert plan(replace(config, workloads=workloads), now).is_empty
    before = {each["metadata"]["name"]: _decided(each) for each in listed}
    house.start()
    await house.workload("e", 9)
    await house.waits("e", "ExceedsQuota")
    after = {each["metadata"]["name"]: _decided(each) for each in await house.list(WORKLOADS)}
    assert {name: after[name] for name in before} == before, "a restart decides nothing where nothing is different"


def _decided(workload: Object) -> Json:
    return workload["status"]["podSets"], workload["status"]["conditions"]
