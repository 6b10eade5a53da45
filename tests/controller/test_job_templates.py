"""What is written into the pods of a Job, and when: servers take no change of what runs, or may still run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.controller.applications.form import Flavors, wanted_form
from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, QUEUES
from tidegate.controller.operator import Operator
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.resources import Resources
from tidegate.scheduler import PodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.server import SimulatedServer, a_folder

Json = Any
POOL = "example.com/pool"
FLAVOR = "tidegate.dev/flavor"
ENDED = {"lastTransitionTime": "2026-01-01T00:00:00Z", "status": "True"}


def a_job(**spec: Json) -> Json:
    job = {**sample("Job"), "apiVersion": "batch/v1", "kind": "Job"}
    return {**job, "spec": {**job["spec"], "suspend": True, "parallelism": 3, "completions": 3, **spec}}


def seen(count: int = 3, **pod_set: Json) -> SeenWorkload:
    pods = PodSet(name="main", count=count, floor=0, requests=Resources.parse({"cpu": 1}), **pod_set)
    return SeenWorkload(name="a/w", queue="a/default", created=0, admitted_at=1, pod_sets=(pods,))


def form(job: Json, told: SeenWorkload, flavors: Flavors | None = None) -> Json:
    return wanted_form(builtin().of(job), job, told, flavors or {}, kinds=builtin())


def marks(job: Json) -> Json:
    return job["spec"]["template"]["metadata"]["annotations"]


def test_a_job_whose_pods_have_all_ended_is_left_alone() -> None:
    """Seeds 6, 10 and 16: all pods of a Job had ended well, and it was about to say that it was complete. As nothing
    more was granted to it, it was held, and then to be let go with pods of no flavor, which the server refused."""
    job = form(a_job(), seen(granted={"fast": 3}))
    over = {**job, "status": {"startTime": "2026-01-01T00:00:00Z", "succeeded": 3}}
    assert form(over, seen(ended=3)) == over


def test_a_flavor_that_changes_changes_nothing_of_what_runs() -> None:
    """A ResourceFlavor got another label, and no Job that ran on it could grow or shrink any more: with its new size
    the new label was written into it, which the server refused."""
    first = {"fast": ResourceFlavorSpec(node_labels={POOL: "fast"})}
    job = form(a_job(), seen(granted={"fast": 3}), first)
    later = {"fast": ResourceFlavorSpec(node_labels={POOL: "fast", "example.com/zone": "b"})}
    shrunk = form(job, seen(granted={"fast": 1}, present={"fast": 3}), later)
    assert shrunk["spec"] == {**job["spec"], "parallelism": 1}
    anew = form(a_job(), seen(granted={"fast": 3}), later)
    assert anew["spec"]["template"]["spec"]["nodeSelector"] == {POOL: "fast", "example.com/zone": "b"}


def test_another_queue_changes_nothing_of_what_runs() -> None:
    """Where no door keeps people from renaming it."""
    job = form(a_job(), seen(granted={"fast": 3}))
    moved = seen(granted={"fast": 1}, present={"fast": 3})
    shrunk = form(job, SeenWorkload(name="a/w", queue="a/other", created=0, admitted_at=1, pod_sets=moved.pod_sets))
    assert shrunk["spec"] == {**job["spec"], "parallelism": 1}


def test_who_was_let_go_with_no_pods_is_held_before_it_gets_some() -> None:
    """A Job of no pods was let go with no flavor. When it wanted some, the flavor of these was to be written into it
    while it was not held, which the server refused."""
    job = form(a_job(parallelism=0), seen(0))
    assert not job["spec"]["suspend"]
    assert FLAVOR not in marks(job)
    wants = {**job, "spec": {**job["spec"], "parallelism": 2}}
    held = form(wants, seen(2, granted={"fast": 2}))
    assert held["spec"] == {**wants["spec"], "suspend": True}
    rests = {**held, "status": {"conditions": [{"type": "Suspended", **ENDED}]}}
    started = form(rests, seen(2, granted={"fast": 2}))
    assert not started["spec"]["suspend"]
    assert marks(started)[FLAVOR] == "fast"


@pytest.mark.parametrize("granted", [{}, {"slow": 3}])
def test_what_is_held_is_changed_once_its_controller_has_heard_of_that(granted: Json) -> None:
    """Seed 23: a Job was held with no pods yet, and changed at once: its controller might not have heard of it, so the
    server refused. Until it says that it rests, its pods may still come."""
    job = form(a_job(), seen(granted={"fast": 3}))
    began = {**job, "status": {"startTime": "2026-01-01T00:00:00Z"}}
    held = form(began, seen(granted=granted))
    assert held["spec"] == {**job["spec"], "suspend": True}
    assert form(held, seen(granted=granted)) == held
    rests = {**held, "status": {**held["status"], "conditions": [{"type": "Suspended", **ENDED}]}}
    changed = form(rests, seen(granted=granted))
    assert changed["spec"]["template"] != held["spec"]["template"]


def test_a_server_that_remembers_when_it_started_lets_it_move_all_the_same() -> None:
    """Before Kubernetes 1.35 the pods of a Job that ever started could not be changed: one that lost its flavor was
    refused another for ever, and held what it was granted."""
    with a_folder() as folder:
        run(lambda loop: _moved(folder, loop))


async def _moved(folder: Path, loop: VirtualLoop) -> None:
    server = SimulatedServer(folder, loop, Random(0), older=True)
    server.start()
    client = server.client
    await _furnish(client)
    operating = asyncio.create_task(Operator(Client(server.transport), clock=loop.unix).run())
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    pod = {"restartPolicy": "Never", "containers": [container]}
    spec = {"suspend": True, "parallelism": 3, "completions": 3, "template": {"spec": pod}}
    await client.create(r.JOBS, {"metadata": {"name": "j", "namespace": "n"}, "spec": spec})
    await asyncio.sleep(5)
    job: Object = await client.get(r.JOBS, "j", "n")
    assert (marks(job)[FLAVOR], job["status"]["active"]) == ("fast", 3)
    await client.patch(CLUSTER_QUEUES, "x", {"spec": {"quotas": quota("slow")}})
    await asyncio.sleep(90)
    job = await client.get(r.JOBS, "j", "n")
    assert (marks(job)[FLAVOR], job["status"]["active"]) == ("slow", 3)
    operating.cancel()
    await asyncio.gather(operating, return_exceptions=True)
    told = [event for event in (await client.list(r.EVENTS, "n")).items if "immutable" in event.get("message", "")]
    assert told == []
    await server.stop()


async def _furnish(client: Client) -> None:
    await client.create(r.NAMESPACES, {"metadata": {"name": "n", "labels": {"tidegate.dev/managed": "true"}}})
    for name in ("fast", "slow"):
        await client.create(FLAVORS, {"metadata": {"name": name}, "spec": {"nodeLabels": {POOL: name}}})
    await client.create(CLUSTER_QUEUES, {"metadata": {"name": "x"}, "spec": {"quotas": quota("fast")}})
    await client.create(QUEUES, {"metadata": {"name": "default", "namespace": "n"}, "spec": {"clusterQueue": "x"}})


def quota(flavor: str) -> list[Json]:
    return [{"flavor": flavor, "resources": {"cpu": {"nominalQuota": "4"}}}]
