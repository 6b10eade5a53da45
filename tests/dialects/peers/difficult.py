"""Objects that Kueue refuses when they only have its label: some cannot be helped, others rendering mends."""

from __future__ import annotations

from typing import Any

from tests.model.jobs.samples import sample

Json = Any


def _spark(**spec: Json) -> Json:
    obj = sample("SparkApplication")
    obj["spec"] |= spec
    return obj


def _ray(kind: str, **spec: Json) -> Json:
    obj = sample(kind)
    obj["spec"] |= spec
    return obj


def _groups(*names: str) -> list[Json]:
    (first, *_) = sample("RayCluster")["spec"]["workerGroupSpecs"]
    return [{**first, "groupName": name} for name in names]


REFUSED = {
    "dynamic allocation": _spark(dynamicAllocation={"enabled": True, "minExecutors": 1}),
    "client mode": _spark(mode="client"),
    "a running cluster": _ray("RayJob", clusterSelector={"ray.io/cluster": "x"}),
    "a group called head": _ray("RayCluster", workerGroupSpecs=_groups("head")),
    "nineteen pod sets": _ray("RayCluster", workerGroupSpecs=_groups(*(f"g{index}" for index in range(18)))),
}

MENDED = {
    "a job whose cluster stays": _ray("RayJob", shutdownAfterJobFinishes=False),
    "a cluster that grows": _ray("RayCluster"),
    "a cluster that grows with a group at rest": _ray("RayCluster", workerGroupSpecs=[
        *_groups("a"), {**_groups("b")[0], "suspend": True}]),
    "a cluster whose autoscaler has nothing to scale": _ray("RayCluster", workerGroupSpecs=[]),
    "a cluster that may grow and says no limit": _ray("RayCluster", workerGroupSpecs=[
        {key: value for key, value in _groups("a")[0].items() if key != "maxReplicas"}]),
}  # fmt: skip
