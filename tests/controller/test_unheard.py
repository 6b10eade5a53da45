"""What was made a moment ago is there, whether or not its event has come: pods are counted by what the server said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.controller.house import House
from tests.controller.test_queue_jobs import task
from tests.harness.cluster import PATIENCE_S
from tidegate.controller.applications.queue_jobs import QueueJobs
from tidegate.controller.kinds import QUEUE_JOBS
from tidegate.controller.watch.cache import Cache
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.wire import Object, Request, Response
from tidegate.model.jobs import builtin
from tidegate.model.kinds import Workload
from tidegate.model.kinds.shape import Metadata
from tidegate.model.kinds.workload import Owner, WorkloadSpec
from tidegate.model.resources import Resources
from tidegate.scheduler import PodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import FLAVOR, WORKLOAD

Json = Any


class Wire:
    """A server whose next watch can be made to begin with a new list, and the answer to its next POST to be lost."""

    def __init__(self, client: Client) -> None:
        self._transport = client._transport
        self.forgets = self.is_cut = False

    async def send(self, request: Request) -> Response:
        if self.is_cut and request.method == "POST":
            self.is_cut = False
            await self._transport.send(request)
            raise ConnectionResetError("the answer was lost")
        if self.forgets and request.query.get("watch") == "true" and request.query.get("resourceVersion"):
            self.forgets = False
            return Response(410, b'{"kind": "Status", "code": 410, "reason": "Expired"}')
        return await self._transport.send(request)

    async def close(self) -> None:
        """It is not ours to close."""


@asynccontextmanager
async def deaf(client: Client) -> AsyncIterator[Cache]:
    """Everything there is, and nothing that happens from now on."""
    cache = Cache(client, builtin())
    following = asyncio.create_task(cache.run())
    await cache.synced()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    yield cache


def always() -> bool:
    return True


def granted(name: str, **flavors: int) -> SeenWorkload:
    pods = PodSet(name="work", count=3, floor=0, requests=Resources.parse({"cpu": 1}), granted=flavors)
    return SeenWorkload(name=name, queue="a/default", created=0, admitted_at=1, pod_sets=(pods,))


def workload_of(job: Object) -> Workload:
    meta = job["metadata"]
    owner = Owner(api_version=QUEUE_JOBS.api_version, kind="QueueJob", name=meta["name"], uid=meta["uid"])
    spec = WorkloadSpec(queue="default", owner=owner, pod_sets=())
    return Workload(metadata=Metadata(name="queuejob-gang", namespace=meta["namespace"]), spec=spec)


async def test_a_gang_that_grows_into_a_second_flavor_does_not_make_its_last_pod_twice(house: House) -> None:
    """Seed 76: one pod was made, and its event was late. When one more was granted, of another flavor, the first place
    seemed free and was taken for that; its name was taken, so the next place got a second pod of the first flavor."""
    await house.kill()
    job = await house.create(QUEUE_JOBS, "gang", spec={"taskSpecs": [task("work", 3)]})
    workload, name = workload_of(job), f"{house.namespace}/queuejob-gang"
    async with deaf(house.client) as cache:
        hands = QueueJobs(house.client, cache)
        await hands.carry_out(workload, granted(name, slow=1), {}, stands=always)
        assert len(cache.pods_of(name)) == 1, "its room counts from the server's answer on"
        await hands.carry_out(workload, granted(name, fast=1, slow=1), {}, stands=always)
    made = [pod["metadata"]["annotations"][FLAVOR] for pod in await house.list(r.PODS)]
    assert sorted(made) == ["fast", "slow"]


async def test_a_pod_that_was_made_by_a_write_without_an_answer_counts_when_it_is_met(house: House) -> None:
    """The write was tried again and refused, since the pod was there; until its event came its room was anybody's."""
    await house.kill()
    job = await house.create(QUEUE_JOBS, "gang", spec={"taskSpecs": [task("work", 3)]})
    workload, name = workload_of(job), f"{house.namespace}/queuejob-gang"
    wire = Wire(house.client)
    async with deaf(Client(wire)) as cache:
        hands, wire.is_cut = QueueJobs(Client(wire), cache), True
        with pytest.raises(ConnectionResetError):
            await hands.carry_out(workload, granted(name, slow=1), {}, stands=always)
        assert not cache.pods_of(name)
        await hands.carry_out(workload, granted(name, slow=1), {}, stands=always)
        assert len(cache.pods_of(name)) == 1


async def test_what_came_and_went_between_two_lists_is_gone(house: House) -> None:
    """No event tells of it: it would count for ever, and whoever lost it would wait for ever."""
    await house.kill()
    wire = Wire(house.client)
    container = {"name": "main", "image": "host"}
    body = {"metadata": {"name": "p", "annotations": {WORKLOAD: "w"}}, "spec": {"containers": [container]}}
    async with deaf(Client(wire)) as cache:
        lost = asyncio.Event()
        cache.on_pod(lambda old, new: lost.set() if new is None else None)
        cache.pods.wrote(await house.client.create(r.PODS, body, house.namespace))
        assert len(cache.pods_of(f"{house.namespace}/w")) == 1
        await house.client.delete(r.PODS, "p", house.namespace, grace_period_s=0)
        wire.forgets = True
        following = asyncio.create_task(cache._pods.run())
        await asyncio.wait_for(lost.wait(), PATIENCE_S)
        assert not cache.pods_of(f"{house.namespace}/w")
        following.cancel()
