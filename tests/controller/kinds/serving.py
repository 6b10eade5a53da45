"""Definitions of other projects' kinds on a server: their own, read from their Go modules, or a stub."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from tests.controller.house import House
from tests.dialects.published import MODULES, definitions
from tidegate.kube import resources as r
from tidegate.kube.client import StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import JobKind

Json = Any

TRAINING = "github.com/kubeflow/training-operator"
RAY = "github.com/ray-project/kuberay/ray-operator"
SPARK = "github.com/kubeflow/spark-operator/v2"
FROM = {
    "JobSet": "sigs.k8s.io/jobset",
    **dict.fromkeys(("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"), TRAINING),
    "MPIJob": "github.com/kubeflow/mpi-operator",
    "TrainJob": "github.com/kubeflow/trainer/v2",
    **dict.fromkeys(("RayCluster", "RayJob", "RayService"), RAY),
    **dict.fromkeys(("SparkApplication", "ScheduledSparkApplication"), SPARK),
    "LeaderWorkerSet": "sigs.k8s.io/lws",
    "AppWrapper": "github.com/project-codeflare/appwrapper",
}
STUBS = {
    "DaskCluster": "Dask's definitions are in a Helm chart, not in a Go module",
    "DaskJob": "likewise",
}
"""Kinds whose own definition cannot be had, and why."""
ALONG = {"TrainJob": ("ClusterTrainingRuntime", "TrainingRuntime")}
"""Kinds that a kind refers to."""


def resource_of(entry: JobKind) -> Resource[Object]:
    return Resource(entry.group, entry.versions[0], entry.plural, entry.kind)


async def serve(house: House, entry: JobKind, *, real: bool) -> None:
    """Have the server know a kind. On a real one its own definition is a must; elsewhere it is taken if Go has it."""
    if entry.group in ("", "batch", "apps", "tidegate.dev"):
        return
    wanted = {entry.kind, *ALONG.get(entry.kind, ())}
    for definition in _published(entry.kind, wanted, must=real) or [stub(resource_of(entry))]:
        try:
            await house.client.create(r.CRDS, definition)
        except StatusError as refused:
            assert refused.code == 409, refused.message
        spec = definition["spec"]
        served: Resource[Object] = Resource(
            spec["group"], entry.versions[0], spec["names"]["plural"], spec["names"]["kind"]
        )
        await house.until(partial(is_served, house, served))


def _published(kind: str, wanted: set[str], *, must: bool) -> list[Json]:
    module = FROM.get(kind)
    if module is None:
        assert kind in STUBS, f"say where the definition of {kind} is, or why it cannot be had"
        return []
    if not must and not _is_kept(module):
        return []
    return [each for each in definitions(module) if each["spec"]["names"]["kind"] in wanted]


def _is_kept(module: str) -> bool:
    """Whether Go has it already: without that, nobody waits for a download."""
    version, _ = MODULES[module]
    cache = os.environ.get("GOMODCACHE") or Path.home() / "go" / "pkg" / "mod"
    return shutil.which("go") is not None and (Path(cache) / f"{module}@{version}").is_dir()


async def is_served(house: House, resource: Resource[Object]) -> bool:
    try:
        await house.client.list(resource)
    except StatusError:
        return False
    return True


def stub(resource: Resource[Object]) -> Json:
    """A definition that takes anything."""
    version = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    names = {"kind": resource.kind, "plural": resource.plural}
    spec = {"group": resource.group, "scope": "Namespaced", "names": names, "versions": [version]}
    # Groups like jobset.x-k8s.io are kept for what Kubernetes approved, or says that it did not.
    notes = {"api-approved.kubernetes.io": "unapproved, for tests"}
    return {"metadata": {"name": f"{resource.plural}.{resource.group}", "annotations": notes}, "spec": spec}
