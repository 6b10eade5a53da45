"""What a queue says that is legal and most likely not meant stands in its status, by name and with what to do."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.kube.wire import Object, Resource

Json = Any


async def told(house: House, resource: Resource[Object], name: str, reason: str, about: str) -> None:
    """Once its condition Active has this reason and speaks of that."""
    namespace = house.namespace if resource.namespaced else None

    async def is_told() -> bool:
        status = (await house.client.get(resource, name, namespace)).get("status") or {}
        said = {each["type"]: each for each in status.get("conditions") or ()}.get("Active", {})
        return said.get("reason") == reason and about in said.get("message", "")

    await house.until(is_told)


async def test_a_resource_that_no_pod_can_request_is_told(house: House) -> None:
    """A quota of `cpus` was taken without a word, and nothing ever asked for it."""
    await house.quota({"cpu": {"nominalQuota": "4"}, "cpus": {"nominalQuota": "4"}})
    await told(house, CLUSTER_QUEUES, house.namespace, "UnknownResource", "no pod can request cpus; write e.g. cpu")
    await house.client.patch(QUEUES, "default", {"spec": {"limits": {"gpu": 1}}}, house.namespace)
    await told(house, QUEUES, "default", "UnknownResource", "no pod can request gpu;")
    await house.client.patch(QUEUES, "default", {"spec": {"limits": {"gpu": None}}}, house.namespace)
    await told(house, QUEUES, "default", "Open", "")


async def test_a_request_above_the_limits_is_told(house: House) -> None:
    """A door that is to be counted with five cpus and lets one in."""
    spec = {"limits": {"cpu": 1, "memory": "1Gi"}, "request": {"cpu": 5, "memory": "1Gi"}}
    await house.client.patch(QUEUES, "default", {"spec": spec}, house.namespace)
    await told(house, QUEUES, "default", "RequestAboveLimits", "its request of cpu is above its limits; raise limits")


async def test_a_circle_of_cluster_queues_is_told(house: House) -> None:
    """Where no door refuses it, its members were said not to exist, and to be created."""
    one, two = house.namespace, f"{house.namespace}-b"
    await house.client.create(CLUSTER_QUEUES, {"metadata": {"name": two}, "spec": {"parent": one}})
    await house.client.patch(CLUSTER_QUEUES, one, {"spec": {"parent": two}})
    way = f"ClusterQueue {two} would be its own ancestor ({two} → {one} → {two}); choose another parent"
    await told(house, CLUSTER_QUEUES, two, "NotInTree", way)
    await house.client.delete(CLUSTER_QUEUES, two)
