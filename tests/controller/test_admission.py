"""Workloads and applications are admitted, grow, shrink, are evicted, come back and finish; quota follows them."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tests.local.controllers.stage import succeeds
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object

Json = Any


def condition(obj: Object, kind: str) -> Json:
    return next((each for each in obj["status"]["conditions"] if each["type"] == kind), None)


async def test_workloads_made_by_hand_are_admitted_while_there_is_quota(house: House) -> None:
    await house.workload("one", 3)
    await house.state("one", "Admitted", granted=3)
    await house.workload("two", 2)
    two = await house.waits("two", "WaitingForQuota")
    assert two["status"]["waiting"]["shortBy"] == {"default": {"cpu": "1"}}
    await house.client.delete(WORKLOADS, "one", house.namespace)
    two = await house.state("two", "Admitted", granted=2)
    assert condition(two, "Admitted")["status"] == "True"
    assert "waiting" not in two["status"]


async def test_queues_say_what_they_hold_and_deserve(house: House) -> None:
    await house.workload("one", 3)
    await house.workload("big", 9)
    await house.waits("big", "ExceedsQuota")

    def told(obj: Object) -> bool:
        status = obj.get("status") or {}
        return bool(status.get("admittedWorkloads") == 1 and status.get("pendingWorkloads") == 1)

    queue = await house.see(QUEUES, "default", told)
    assert queue["status"]["allocated"] == {"default": {"cpu": "3"}}
    assert queue["status"]["used"] == {}


async def test_a_job_is_held_until_it_is_admitted_and_gives_quota_back_pod_by_pod(house: House) -> None:
    """The next Job needs one place: it comes in as soon as the first pod has ended well, not when the Job has."""
    await house.queued_job("first", 4)
    await house.state("job-first", "Admitted", granted=4)
    await house.see(r.JOBS, "first", lambda job: job["spec"]["suspend"] is False and job["status"].get("active") == 4)
    await house.queued_job("second", 1)
    await house.waits("job-second", "WaitingForQuota")
    (pod, *_) = await house.list(r.PODS, "job-name=first")
    await house._set(pod, succeeds(pod))
    first = await house.state("job-first", "Admitted", granted=3)
    assert first["status"]["reclaimedPodSetPods"] == [{"name": "main", "count": 1}]
    await house.state("job-second", "Admitted", granted=1)
    await house.play(r.JOBS, "first", succeeds, lambda job: bool(job["status"].get("completionTime")))
    first = await house.state("job-first", "Finished", granted=0)
    assert condition(first, "Finished")["reason"] == "Succeeded"


async def test_a_failed_pod_gives_nothing_back(house: House) -> None:
    await house.queued_job("job", 2, backoffLimit=6)
    await house.state("job-job", "Admitted", granted=2)
    await house.see(r.JOBS, "job", lambda job: job["status"].get("active") == 2)
    (pod, *_) = await house.list(r.PODS, "job-name=job")
    await house._set(pod, {"phase": "Failed"})
    await house.see(r.JOBS, "job", lambda job: job["status"].get("failed") == 1)
    await house.state("job-job", "Admitted", granted=2)


async def test_an_elastic_job_starts_at_what_there_is_gives_way_and_grows_back(house: House) -> None:
    await house.queued_job("elastic", 6, least=1)
    await house.state("job-elastic", "Admitted", granted=4)
    await house.see(r.JOBS, "elastic", lambda job: job["spec"]["parallelism"] == 4 and not job["spec"]["suspend"])
    await house.queued_job("rival", 2)
    shrunk = await house.see(WORKLOADS, "job-elastic", lambda obj: obj["status"]["podSets"][0]["granted"] == 2)
    assert condition(shrunk, "Shrunk")["reason"] == "FloorBeforeSurplus"
    await house.see(r.JOBS, "elastic", lambda job: job["spec"]["parallelism"] == 2)
    await house.see(r.JOBS, "rival", lambda job: job["spec"]["suspend"] is False)
    await house.play(r.JOBS, "rival", succeeds, lambda job: bool(job["status"].get("completionTime")))
    await house.see(r.JOBS, "elastic", lambda job: job["spec"]["parallelism"] == 4)


async def test_a_drained_job_is_as_its_owner_wrote_it_and_comes_back(house: House) -> None:
    made = await house.queued_job("job", 4, least=1)
    await house.state("job-job", "Admitted", granted=4)
    await house.see(r.JOBS, "job", lambda job: job["status"].get("active") == 4)
    await house.client.patch(CLUSTER_QUEUES, house.namespace, {"spec": {"stop": "HoldAndDrain"}})
    evicted = await house.state("job-job", "Evicted", granted=0)
    assert condition(evicted, "Evicted")["reason"] == "Drained"

    def at_rest(job: Object) -> bool:
        return bool(job["spec"]["suspend"]) and not (job["metadata"].get("annotations") or {}).get(
            "tidegate.dev/before"
        )

    rested = await house.see(r.JOBS, "job", at_rest)
    assert rested["spec"] == made["spec"]
    await house.waits("job-job", "QueueStopped")
    await house.client.patch(CLUSTER_QUEUES, house.namespace, {"spec": {"stop": "None"}})
    await house.state("job-job", "Admitted", granted=4)
    await house.see(r.JOBS, "job", lambda job: not job["spec"]["suspend"] and job["status"].get("active") == 4)


async def test_a_job_that_was_not_held_is_held(house: House) -> None:
    await house.workload("all", 4)
    await house.state("all", "Admitted", granted=4)
    await house.queued_job("late", 1, suspend=False)
    await house.see(r.JOBS, "late", lambda job: job["spec"]["suspend"] is True)
    await house.waits("job-late", "WaitingForQuota")


async def test_what_is_made_inactive_gives_back_and_is_nobodys_victim(house: House) -> None:
    await house.queued_job("job", 4)
    await house.state("job-job", "Admitted", granted=4)
    await house.patch(WORKLOADS, "job-job", {"spec": {"active": False}})
    inactive = await house.state("job-job", "Inactive", granted=0)
    assert "requeue" not in inactive["status"]
    await house.see(r.JOBS, "job", lambda job: job["spec"]["suspend"] is True)
    await house.patch(WORKLOADS, "job-job", {"spec": {"active": True}})
    await house.state("job-job", "Admitted", granted=4)


async def test_quota_is_held_until_pods_are_really_gone(house: House) -> None:
    """A pod that is slow to go keeps its place, though its Job and its Workload are gone."""
    await house.queued_job("job", 4)
    await house.state("job-job", "Admitted", granted=4)
    await house.see(r.JOBS, "job", lambda job: job["status"].get("active") == 4)
    (pod, *_) = await house.list(r.PODS, "job-name=job")
    name = pod["metadata"]["name"]
    await house.client.create(r.NODES, {"metadata": {"name": house.namespace}})
    target = {"apiVersion": "v1", "kind": "Node", "name": house.namespace}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    await house.client.create(r.PODS, binding, house.namespace, subresource="binding")
    await house.client.delete(r.JOBS, "job", house.namespace)
    await house.see(r.PODS, name, lambda pod: pod["metadata"].get("deletionTimestamp"))
    await house.workload("next", 3)
    await house.state("next", "Admitted", granted=3)
    await house.workload("last", 1)
    await house.waits("last", "WaitingForQuota")
    await house.client.delete(r.PODS, name, house.namespace, grace_period_s=0)
    await house.state("last", "Admitted", granted=1)
    await house.client.delete(r.NODES, house.namespace)
