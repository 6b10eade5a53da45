"""Pods that people make by hand and that name an application as their owner: they wait and count like single pods."""

from __future__ import annotations

from typing import Any

import pytest

from tests.controller.house import House
from tests.controller.kinds.played import owner_of
from tidegate.controller.kinds import QUEUE_JOBS, QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object

Json = Any
GATE = {"name": "tidegate.dev/quota"}
CONTAINER = {"name": "main", "image": "host", "command": ["true"], "resources": {"requests": {"cpu": "2"}}}


async def by_hand(house: House, name: str, owner: Object, api: str, kind: str, **metadata: Json) -> Object:
    """Two cpus, of somebody who says that they are another's."""
    reference = owner_of({"apiVersion": api, "kind": kind, **owner})
    body = {"metadata": {"name": name, "ownerReferences": [reference], **metadata}, "spec": {"containers": [CONTAINER]}}
    return await house.client.create(r.PODS, body, house.namespace)


async def used(house: House, cpu: str) -> None:
    def accept(queue: Object) -> bool:
        said = (queue.get("status") or {}).get("used") or {}
        return bool((said.get("default") or {}).get("cpu", "0") == cpu)

    await house.see(QUEUES, "default", accept)


def is_free(pod: Object) -> bool:
    return not pod["spec"].get("schedulingGates")


async def job_pods(house: House, name: str, count: int) -> list[Object]:
    """Of a Job, once its own controller has made so many."""
    selector = f"batch.kubernetes.io/job-name={name}"

    async def there() -> list[Object]:
        pods = await house.list(r.PODS, selector)
        return pods if len(pods) == count else []

    found: list[Object] = await house.until(there)
    return found


async def test_a_pod_that_names_a_job_that_waits_waits_itself(guarded: House) -> None:
    """All four cpus are taken. It was let through at once, and nobody counted it."""
    await guarded.workload("all", 4)
    await guarded.state("all", "Admitted")
    job = await guarded.queued_job("later", 1)
    made = await by_hand(guarded, "mine", job, "batch/v1", "Job")
    assert made["spec"]["schedulingGates"] == [GATE]
    await guarded.waits("pod-mine", "WaitingForQuota")
    await guarded.client.delete(WORKLOADS, "all", guarded.namespace)
    await guarded.see(r.PODS, "mine", is_free)
    await guarded.state("pod-mine", "Admitted", granted=1)
    await guarded.state("job-later", "Admitted", granted=1)
    (own,) = await job_pods(guarded, "later", 1)
    assert is_free(own)
    await used(guarded, "3")


async def test_nor_does_it_help_to_copy_what_is_written_on_the_pods_of_a_job_that_runs(guarded: House) -> None:
    job = await guarded.queued_job("now", 3)
    await guarded.state("job-now", "Admitted", granted=3)
    own = (await job_pods(guarded, "now", 3))[0]
    assert is_free(own), "what the Job's own controller makes is never held"
    marks = {key: value for key, value in own["metadata"]["annotations"].items() if key.startswith("tidegate.dev/")}
    assert "tidegate.dev/flavor" in marks
    made = await by_hand(guarded, "mine", job, "batch/v1", "Job", annotations=marks)
    assert made["spec"]["schedulingGates"] == [GATE]
    assert "tidegate.dev/workload" not in made["metadata"]["annotations"]
    await guarded.waits("pod-mine", "WaitingForQuota")
    await by_hand(guarded, "its", own, "v1", "Pod", annotations=marks)
    await guarded.waits("pod-its", "WaitingForQuota")
    await used(guarded, "3")


async def test_a_pod_that_names_a_single_pod_that_runs_is_not_a_part_of_that(guarded: House) -> None:
    """A driver that somebody starts by hand was granted itself; its executors wait for their own."""
    body = {"metadata": {"name": "driver"}, "spec": {"containers": [CONTAINER]}}
    await guarded.client.create(r.PODS, body, guarded.namespace)
    driver = await guarded.see(r.PODS, "driver", is_free)
    await by_hand(guarded, "first", driver, "v1", "Pod", annotations=dict(driver["metadata"]["annotations"]))
    await guarded.see(r.PODS, "first", is_free)
    await guarded.state("pod-first", "Admitted", granted=1)
    await by_hand(guarded, "second", driver, "v1", "Pod")
    await guarded.waits("pod-second", "WaitingForQuota")
    await used(guarded, "4")


async def test_a_pod_that_names_a_queue_job_that_waits_waits_itself(guarded: House) -> None:
    await guarded.workload("all", 4)
    await guarded.state("all", "Admitted")
    task = {"name": "w", "replicas": 1, "template": {"spec": {"containers": [CONTAINER]}}}
    spec = {"queue": "default", "taskSpecs": [task]}
    job = await guarded.client.create(QUEUE_JOBS, {"metadata": {"name": "q"}, "spec": spec}, guarded.namespace)
    made = await by_hand(guarded, "mine", job, "tidegate.dev/v1alpha1", "QueueJob")
    assert made["spec"]["schedulingGates"] == [GATE]
    await guarded.waits("pod-mine", "WaitingForQuota")


@pytest.mark.parametrize("owner", ["held", "running", "nobody"])
async def test_what_no_door_has_held_counts_as_used(house: House, owner: str) -> None:
    """An operator whose doors nobody asks, or that were fooled, or were not there yet: it runs, so its room is nobody
    else's."""
    if owner != "running":
        await house.client.patch(QUEUES, "default", {"spec": {"limits": {"cpu": "2"}}}, house.namespace)
    job = await house.queued_job("job", 3 if owner != "running" else 1)
    if owner == "running":
        await house.state("job-job", "Admitted", granted=1)
        await job_pods(house, "job", 1)
    else:
        await house.waits("job-job", "ExceedsQuota")
    if owner == "nobody":
        await house.client.delete(r.JOBS, "job", house.namespace)
        single = {"metadata": {"name": "mine"}, "spec": {"containers": [CONTAINER]}}
        await house.client.create(r.PODS, single, house.namespace)
    else:
        await by_hand(house, "mine", job, "batch/v1", "Job")
    await used(house, "2" if owner != "running" else "3")
    await house.workload("next", 2)
    waits = await house.see(WORKLOADS, "next", lambda obj: (obj.get("status") or {}).get("waiting"))
    (pods,) = waits["status"]["podSets"]
    assert pods["granted"] == sum(pods["held"].values()), "whatever is promised to it, none of its pods may start"
    await house.client.delete(r.PODS, "mine", house.namespace, grace_period_s=0)
    await house.see(WORKLOADS, "next", lambda obj: not obj["status"].get("waiting"))
    await used(house, "0" if owner != "running" else "1")
