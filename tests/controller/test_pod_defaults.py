"""What the server fills into pods is counted before there are any: LimitRanges, runtime classes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controller.house import House
from tests.local.controllers.stage import runs
from tidegate.controller.kinds import WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import StatusError
from tidegate.kube.wire import Object

Json = Any


@pytest.fixture
async def classes(house: House) -> AsyncIterator[None]:
    """Runtime classes are everybody's: the one of a test is named as its namespace, and goes with it."""
    yield
    with contextlib.suppress(StatusError):
        await house.client.delete(r.RUNTIMECLASSES, house.namespace)


def container(name: str, **resources: Json) -> Json:
    return {"name": name, "image": "host", "command": ["true"], "resources": resources}


async def job(house: House, name: str, **pod: Json) -> None:
    template = {"spec": {"restartPolicy": "Never", **pod}}
    await house.create(r.JOBS, name, spec={"suspend": True, "template": template})


def requests(workload: Object) -> Json:
    return workload["spec"]["podSets"][0].get("requests") or {}


async def limits(house: House, cpu: str) -> None:
    item = {"type": "Container", "default": {"cpu": "3"}, "defaultRequest": {"cpu": cpu}}
    await house.create(r.LIMITRANGES, f"by-{cpu}", spec={"limits": [item]})


async def test_the_requests_of_a_limit_range_count(house: House) -> None:
    """A Job that said nothing was counted as nothing, and ten of them ran where there was room for four."""
    await limits(house, "1")
    await job(house, "open", containers=[container("a"), container("b", limits={"cpu": "500m"})])
    await house.see(WORKLOADS, "job-open", lambda obj: requests(obj) == {"cpu": "1500m"})
    await job(house, "stated", containers=[container("a", requests={"cpu": "250m"})])
    await house.see(WORKLOADS, "job-stated", lambda obj: requests(obj) == {"cpu": "250m"})


async def test_who_waits_asks_for_what_a_limit_range_says_by_then(house: House) -> None:
    await job(house, "big", containers=[container("a", requests={"cpu": "9"}), container("b")])
    await house.see(WORKLOADS, "job-big", lambda obj: requests(obj) == {"cpu": "9"})
    await limits(house, "1")
    await house.see(WORKLOADS, "job-big", lambda obj: requests(obj) == {"cpu": "10"})
    await limits(house, "2")
    await house.see(WORKLOADS, "job-big", lambda obj: requests(obj) == {"cpu": "11"})


async def test_what_runs_counts_what_it_was_admitted_with(house: House) -> None:
    """A LimitRange was changed, and everything that ran in its namespace counted three times as much: two of three were
    evicted, for pods that took no more than before. Who is held again asks for what it says by then."""
    await limits(house, "1")
    for name in ("a", "b", "c"):
        await job(house, name, containers=[container("main")])
        await house.see(r.JOBS, name, lambda job: (job.get("status") or {}).get("active") == 1)
    await house.act("job-name", runs)
    await limits(house, "3")
    await job(house, "later", containers=[container("main")])
    await house.see(WORKLOADS, "job-later", lambda obj: requests(obj) == {"cpu": "3"})
    await house.waits("job-later", "WaitingForQuota")
    # An application that runs is asked for anew whatever the reason, by whoever operates by then.
    await house.kill()
    house.start()
    await house.patch(r.JOBS, "a", {"metadata": {"labels": {"seen": "again"}}})
    await house.workload("small", 1)
    await house.state("small", "Admitted", granted=1)
    for name in ("a", "b", "c"):
        there = await house.get(WORKLOADS, f"job-{name}")
        assert requests(there) == {"cpu": "1"}
        assert there["metadata"]["generation"] == 1
        assert [each["type"] for each in there["status"]["conditions"]] == ["Admitted"]
    await house.patch(WORKLOADS, "job-a", {"spec": {"active": False}})
    await house.see(WORKLOADS, "job-a", lambda obj: requests(obj) == {"cpu": "3"})


async def overhead(house: House, cpu: str) -> None:
    """The runtime class of the house, with this overhead instead of any it had: a class that is there keeps its own."""
    with contextlib.suppress(StatusError):
        await house.client.delete(r.RUNTIMECLASSES, house.namespace)
    runtime = {"metadata": {"name": house.namespace}, "handler": "vm", "overhead": {"podFixed": {"cpu": cpu}}}
    await house.client.create(r.RUNTIMECLASSES, runtime)


async def vm(house: House, name: str, cpu: str = "1") -> None:
    await job(house, name, runtimeClassName=house.namespace, containers=[container("a", requests={"cpu": cpu})])


@pytest.mark.usefixtures("classes")
async def test_the_overhead_of_a_runtime_class_counts(house: House) -> None:
    await overhead(house, "250m")
    await vm(house, "vm")
    await house.see(WORKLOADS, "job-vm", lambda obj: requests(obj) == {"cpu": "1250m"})


@pytest.mark.usefixtures("classes")
async def test_an_overhead_that_changes_is_for_those_who_wait(house: House) -> None:
    """What runs has the overhead that it was made with, and nobody is evicted for another."""
    await overhead(house, "500m")
    for name in ("a", "b"):
        await vm(house, name)
        await house.see(r.JOBS, name, lambda job: (job.get("status") or {}).get("active") == 1)
    await vm(house, "waits", cpu="3")
    await house.see(WORKLOADS, "job-waits", lambda obj: requests(obj) == {"cpu": "3500m"})
    await overhead(house, "2")
    await house.see(WORKLOADS, "job-waits", lambda obj: requests(obj) == {"cpu": "5"})
    await house.waits("job-waits", "ExceedsQuota")
    # One cpu is left, as it was: what runs takes what it took.
    await house.workload("small", 1)
    await house.state("small", "Admitted", granted=1)
    for name in ("a", "b"):
        there = await house.get(WORKLOADS, f"job-{name}")
        assert requests(there) == {"cpu": "1500m"}
        assert [each["type"] for each in there["status"]["conditions"]] == ["Admitted"]
    await overhead(house, "250m")
    await house.see(WORKLOADS, "job-waits", lambda obj: requests(obj) == {"cpu": "3250m"})
    await house.patch(WORKLOADS, "job-a", {"spec": {"active": False}})
    await house.see(WORKLOADS, "job-a", lambda obj: requests(obj) == {"cpu": "1250m"})
