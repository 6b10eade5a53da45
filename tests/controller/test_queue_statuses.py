"""Statuses of queues are what was last meant, whatever is heard of them and when."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.structs import replace

from tests.controller.house import House
from tests.controller.test_hazards import ONE
from tests.controller.test_unheard import deaf
from tests.harness.cluster import PATIENCE_S
from tidegate.controller.kinds import CLUSTER_QUEUES
from tidegate.controller.queues.statuses import QueueStatuses
from tidegate.controller.seen.config import snapshot
from tidegate.controller.watch.cache import Cache
from tidegate.scheduler import Plan, PodSet, Workload, plan

NOW = 1_800_000_000


def planned(cache: Cache, house: House, pods: int) -> Plan:
    """What a plan tells of the queues while one Workload has so many pods."""
    some = {"default": pods} if pods else {}
    main = PodSet(name="main", count=3, floor=0, requests=ONE, granted=some, present=some)
    queue = f"{house.namespace}/default"
    running = Workload(name=f"{house.namespace}/w", queue=queue, created=0, admitted_at=1, pod_sets=(main,))
    config = snapshot((), (), cache.cluster_queues.all(), cache.queues.all(), cache.namespaces.all())
    return plan(replace(config, workloads=(running,)), NOW)


async def used(house: House) -> Any:
    return (await house.client.get(CLUSTER_QUEUES, house.namespace))["status"]["used"]


async def test_an_earlier_status_that_is_heard_of_late_is_put_right(house: House) -> None:
    """Seed 440: one pod ended and another began. That none was in use was written and not heard of yet, so that one is
    in use was what the copy said already, and was not written: the queue said for ever that it was idle."""
    await house.kill()
    async with deaf(house.client) as cache:
        assert await QueueStatuses(house.client, cache).write(planned(cache, house, 1), NOW)
    async with deaf(house.client) as cache:
        statuses, differs = QueueStatuses(house.client, cache), asyncio.Event()
        statuses.differs = differs.set
        for pods in (0, 1):
            assert await statuses.write(planned(cache, house, pods), NOW)
        assert await used(house) == {}, "the copy was behind"
        following = asyncio.create_task(cache.cluster_queues.run())
        await asyncio.wait_for(differs.wait(), PATIENCE_S)
        assert await statuses.write(planned(cache, house, 1), NOW)
        assert await used(house) == {"default": {"cpu": "1"}}
        following.cancel()


async def test_the_echo_of_what_was_meant_is_no_news(house: House) -> None:
    await house.kill()
    async with deaf(house.client) as cache:
        statuses, differs, heard = QueueStatuses(house.client, cache), asyncio.Event(), asyncio.Event()
        statuses.differs = differs.set
        assert await statuses.write(planned(cache, house, 1), NOW)
        cache.cluster_queues.on_change(lambda old, new: heard.set() if old is not None else None)
        following = asyncio.create_task(cache.cluster_queues.run())
        await asyncio.wait_for(heard.wait(), PATIENCE_S)
        assert not differs.is_set()
        following.cancel()
