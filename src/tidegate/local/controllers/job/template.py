"""The pods of a Job, made from its template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.controllers.job.objects import INDEX, INDEX_FAILURES, INDEX_IGNORED, TRACKING, Job, copied
from tidegate.local.controllers.objects import owner_reference

_NAME_MOST = 58
"""What leaves room for the five characters that the server adds to a generated name."""


@dataclass(frozen=True, slots=True)
class NewPod:
    """A pod to create: its index in an Indexed Job, and how often that index failed where that is counted."""

    index: int | None = None
    failures: int | None = None
    ignored: int = 0


def pod_for(job: Job, new: NewPod) -> Object:
    template = copied(job.spec.template)
    asked: dict[str, Any] = template.get("metadata") or {}
    metadata: Object = {
        "generateName": _generate_name(job.metadata.name, new.index),
        "labels": asked.get("labels") or {},
        "annotations": asked.get("annotations") or {},
        "finalizers": [*(name for name in asked.get("finalizers") or () if name != TRACKING), TRACKING],
        "ownerReferences": [owner_reference(job.metadata, "batch/v1", "Job")],
    }
    pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    if new.index is not None:
        _give_index(job, pod, new)
    return pod


def _give_index(job: Job, pod: Object, new: NewPod) -> None:
    """Annotation, label, host name and JOB_COMPLETION_INDEX in each container."""
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["annotations"][INDEX] = metadata["labels"][INDEX] = str(new.index)
    spec["hostname"] = f"{job.metadata.name}-{new.index}"
    if new.failures is not None:
        metadata["annotations"][INDEX_FAILURES] = str(new.failures)
        if new.ignored:
            metadata["annotations"][INDEX_IGNORED] = str(new.ignored)
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        env = container.setdefault("env", [])
        if all(each["name"] != "JOB_COMPLETION_INDEX" for each in env):
            env.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": source})


def _generate_name(job: str, index: int | None) -> str:
    ending = "-" if index is None else f"-{index}-"
    return job[: _NAME_MOST - len(ending)] + ending
