"""The pods that the operators of all kinds make of what an object describes, as a scheduler sees them."""

from __future__ import annotations

import copy
from typing import Any

from tidegate.model.jobs import Form, PodSetShape, builtin, peek, podsets

Json = Any
AUTOSCALER = {"cpu": "500m", "memory": "512Mi"}
WAIT_FOR_HEAD = {"cpu": "200m", "memory": "256Mi"}


def pods_of(obj: Json) -> list[tuple[PodSetShape, Json]]:
    """One pod of every shape that the object describes itself."""
    entry = builtin().of(obj)
    made = []
    for shape in podsets(entry, obj, find=builtin().find):
        if shape.place is None:
            continue
        metadata = {
            "name": f"{peek(obj, ('metadata', 'name')) or 'x'}-{shape.name}",
            "namespace": peek(obj, ("metadata", "namespace")) or "default",
            "labels": peek(obj, shape.place.labels) or {},
            "annotations": peek(obj, shape.place.annotations) or {},
        }
        spec = _spark(obj, shape) if shape.place.form is Form.SPARK else copy.deepcopy(peek(obj, shape.place.pod) or {})
        if entry.group == "ray.io":
            _add_rays_own(obj, shape, spec)
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            _fill_in_requests(container)
        made.append((shape, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
    return made


def _spark(obj: Json, shape: PodSetShape) -> Json:
    """Spark's own words become a container; how its amounts come about is settled by the worked inputs."""
    assert shape.place is not None
    role = peek(obj, shape.place.pod) or {}
    kept = {key: role[key] for key in ("schedulerName", "priorityClassName") if key in role}
    return {**kept, "containers": [{"name": "spark", "resources": {"requests": dict(shape.written)}}]}


def _add_rays_own(obj: Json, shape: PodSetShape, spec: Json) -> None:
    """What KubeRay adds: an autoscaler beside the head, and workers that wait for it first."""
    inside = obj["spec"]
    cluster = inside.get("rayClusterSpec") or inside.get("rayClusterConfig") or inside
    if shape.name == "headgroup" and cluster.get("enableInTreeAutoscaling"):
        stated = (cluster.get("autoscalerOptions") or {}).get("resources") or {"requests": AUTOSCALER}
        spec["containers"] = [*spec["containers"], {"name": "autoscaler", "resources": copy.deepcopy(stated)}]
    elif shape.workers:
        waiting = {"name": "wait-gcs-ready", "resources": {"requests": WAIT_FOR_HEAD}}
        spec["initContainers"] = [waiting, *(spec.get("initContainers") or ())]


def _fill_in_requests(container: Json) -> None:
    """As the API server does where only a limit is stated."""
    resources = container.get("resources") or {}
    if resources.get("limits"):
        container["resources"] = {
            **resources,
            "requests": {**resources["limits"], **(resources.get("requests") or {})},
        }
