"""What an application makes is counted with it and never queued again; what a maker makes goes where the maker says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.controller.house import House
from tests.controller.kinds.played import owner_of
from tests.controller.kinds.serving import resource_of, serve
from tests.harness import Cluster
from tests.model.jobs.samples import sample
from tidegate.controller.kinds import QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin, is_suspended, put, with_suspend

Json = Any
CHILDREN = [
    ("JobSet", "Job"),
    ("TrainJob", "JobSet"),
    ("RayJob", "RayCluster"),
    ("RayService", "RayCluster"),
    ("LeaderWorkerSet", "StatefulSet"),
    ("AppWrapper", "Job"),
    ("DaskJob", "DaskCluster"),
    ("DaskCluster", "Deployment"),
]
MAKERS = [("CronJob", "Job"), ("ScheduledSparkApplication", "SparkApplication")]


async def made(house: House, kind: str, cluster: Cluster, **metadata: Json) -> Object:
    entry = builtin().of(sample(kind))
    await serve(house, entry, real=cluster.name == "real")
    obj = put(sample(kind), ("metadata",), metadata)
    if entry.suspend is not None and entry.makes is None:
        obj = with_suspend(entry, obj, True)
    return await house.client.create(resource_of(entry), dict(obj), house.namespace)


@pytest.mark.parametrize(("kind", "child"), CHILDREN)
async def test_what_a_queued_application_makes_is_not_queued_again(
    cluster: Cluster, house: House, kind: str, child: str
) -> None:
    above = await made(house, kind, cluster, name="above")
    below = await made(house, child, cluster, name="below", ownerReferences=[owner_of(above)])
    # Whatever comes after it has been seen after it.
    await house.workload("later", 1)
    await house.state("later", "Admitted")
    await house.see(WORKLOADS, f"{kind.lower()}-above", lambda obj: True)
    assert not await house.exists(WORKLOADS, f"{child.lower()}-below")
    now = await house.get(resource_of(builtin().of(below)), "below")
    assert now["spec"] == below["spec"], "nobody touched it"


@pytest.mark.parametrize(("maker", "child"), MAKERS)
async def test_what_a_maker_makes_is_queued_where_the_maker_says(
    cluster: Cluster, house: House, maker: str, child: str
) -> None:
    await house.create(QUEUES, "nightly", spec={"clusterQueue": house.namespace})
    above = await made(house, maker, cluster, name="above", labels={"tidegate.dev/queue": "nightly"})
    below = await made(house, child, cluster, name="below", ownerReferences=[owner_of(above)])
    assert is_suspended(builtin().of(below), below)
    workload = await house.see(WORKLOADS, f"{child.lower()}-below", lambda obj: obj["spec"]["queue"] == "nightly")
    assert workload["spec"]["owner"]["kind"] == child
    assert not await house.exists(WORKLOADS, f"{maker.lower()}-above"), "a maker itself asks for nothing"
    other = {"metadata": {"labels": {"tidegate.dev/queue": "default"}}}
    await house.patch(resource_of(builtin().of(above)), "above", other)
    await house.see(WORKLOADS, f"{child.lower()}-below", lambda obj: obj["spec"]["queue"] == "default")


async def test_workers_of_a_group_that_an_autoscaler_resized_ask_with_their_cluster(
    cluster: Cluster, house: House
) -> None:
    """DaskAutoscaler resizes a DaskWorkerGroup, of which the DaskCluster says nothing: pods that are there count."""
    cluster_above = await made(house, "DaskCluster", cluster, name="above")
    await house.see(WORKLOADS, "daskcluster-above", lambda obj: obj["spec"]["podSets"][1]["count"] == 3)
    held = await house.see(
        resource_of(builtin().of(cluster_above)), "above", lambda obj: "annotations" in obj["metadata"]
    )
    worker = held["spec"]["worker"]
    for index in range(4):
        meta = {"name": f"worker-{index}", "annotations": worker["metadata"]["annotations"]}
        meta["ownerReferences"] = [owner_of(held)]
        await house.client.create(r.PODS, {"metadata": meta, "spec": worker["spec"]}, house.namespace)
    await house.see(WORKLOADS, "daskcluster-above", lambda obj: obj["spec"]["podSets"][1]["count"] == 4)
    await asyncio.gather(*(house.client.delete(r.PODS, f"worker-{each}", house.namespace) for each in range(4)))
    await house.see(WORKLOADS, "daskcluster-above", lambda obj: obj["spec"]["podSets"][1]["count"] == 3)


async def test_replicas_of_a_deployment_are_its_desired_size(cluster: Cluster, house: House) -> None:
    """Scaled up it grows up to its quota and the rest waits behind the gate; scaled down it gives back."""
    quota = {"cpu": {"nominalQuota": "4"}, "memory": {"nominalQuota": "100Gi"}}
    await house.quota(quota)
    await made(house, "Deployment", cluster, name="web")
    await house.state("deployment-web", "Admitted", granted=3)
    await house.patch(r.DEPLOYMENTS, "web", {"spec": {"replicas": 6}})
    await house.state("deployment-web", "Admitted", granted=4)
    waiting = await house.see(WORKLOADS, "deployment-web", lambda obj: obj["status"].get("waiting"))
    assert waiting["status"]["waiting"]["reason"] in ("WaitingForQuota", "ExceedsQuota")
    await house.patch(r.DEPLOYMENTS, "web", {"spec": {"replicas": 1}})
    await house.state("deployment-web", "Admitted", granted=1)
