"""A node whose agent is dead or cut off: what it ran may run on, so nothing of it runs a second time before it is known
to be over. What the agent does when it is back is in tests/local/agent/test_crash_safety.py."""

from __future__ import annotations

from tests.controller.house import House
from tests.controller.test_what_happens import evicted_because, node, running_job
from tests.local.controllers.stage import stamp
from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object


async def bound(house: House, name: str, to: str) -> list[Object]:
    """Its pods, once they are on a node."""
    pods = await house.list(r.PODS, f"job-name={name}")
    for pod in pods:
        path = f"/api/v1/namespaces/{house.namespace}/pods/{pod['metadata']['name']}/binding"
        target = {"apiVersion": "v1", "kind": "Node", "name": to}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"]}, "target": target}
        await house.client.raw("POST", path, body=body)
    return pods


async def heard(house: House, name: str, status: str) -> None:
    """What is known of a node: `Unknown` after 40 seconds in which it has said nothing."""
    ready = {"type": "Ready", "status": status, "reason": "Told", "message": "", "lastHeartbeatTime": stamp()}
    await house.client.patch(r.NODES, name, {"status": {"conditions": [ready]}}, subresource="status")


def is_going(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


async def test_what_ran_on_a_node_that_fell_silent_starts_again_only_when_its_agent_has_ended_it(house: House) -> None:
    """Its work is evicted, its processes run on. Their pods count until the agent is back and says that they are gone;
    until then neither its own work nor anybody else's is let go in their room."""
    pool = house.namespace
    await house.client.create(FLAVORS, {"metadata": {"name": pool}, "spec": {"nodeLabels": {"pool": pool}}})
    await node(house, pool)
    await house.client.patch(CLUSTER_QUEUES, pool, {"spec": {"quotas": None}})
    await running_job(house, "one", 2)
    before = {pod["metadata"]["uid"] for pod in await bound(house, "one", pool)}
    await heard(house, pool, "Unknown")
    assert evicted_because(await house.state("job-one", "Evicted")) == "OverQuota"

    async def all_are_going() -> list[Object]:
        pods = await house.list(r.PODS, "job-name=one")
        return pods if all(map(is_going, pods)) else []

    await house.until(all_are_going)
    await heard(house, pool, "True")
    await house.waits("job-one", "WaitingForQuota")
    assert (await house.get(r.JOBS, "one"))["spec"]["suspend"] is True
    left = await house.list(r.PODS, "job-name=one")
    assert {pod["metadata"]["uid"] for pod in left} == before, "nothing of it runs twice"
    await house.see(QUEUES, "default", lambda queue: queue["status"]["used"] == {pool: {"cpu": "2"}})
    for pod in left:
        await house.client.delete(r.PODS, pod["metadata"]["name"], house.namespace, grace_period_s=0)
    await house.see(r.JOBS, "one", lambda job: (job.get("status") or {}).get("active") == 2)
    now = {pod["metadata"]["uid"] for pod in await house.list(r.PODS, "job-name=one")}
    assert not now & before
    await house.see(WORKLOADS, "job-one", lambda obj: obj["status"]["requeue"]["count"] == 1)
    await house.client.delete(r.NODES, pool)
