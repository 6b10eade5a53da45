"""What the dialect door made beside an object goes with it; what it made for one that never came goes by itself."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controller.doors.test_dialects import POD, POD_GROUPS, defined
from tests.local.controllers.stage import Stage
from tidegate.controller.doors.adopting import Adopting, made_for, owners_of
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin

Json = Any
POD_HEAD = {"apiVersion": "v1", "kind": "Pod"}


@pytest.fixture
async def stage(client: Client) -> AsyncIterator[Stage]:
    stage = Stage(client)
    await stage.open()
    async with defined(client, POD_GROUPS):
        await stage.until(lambda: _served(stage))
        yield stage
    await client.delete(r.NAMESPACES, stage.namespace)


async def _served(stage: Stage) -> bool:
    with contextlib.suppress(Exception):
        await stage.list(POD_GROUPS)
        return True
    return False


@contextlib.asynccontextmanager
async def adopting(client: Client, *, later_s: float = 0) -> AsyncIterator[None]:
    adopting = Adopting(client, builtin(), clock=lambda: time.time() + later_s)
    adopting.begin()
    task = asyncio.create_task(adopting.run())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def group(stage: Stage, name: str, members: int, made: Json) -> Object:
    body = made_for({"metadata": {"name": name}, "spec": {"minMember": members}}, made)
    return await stage.client.create(POD_GROUPS, body, stage.namespace)


async def owners(stage: Stage, name: str) -> set[str]:
    found = await stage.get(POD_GROUPS, name)
    return {each["name"] for each in found["metadata"].get("ownerReferences") or ()}


async def test_one_whose_object_was_refused_is_deleted_when_that_cannot_come_any_more(stage: Stage) -> None:
    refused = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "refused"}}
    await group(stage, "refused-pg", 2, refused)
    theirs = {"metadata": {"name": "theirs", "labels": {"app.kubernetes.io/managed-by": "tidegate"}}}
    await stage.client.create(POD_GROUPS, theirs, stage.namespace)
    async with adopting(stage.client, later_s=600):

        async def gone() -> bool:
            return not await stage.exists(POD_GROUPS, "refused-pg")

        await stage.until(gone)
    assert await stage.exists(POD_GROUPS, "theirs"), "nothing says what it was made for"


async def test_a_gang_of_pods_owns_its_group_once_all_of_them_are_there(stage: Stage) -> None:
    """The first of them might go before the second comes, and would take the group with it."""
    notes = {"scheduling.k8s.io/group-name": "gang"}
    gates = [{"name": "example.com/wait"}]

    async def pod(name: str) -> None:
        meta = {"name": name, "annotations": notes}
        await stage.client.create(
            r.PODS, {"metadata": meta, "spec": {**POD, "schedulingGates": gates}}, stage.namespace
        )

    await group(stage, "gang", 2, {**POD_HEAD, "metadata": {"name": "a"}})
    await pod("a")
    async with adopting(stage.client):
        await pod("b")

        async def owned() -> bool:
            return await owners(stage, "gang") == {"a", "b"}

        await stage.until(owned)


def test_an_object_that_the_server_names_is_known_by_what_it_says() -> None:
    pods = {"metadata": {"annotations": {"scheduling.k8s.io/group-name": "g-pg"}}, "spec": {}}
    jobs = [
        {"kind": "Job", "metadata": {"name": "job-x7f2p"}, "spec": {"template": pods}},
        {"kind": "Job", "metadata": {"name": "another"}, "spec": {"template": {"spec": {}}}},
    ]
    made = {"metadata": {"name": "g-pg"}}
    assert owners_of(made, "", jobs) == [jobs[0]]
    assert owners_of(made, "another", jobs) == [jobs[1]]
    assert owners_of(made, "absent", [jobs[1]]) == []
