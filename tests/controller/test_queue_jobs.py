"""QueueJobs: several shapes start together, as many as granted; failures are retried up to a limit."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUE_JOBS, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object

Json = Any


def task(name: str, replicas: int, least: int | None = None) -> Json:
    container = {"name": "main", "image": "host", "command": ["true"], "resources": {"requests": {"cpu": "1"}}}
    stated = {} if least is None else {"minReplicas": least}
    return {"name": name, "replicas": replicas, "template": {"spec": {"containers": [container]}}, **stated}


async def queue_job(house: House, *tasks: Json, **spec: Json) -> Object:
    return await house.create(QUEUE_JOBS, "job", spec={"taskSpecs": list(tasks), **spec})


async def pod_names(house: House) -> set[str]:
    return {pod["metadata"]["name"] for pod in await house.list(r.PODS) if not pod["metadata"].get("deletionTimestamp")}


async def has_pods(house: House, *names: str) -> bool:
    return await pod_names(house) == set(names)


async def end(house: House, name: str, phase: str) -> None:
    await house._set(await house.get(r.PODS, name), {"phase": phase})


async def test_several_shapes_start_together_and_end_well(house: House) -> None:
    await house.workload("other", 2)
    await house.state("other", "Admitted")
    await queue_job(house, task("leader", 1), task("worker", 2))
    await house.waits("queuejob-job", "WaitingForQuota")
    assert not await pod_names(house)
    await house.client.delete(WORKLOADS, "other", house.namespace)
    names = ["job-leader-0", "job-worker-0", "job-worker-1"]
    await house.until(lambda: has_pods(house, *names))
    for name in names:
        await end(house, name, "Succeeded")
    job = await house.see(QUEUE_JOBS, "job", lambda job: (job.get("status") or {}).get("phase") == "Succeeded")
    assert (job["status"]["succeeded"], job["status"]["workload"]) == (3, "queuejob-job")
    await house.state("queuejob-job", "Finished", granted=0)


async def test_min_available_is_the_gang_and_the_rest_grows(house: House) -> None:
    await house.workload("other", 2)
    await house.state("other", "Admitted")
    await queue_job(house, task("a", 2, 0), task("b", 2, 1), schedulingSpec={"minAvailable": 2})
    workload = await house.state("queuejob-job", "Admitted", granted=2)
    assert [pods["minCount"] for pods in workload["spec"]["podSets"]] == [1, 1]
    await house.until(lambda: has_pods(house, "job-a-0", "job-b-0"))
    await house.client.delete(WORKLOADS, "other", house.namespace)
    await house.until(lambda: has_pods(house, "job-a-0", "job-a-1", "job-b-0", "job-b-1"))


async def test_failed_pods_are_replaced_until_the_limit(house: House) -> None:
    await queue_job(house, task("a", 1), backoffLimit=1)
    await house.until(lambda: has_pods(house, "job-a-0"))
    await end(house, "job-a-0", "Failed")
    await house.until(lambda: has_pods(house, "job-a-0", "job-a-0-r1"))
    await end(house, "job-a-0-r1", "Failed")
    job = await house.see(QUEUE_JOBS, "job", lambda job: (job.get("status") or {}).get("phase") == "Failed")
    assert job["status"]["message"] == "2 pods failed, more than backoffLimit (1) allows"
    await house.state("queuejob-job", "Finished", granted=0)


async def test_an_evicted_job_loses_its_pods_and_gets_them_again(house: House) -> None:
    await queue_job(house, task("a", 2))
    await house.until(lambda: has_pods(house, "job-a-0", "job-a-1"))
    await end(house, "job-a-0", "Succeeded")
    await house.state("queuejob-job", "Admitted", granted=1)
    await house.client.patch(CLUSTER_QUEUES, house.namespace, {"spec": {"stop": "HoldAndDrain"}})
    await house.until(lambda: has_pods(house, "job-a-0"))
    await house.client.patch(CLUSTER_QUEUES, house.namespace, {"spec": {"stop": "None"}})
    await house.until(lambda: has_pods(house, "job-a-0", "job-a-1"))


async def keep(house: House, name: str, finalizers: list[str]) -> None:
    await house.client.patch(r.PODS, name, {"metadata": {"finalizers": finalizers}}, house.namespace)


async def test_pods_of_a_shape_that_is_gone_go_and_take_room_until_then(house: House) -> None:
    """A task spec that was called otherwise, or taken out, while it ran: its pods ran on, and the room that they took
    was granted to others."""
    await queue_job(house, task("leader", 1), task("worker", 3))
    await house.until(lambda: has_pods(house, "job-leader-0", *(f"job-worker-{index}" for index in range(3))))
    await keep(house, "job-worker-2", ["example.com/slow"])
    tasks = [task("leader", 1), task("other", 3, 0)]
    await house.client.patch(QUEUE_JOBS, "job", {"spec": {"taskSpecs": tasks}}, house.namespace)
    await house.until(lambda: has_pods(house, "job-leader-0", "job-other-0", "job-other-1"))
    await house.waits("queuejob-job", "WaitingForQuota")
    await house.state("queuejob-job", "Admitted", granted=3)
    await keep(house, "job-worker-2", [])
    await house.until(lambda: has_pods(house, "job-leader-0", *(f"job-other-{index}" for index in range(3))))


async def test_pods_that_run_count_as_they_were_made(house: House) -> None:
    """Whoever lowered the requests of a task spec while it ran had its pods counted with those, and others were let in
    beside them."""
    await queue_job(house, task("worker", 3))
    names = [f"job-worker-{index}" for index in range(3)]
    await house.until(lambda: has_pods(house, *names))
    smaller = task("worker", 3)
    smaller["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "100m"}
    await house.client.patch(QUEUE_JOBS, "job", {"spec": {"taskSpecs": [smaller]}}, house.namespace)
    await house.see(WORKLOADS, "queuejob-job", lambda obj: obj["spec"]["podSets"][0]["requests"] == {"cpu": "100m"})
    await house.workload("other", 2)
    await house.waits("other", "WaitingForQuota")
    for name in names:
        await end(house, name, "Succeeded")
    await house.state("other", "Admitted", granted=2)
