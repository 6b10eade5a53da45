"""A RayService in a queue, with KubeRay's own operator beside Tidegate's: it is the same cluster however it grows."""

from __future__ import annotations

import copy
import subprocess
from typing import Any

import pytest

from tests.controller.conftest import client, house
from tests.controller.house import House
from tests.e2e.test_kuberay import operator, ray_cluster
from tidegate.kube.wire import Object, Resource

__all__ = ["client", "house", "operator"]
pytestmark = pytest.mark.kube
Json = Any
SERVICES: Resource[Object] = Resource("ray.io", "v1", "rayservices", "RayService")


def config() -> Json:
    spec = {**ray_cluster("x")["spec"], "enableInTreeAutoscaling": False, "suspend": True}
    del spec["autoscalerOptions"]
    return spec


async def prepared(house: House, namespace: str, name: str) -> str:
    """The cluster that KubeRay makes for a RayService, once it has looked at what was written last before that: it
    looks at one after the other, in the order in which they changed."""

    async def known(where: str, service: str) -> str:
        status = (await house.client.get(SERVICES, service, where)).get("status") or {}
        return str((status.get("pendingServiceStatus") or {}).get("rayClusterName") or "")

    later: Json = {"metadata": {"name": name}, "spec": {"rayClusterConfig": config()}}
    await house.client.create(SERVICES, later, namespace)
    await house.until(lambda: known(namespace, name))
    return await known(house.namespace, "app")


async def test_one_that_grows_stays_one_cluster(
    house: House, namespace: str, operator: subprocess.Popen[bytes]
) -> None:
    """The marks of its group's template were changed when it was made larger, and again when that was granted: KubeRay
    prepared another cluster each time."""
    await house.quota({"cpu": {"nominalQuota": "4"}, "memory": {"nominalQuota": "100Gi"}})
    await house.create(SERVICES, "app", spec={"rayClusterConfig": config()})
    await house.state("rayservice-app", "Admitted", granted=3)
    running = await house.see(SERVICES, "app", lambda obj: not obj["spec"]["rayClusterConfig"]["suspend"])
    first = await prepared(house, namespace, "first")
    assert first

    groups = copy.deepcopy(running["spec"]["rayClusterConfig"]["workerGroupSpecs"])
    groups[0]["replicas"] = 4
    await house.patch(SERVICES, "app", {"spec": {"rayClusterConfig": {"workerGroupSpecs": groups}}})
    await house.waits("rayservice-app", "ExceedsQuota")
    assert await prepared(house, namespace, "second") == first
    await house.quota({"cpu": {"nominalQuota": "9"}, "memory": {"nominalQuota": "100Gi"}})
    await house.state("rayservice-app", "Admitted", granted=5)
    await house.see(SERVICES, "app", lambda obj: '"small":4' in obj["metadata"]["annotations"]["tidegate.dev/granted"])
    assert await prepared(house, namespace, "third") == first

    groups[0]["template"]["spec"]["nodeSelector"] = {"zone": "b"}
    await house.patch(SERVICES, "app", {"spec": {"rayClusterConfig": {"workerGroupSpecs": groups}}})
    assert await prepared(house, namespace, "fourth") != first, "what its owner changes does make another"
    assert operator.poll() is None
