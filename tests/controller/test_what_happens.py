"""What happens when things go wrong around work: what docs/concepts/what-happens-when.md promises. Nothing is lost."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tests.local.controllers.stage import runs, stamp
from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object

Json = Any


async def running_job(house: House, name: str, count: int, **spec: Json) -> None:
    await house.queued_job(name, count, **spec)
    await house.see(r.JOBS, name, lambda job: (job.get("status") or {}).get("active") == count)
    await house.act(f"job-name={name}", runs)


def evicted_because(workload: Object) -> str:
    conditions = workload["status"]["conditions"]
    return str(next(each["reason"] for each in conditions if each["type"] == "Evicted"))


async def test_an_unknown_queue_is_waited_for_by_name(house: House) -> None:
    labels = {"tidegate.dev/queue": "tomorrow"}
    job = await house.queued_job("early", 1)
    await house.patch(r.JOBS, "early", {"metadata": {"labels": labels}})
    waits = await house.waits("job-early", "NoQueue")
    assert "tomorrow" in waits["status"]["waiting"]["message"]
    await house.create(QUEUES, "tomorrow", spec={"clusterQueue": house.namespace})
    await house.state("job-early", "Admitted", granted=1)
    assert (await house.get(r.JOBS, "early"))["metadata"]["uid"] == job["metadata"]["uid"]


async def test_a_cluster_queue_that_is_not_there_is_waited_for(house: House) -> None:
    await house.create(QUEUES, "astray", spec={"clusterQueue": f"{house.namespace}-later"})
    await house.workload("wl", 1, queue="astray")
    await house.waits("wl", "NoQueue")
    quotas = [{"flavor": "default", "resources": {"cpu": {"nominalQuota": "1"}}}]
    later = {"metadata": {"name": f"{house.namespace}-later"}, "spec": {"quotas": quotas}}
    await house.client.create(CLUSTER_QUEUES, later)
    await house.state("wl", "Admitted", granted=1)
    await house.client.delete(CLUSTER_QUEUES, f"{house.namespace}-later")


async def test_a_priority_class_that_is_not_there_is_waited_for(house: House) -> None:
    """A slip in its name: the Job was let go, the server refused its pods, and its quota was kept for ever. What runs
    goes on when its class is deleted."""
    name = f"{house.namespace}-urgent"
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    pod = {"restartPolicy": "Never", "priorityClassName": name, "containers": [container]}
    await house.queued_job("slip", 2, template={"spec": pod})
    waits = await house.waits("job-slip", "NotAllowed")
    assert name in waits["status"]["waiting"]["message"]
    await house.workload("other", house.cpu)
    await house.state("other", "Admitted", granted=house.cpu)
    await house.client.delete(WORKLOADS, "other", house.namespace)
    await house.client.create(r.PRIORITYCLASSES, {"metadata": {"name": name}, "value": 5})
    await house.see(r.JOBS, "slip", lambda job: (job.get("status") or {}).get("active") == 2)
    await house.client.delete(r.PRIORITYCLASSES, name)
    await house.workload("after", 1)
    await house.state("after", "Admitted", granted=1)
    await house.state("job-slip", "Admitted", granted=2)


async def test_a_class_that_its_pods_name_is_waited_for_whatever_the_label_says(house: House) -> None:
    """The label named a class that there was, the template one that there was not: the Job was let go, the server
    refused its pods, and its quota was kept for ever."""
    there, missing = f"{house.namespace}-there", f"{house.namespace}-missing"
    await house.client.create(r.PRIORITYCLASSES, {"metadata": {"name": there}, "value": 7})
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    pod = {"restartPolicy": "Never", "priorityClassName": missing, "containers": [container]}
    labels = {"tidegate.dev/priority-class": there}
    spec = {"suspend": True, "parallelism": 2, "completions": 2, "template": {"spec": pod}}
    await house.client.create(r.JOBS, {"metadata": {"name": "two", "labels": labels}, "spec": spec}, house.namespace)
    waits = await house.waits("job-two", "NotAllowed")
    assert missing in waits["status"]["waiting"]["message"]
    assert waits["spec"]["priority"] == 7, "how urgent it is the label says"
    await house.workload("other", house.cpu)
    await house.state("other", "Admitted", granted=house.cpu)
    await house.client.delete(WORKLOADS, "other", house.namespace)
    await house.client.create(r.PRIORITYCLASSES, {"metadata": {"name": missing}, "value": 1})
    await house.see(r.JOBS, "two", lambda job: (job.get("status") or {}).get("active") == 2)
    for name in (there, missing):
        await house.client.delete(r.PRIORITYCLASSES, name)


async def test_who_wants_more_after_its_priority_class_was_deleted_keeps_what_it_has(house: House) -> None:
    """Its new pods would be refused, so they are granted nothing until there is the class again."""
    name = f"{house.namespace}-urgent"
    await house.client.create(r.PRIORITYCLASSES, {"metadata": {"name": name}, "value": 5})
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    pod = {"restartPolicy": "Never", "priorityClassName": name, "containers": [container]}
    await house.queued_job("grows", 3, least=1, template={"spec": pod})
    await house.state("job-grows", "Admitted", granted=3)
    await house.workload("other", 1)
    await house.state("other", "Admitted", granted=1)
    await house.quota({"cpu": {"nominalQuota": "2"}})
    await house.state("job-grows", "Admitted", granted=1)
    await house.client.delete(r.PRIORITYCLASSES, name)
    await house.quota({"cpu": {"nominalQuota": str(house.cpu)}})
    waits = await house.see(WORKLOADS, "job-grows", lambda obj: "NotAllowed" in str(obj["status"]))
    assert name in waits["status"]["waiting"]["message"]
    assert waits["spec"]["priority"] == 5
    await house.workload("all", house.cpu - 2)
    await house.state("all", "Admitted", granted=house.cpu - 2)
    await house.state("job-grows", "Admitted", granted=1)
    await house.client.delete(WORKLOADS, "all", house.namespace)
    await house.client.create(r.PRIORITYCLASSES, {"metadata": {"name": name}, "value": 5})
    await house.state("job-grows", "Admitted", granted=3)
    await house.client.delete(r.PRIORITYCLASSES, name)


async def test_a_flavor_that_nobody_describes_is_told(house: House) -> None:
    """A slip in its name, and work ran on any node without a word."""
    flavor = f"{house.namespace}-a10"
    await house.quota({"cpu": {"nominalQuota": "4"}}, flavor=flavor)

    async def note() -> str:
        queue = await house.client.get(CLUSTER_QUEUES, house.namespace)
        conditions = (queue.get("status") or {}).get("conditions") or ()
        said = {each["type"]: f"{each['reason']}: {each.get('message', '')}" for each in conditions}
        return said.get("Active", "")

    async def told() -> bool:
        said = f"there is no ResourceFlavor {flavor}, so what it grants of it may run on any node; create it"
        return await note() == f"UnknownFlavor: {said}"

    async def is_well() -> bool:
        return await note() == "Open: "

    await house.until(told)
    await house.client.create(FLAVORS, {"metadata": {"name": flavor}, "spec": {}})
    await house.until(is_well)
    await house.client.delete(FLAVORS, flavor)


async def test_a_deleted_queue_with_running_work_gives_all_back_and_its_work_waits(house: House) -> None:
    """The Job is held as its owner wrote it, and goes on when the Queue is there again."""
    await running_job(house, "job", 2)
    await house.client.delete(QUEUES, "default", house.namespace)
    workload = await house.state("job-job", "Evicted", granted=0)
    assert evicted_because(workload) == "NoQueue"
    await house.see(r.JOBS, "job", lambda job: job["spec"]["suspend"] is True)
    await house.until(lambda: no_pods(house))
    await house.furnish()
    await house.state("job-job", "Admitted", granted=2)
    await house.see(r.JOBS, "job", lambda job: job["status"].get("active") == 2)


async def no_pods(house: House) -> bool:
    return not await house.list(r.PODS)


async def test_a_shrunk_quota_takes_what_is_above_floors_first_and_then_the_newest(house: House) -> None:
    await house.queued_job("elastic", 3, least=1)
    await house.state("job-elastic", "Admitted", granted=3)
    await house.workload("fixed", 1)
    await house.state("fixed", "Admitted", granted=1)
    await house.quota({"cpu": {"nominalQuota": "2"}})
    await house.state("job-elastic", "Admitted", granted=1)
    assert (await house.get(WORKLOADS, "fixed"))["status"]["state"] == "Admitted"
    await house.quota({"cpu": {"nominalQuota": "1"}})

    async def one_is_left() -> bool:
        states = [(await house.get(WORKLOADS, name))["status"]["state"] for name in ("job-elastic", "fixed")]
        return sorted(states) == ["Admitted", "Evicted"]

    await house.until(one_is_left)
    await house.quota({"cpu": {"nominalQuota": "4"}})
    await house.state("job-elastic", "Admitted", granted=3)
    await house.state("fixed", "Admitted", granted=1)


async def test_a_vanished_node_takes_its_capacity_along_and_brings_it_back(house: House) -> None:
    """Two nodes of two cpus each: without one, half of the work waits; nothing of it is lost."""
    pool = house.namespace
    await house.client.create(FLAVORS, {"metadata": {"name": pool}, "spec": {"nodeLabels": {"pool": pool}}})
    for name in (f"{pool}-1", f"{pool}-2"):
        await node(house, name)
    await house.client.patch(CLUSTER_QUEUES, pool, {"spec": {"quotas": None}})
    for name in ("one", "two"):
        await running_job(house, name, 2)
    await house.client.delete(r.NODES, f"{pool}-2")

    async def who_waits() -> list[str]:
        all_of_them = [await house.get(WORKLOADS, f"job-{name}") for name in ("one", "two")]
        return [each["metadata"]["name"] for each in all_of_them if each["status"]["state"] == "Evicted"]

    (waiting,) = await house.until(who_waits)
    assert evicted_because(await house.get(WORKLOADS, waiting)) == "OverQuota"
    await node(house, f"{pool}-2")
    await house.state(waiting, "Admitted", granted=2)
    for name in (f"{pool}-1", f"{pool}-2"):
        await house.client.delete(r.NODES, name)


async def node(house: House, name: str) -> None:
    """A node that is ready, as its kubelet would say."""
    await house.client.create(r.NODES, {"metadata": {"name": name, "labels": {"pool": house.namespace}}})
    ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastHeartbeatTime": stamp()}
    status = {"allocatable": {"cpu": "2", "pods": "10"}, "capacity": {"cpu": "2", "pods": "10"}, "conditions": [ready]}
    await house.client.patch(r.NODES, name, {"status": status}, subresource="status")


async def test_who_runs_in_a_namespace_that_comes_under_tidegate_is_held_and_starts_anew(house: House) -> None:
    """Where its Queue was there before its label, nobody looked: what ran there ran on beside the quota."""
    await house.patch(r.NAMESPACES, house.namespace, {"metadata": {"labels": {"tidegate.dev/managed": "false"}}})
    await house.workload("full", house.cpu)
    await house.state("full", "Admitted", granted=house.cpu)
    await running_job(house, "free", 2, suspend=False)
    await house.patch(r.NAMESPACES, house.namespace, {"metadata": {"labels": {"tidegate.dev/managed": "true"}}})
    await house.waits("job-free", "WaitingForQuota")
    await house.see(r.JOBS, "free", lambda job: job["spec"]["suspend"] is True)
    await house.until(lambda: no_pods(house))
    await house.client.delete(WORKLOADS, "full", house.namespace)
    await house.state("job-free", "Admitted", granted=2)
    await house.see(r.JOBS, "free", lambda job: job["status"].get("active") == 2)
