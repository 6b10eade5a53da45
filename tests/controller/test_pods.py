"""Single pods and gangs of them wait behind a gate."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tidegate.controller.kinds import WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object

Json = Any


async def pod(house: House, name: str, **metadata: Json) -> Object:
    container = {"name": "main", "image": "host", "command": ["true"], "resources": {"requests": {"cpu": "2"}}}
    spec = {"schedulingGates": [{"name": "tidegate.dev/quota"}], "containers": [container]}
    body = {"metadata": {"name": name, **metadata}, "spec": spec}
    return await house.client.create(r.PODS, body, house.namespace)


def is_free(pod: Object) -> bool:
    return not pod["spec"].get("schedulingGates")


def gang(name: str, size: int) -> Json:
    return {"labels": {"tidegate.dev/pod-group": name}, "annotations": {"tidegate.dev/pod-group-size": str(size)}}


async def test_gates_are_lifted_up_to_what_is_granted(house: House) -> None:
    for name in ("a", "b", "c"):
        await pod(house, name)
        await house.see(WORKLOADS, f"pod-{name}", lambda obj: True)
    await house.see(r.PODS, "a", is_free)
    await house.see(r.PODS, "b", is_free)
    await house.waits("pod-c", "WaitingForQuota")
    assert not is_free(await house.get(r.PODS, "c"))
    await house._set(await house.get(r.PODS, "a"), {"phase": "Succeeded"})
    await house.see(r.PODS, "c", is_free)
    await house.state("pod-a", "Finished")


async def test_a_gang_of_pods_starts_together_or_not_at_all(house: House) -> None:
    await house.workload("some", 1)
    await house.state("some", "Admitted")
    await pod(house, "x-0", **gang("x", 2))
    await pod(house, "alone")
    await house.see(r.PODS, "alone", is_free)
    await pod(house, "x-1", **gang("x", 2))
    await house.waits("podgroup-x", "WaitingForQuota")
    await house.client.delete(r.PODS, "alone", house.namespace)
    await house.client.delete(WORKLOADS, "some", house.namespace)
    await house.see(r.PODS, "x-0", is_free)
    await house.see(r.PODS, "x-1", is_free)
    await house.state("podgroup-x", "Admitted", granted=2)


async def test_pods_of_a_kind_that_nobody_queues_wait_one_by_one(house: House) -> None:
    """Else everybody could run beside the queue by naming an owner; a ConfigMap will do."""
    owner = await house.client.create(r.CONFIGMAPS, {"metadata": {"name": "owner"}}, house.namespace)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    await pod(house, "owned", ownerReferences=[reference])
    await house.state("pod-owned", "Admitted")
    await house.see(r.PODS, "owned", is_free)
