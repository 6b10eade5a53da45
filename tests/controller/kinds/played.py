"""The operator of a kind, played: makes the pods that an object calls for, and writes what its status would say."""

from __future__ import annotations

from typing import Any

from tests.local.controllers.stage import stamp
from tidegate.kube.wire import Object
from tidegate.model.jobs import Form, JobKind, PodSetShape, builtin, peek, podsets

Json = Any
_CONTAINER = {"name": "main", "image": "host"}


def condition(kind: str) -> Json:
    said = {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": stamp()}
    return {"conditions": [said]}


def running(kind: str) -> Json | None:
    """The status while it runs; None where its own operator says nothing then."""
    if kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"):
        return condition("Running")
    return {
        "SparkApplication": {"applicationState": {"state": "RUNNING"}, "driverInfo": {}},
        "RayCluster": {"state": "ready"},
        "RayJob": {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", "rayClusterName": "app-x"},
        "AppWrapper": {"phase": "Running"},
        "DaskCluster": {"phase": "Running"},
        "DaskJob": {"jobStatus": "Running"},
    }.get(kind)


def finished(kind: str) -> Json | None:
    """The status once it has ended well; None for kinds that run until they are deleted, or that end by their pods."""
    if kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"):
        return condition("Succeeded")
    return {
        "JobSet": condition("Completed"),
        "TrainJob": condition("Complete"),
        "SparkApplication": {"applicationState": {"state": "COMPLETED"}, "driverInfo": {}},
        "RayJob": {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"},
        "AppWrapper": {"phase": "Succeeded"},
        "DaskJob": {"jobStatus": "Successful"},
    }.get(kind)


def pods_for(entry: JobKind, obj: Object) -> list[Json]:
    """The pods that an object calls for, as it is now."""
    made = []
    for shape in podsets(entry, obj, find=builtin().find):
        for index in range(shape.count):
            pod = _pod(obj, shape)
            pod["metadata"] |= {"name": f"{obj['metadata']['name']}-{shape.name}-{index}"}
            pod["metadata"]["ownerReferences"] = [owner_of(obj)]
            if shape.group:
                pod["metadata"]["labels"] |= {shape.group: str(index // shape.step)}
            made.append(pod)
    return made


def owner_of(obj: Object) -> Json:
    meta = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }


def _pod(obj: Object, shape: PodSetShape) -> Json:
    place = shape.place
    if place is None:
        return _described_elsewhere(obj, shape)
    meta = {
        "labels": {**(peek(obj, place.labels) or {}), **shape.selector},
        "annotations": dict(peek(obj, place.annotations) or {}),
    }
    spec = dict(peek(obj, place.pod) or place.pod_content) if place.form is not Form.SPARK else _spark(obj, shape)
    more = peek(obj, place.overrides) if place.overrides is not None else None
    return _injected({"metadata": meta, "spec": spec}, more or {})


def _injected(pod: Json, more: Json) -> Json:
    """As AppWrapper's operator makes it of a template and the item of podSetInfos: `createComponent`."""
    for part, name in (("metadata", "annotations"), ("metadata", "labels"), ("spec", "nodeSelector")):
        there, added = pod[part].get(name) or {}, more.get(name) or {}
        assert all(there.get(key, value) == value for key, value in added.items()), f"conflict updating {name}"
        pod[part] |= {name: added | there} if added else {}
    for name in ("tolerations", "schedulingGates"):
        if more.get(name):
            pod["spec"] |= {name: [*(pod["spec"].get(name) or ()), *more[name]]}
    return pod


def _spark(obj: Object, shape: PodSetShape) -> Json:
    assert shape.place is not None
    said = peek(obj, shape.place.pod)
    keys = ("nodeSelector", "tolerations", "schedulingGates")
    return {"containers": [_CONTAINER], **{key: said[key] for key in keys if key in said}}


def _described_elsewhere(obj: Object, shape: PodSetShape) -> Json:
    """As the trainer makes them: by the runtime, with what the object overrides."""
    spec: Json = {"containers": [_CONTAINER]}
    for override in obj["spec"].get("podSpecOverrides") or ():
        if {"name": shape.role} in override["targetJobs"]:
            spec |= {key: value for key, value in override.items() if key != "targetJobs"}
    labels = {"jobset.sigs.k8s.io/jobset-name": obj["metadata"]["name"], **shape.selector}
    return {"metadata": {"labels": labels}, "spec": spec}
