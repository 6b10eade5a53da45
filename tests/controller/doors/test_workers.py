"""Workers that are added to an application of which no size can be written back: they wait behind a gate."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tests.controller.kinds.played import pods_for
from tests.controller.kinds.serving import resource_of, serve
from tests.harness import Cluster
from tests.model.jobs.samples import sample
from tidegate.controller.kinds import WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin, put

Json = Any
ENTRY = builtin().of(sample("RayCluster"))
RAY_CLUSTERS = resource_of(ENTRY)
WORKERS = ("spec", "workerGroupSpecs")
PODS = 3
"""A head and two workers, of one cpu each."""


def ray_cluster() -> Json:
    container = {"name": "ray", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"containers": [container]}}
    group = {"groupName": "small", "replicas": 2, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {}}
    spec = {
        "suspend": True,
        "headGroupSpec": {"rayStartParams": {}, "template": template},
        "workerGroupSpecs": [{**group, "template": template}],
    }
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "app"}, "spec": spec}


async def play(house: House, app: Object) -> list[Object]:
    """KubeRay's turn: every pod that is called for is made at once. Those that wait behind a gate."""
    there = {pod["metadata"]["name"] for pod in await house.list(r.PODS)}
    for pod in pods_for(ENTRY, app):
        if pod["metadata"]["name"] not in there:
            await house.client.create(r.PODS, pod, house.namespace)
    return [pod for pod in await house.list(r.PODS) if pod["spec"].get("schedulingGates")]


def granted(workload: Object) -> int:
    return sum(each["granted"] for each in workload["status"].get("podSets") or ())


async def test_workers_that_are_added_to_a_cluster_that_runs_wait_until_they_are_granted(
    cluster: Cluster, guarded: House
) -> None:
    """The cluster goes on with what it has, and its new pods do not run for a moment before there is quota for all."""
    await serve(guarded, ENTRY, real=cluster.name == "real")
    await guarded.quota({"cpu": {"nominalQuota": str(PODS)}, "memory": {"nominalQuota": "9Gi"}})
    await guarded.client.create(RAY_CLUSTERS, ray_cluster(), guarded.namespace)
    running = await guarded.see(RAY_CLUSTERS, "app", lambda app: app["spec"]["suspend"] is False)
    assert await play(guarded, running) == []
    more = put(running, (*WORKERS, 0, "replicas"), 4)["spec"]["workerGroupSpecs"]
    edited = await guarded.client.patch(RAY_CLUSTERS, "app", {"spec": {"workerGroupSpecs": more}}, guarded.namespace)
    assert edited["spec"]["workerGroupSpecs"][0]["replicas"] == 4, "it is what its owner wrote"
    assert len(await play(guarded, edited)) == 2
    waiting = await guarded.see(WORKLOADS, "raycluster-app", lambda obj: obj["status"].get("waiting"))
    assert (waiting["status"]["state"], granted(waiting)) == ("Admitted", PODS)
    there = await guarded.get(RAY_CLUSTERS, "app")
    assert there["spec"]["suspend"] is False
    assert len(await play(guarded, there)) == 2
    await guarded.quota({"cpu": {"nominalQuota": str(PODS + 2)}, "memory": {"nominalQuota": "9Gi"}})
    await guarded.see(WORKLOADS, "raycluster-app", lambda obj: granted(obj) == PODS + 2)

    async def free() -> bool:
        return not any(pod["spec"].get("schedulingGates") for pod in await guarded.list(r.PODS))

    await guarded.until(free)
    assert len(await guarded.list(r.PODS)) == PODS + 2
