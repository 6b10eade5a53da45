"""What is taken back while it is being carried out is not let go any more."""

from __future__ import annotations

from collections.abc import Callable

from tests.controller.house import House
from tests.controller.test_pods import gang, is_free, pod
from tests.controller.test_queue_jobs import task
from tests.controller.test_unheard import deaf, granted, workload_of
from tidegate.controller.applications.gates import Gates
from tidegate.controller.applications.queue_jobs import QueueJobs
from tidegate.controller.kinds import QUEUE_JOBS
from tidegate.kube import resources as r


def times(count: int) -> Callable[[], bool]:
    """True so many times, and then no more."""
    left = iter([True] * count)
    return lambda: next(left, False)


async def test_gates_are_lifted_no_longer_than_the_grant_stands(house: House) -> None:
    """Seed 320: gates were lifted one after another, and the grant was taken back while the first was. The others were
    lifted all the same, up to seconds later: only what is sent already may still arrive."""
    await house.kill()
    for name in ("x-0", "x-1"):
        await pod(house, name, **gang("x", 2))
    async with deaf(house.client) as cache:
        seen = granted(f"{house.namespace}/podgroup-x", default=2)
        members = {"x-0": "work", "x-1": "work"}
        await Gates(house.client, cache).settle(seen, members, {}, stands=times(1))
    free = [is_free(await house.get(r.PODS, name)) for name in ("x-0", "x-1")]
    assert free == [True, False]


async def test_pods_are_made_no_longer_than_the_grant_stands(house: House) -> None:
    await house.kill()
    job = await house.create(QUEUE_JOBS, "gang", spec={"taskSpecs": [task("work", 3)]})
    seen = granted(f"{house.namespace}/queuejob-gang", default=3)
    async with deaf(house.client) as cache:
        await QueueJobs(house.client, cache).carry_out(workload_of(job), seen, {}, stands=times(2))
    assert len(await house.list(r.PODS)) == 2
