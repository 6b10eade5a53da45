"""The pods of a QueueJob: which are to be made and which to go, and how far the job is. Pure.

Every task spec has as many indexes as replicas. An index is done once a pod of it ended well; a pod that failed stays,
as the record of a failure, and another attempt takes its index. One that was told to go has neither failed nor ended
well, however it ends: its index is free again once it is gone. Names tell index and attempt, so that whoever starts
anew makes the same pods, and none twice. Pods that ended may be deleted by anybody: which are done is in the status,
and how often one failed is told by the attempt that came after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from tidegate.controller.applications.form import Flavors, allowance
from tidegate.model.indexes import format_indexes, parse_indexes
from tidegate.model.jobs import JobError, pod_requests
from tidegate.model.kinds.queue_job import JobTask, JobTaskStatus, QueueJob, QueueJobPhase, QueueJobStatus
from tidegate.model.kinds.shape import MOST_PODS
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import FLAVOR, POD_SET, QUEUE, REQUESTS, WORKLOAD, Allowance, pod_facts

INDEX = "tidegate.dev/task-index"
"""Annotation of a QueueJob's pod: which of its task spec's pods it is."""
Json = dict[str, Any]
OVER = (QueueJobPhase.SUCCEEDED, QueueJobPhase.FAILED)
_AGAIN = re.compile(r"-r([0-9]+)$")
"""How the name of every attempt but the first ends; names of first ones end in their index."""


@dataclass(frozen=True, slots=True)
class ToDo:
    """What is to be done to pods."""

    create: tuple[Json, ...] = ()
    delete: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Which pod of a job: the task spec, the index in it, and how often it was tried before."""

    task: str
    index: int
    attempt: int


def to_do(job: QueueJob, seen: SeenWorkload, pods: Sequence[Json], flavors: Flavors) -> ToDo:
    """Make pods up to what is granted and may start; take away those beyond what is granted, highest index first."""
    create: list[Json] = []
    delete: list[Json] = []
    for pod_set in seen.pod_sets:
        mine = [pod for pod in pods if pod_facts(pod).pod_set == pod_set.name]
        live = [pod for pod in mine if pod_facts(pod).present]
        before = next((each for each in job.status.task_specs if each.name == pod_set.name), None)
        taken = {_index(pod) for pod in mine if pod_facts(pod).present or pod_facts(pod).going} | _done(before, mine)
        free = [index for index in range(_replicas(job, pod_set.name)) if index not in taken]
        for flavor in sorted({*pod_set.granted, *pod_set.present}):
            granted = pod_set.granted.get(flavor, 0)
            there = [pod for pod in live if pod_facts(pod).flavor == flavor]
            # What is there now, not when it was planned: pods may have been heard of since.
            may = granted - pod_set.held.get(flavor, 0) - len(there)
            for _ in range(min(max(0, may), len(free))):
                index = free.pop(0)
                attempt = 1 + max((_attempt(pod) for pod in mine if _index(pod) == index), default=-1)
                place = _Place(pod_set.name, index, attempt)
                create.append(_pod(job, seen, place, allowance(flavor, 1, flavors)))
            stay = [pod for pod in there if not pod["metadata"].get("deletionTimestamp")]
            beyond = len(stay) - granted
            delete += sorted(stay, key=_index, reverse=True)[: max(0, beyond)]
    return ToDo(tuple(create), tuple(delete))


def job_status(job: QueueJob, seen: SeenWorkload, pods: Sequence[Json]) -> QueueJobStatus:
    """How far it is, as its pods tell; what has been counted once stays counted. Its Workload is told first: whoever
    was killed after that leaves it to that to say how many ended well, should their pods be gone by now."""
    if job.status.phase in OVER:
        return job.status
    before = {each.name: each for each in job.status.task_specs}
    ended = {each.name: each.ended for each in seen.pod_sets}
    tasks = tuple(_task(task, before.get(task.name), pods, ended.get(task.name, 0)) for task in job.spec.task_specs)
    failed = sum(task.failed for task in tasks)
    succeeded = sum(task.succeeded for task in tasks)
    running = sum(task.running for task in tasks)
    phase, said = QueueJobPhase.PENDING, ""
    if failed > job.spec.backoff_limit:
        phase = QueueJobPhase.FAILED
        pods_failed = "1 pod failed" if failed == 1 else f"{failed} pods failed"
        said = f"{pods_failed}, more than backoffLimit ({job.spec.backoff_limit}) allows"
    elif succeeded >= sum(task.replicas for task in job.spec.task_specs):
        phase = QueueJobPhase.SUCCEEDED
    elif running:
        phase = QueueJobPhase.RUNNING
    if phase in OVER:  # Whatever still runs of it is told to go, and nothing is told of it after that.
        running, tasks = 0, tuple(replace(task, pending=0, running=0) for task in tasks)
    return QueueJobStatus(
        phase=phase,
        workload=seen.name.partition("/")[2],
        running=running,
        succeeded=succeeded,
        failed=failed,
        task_specs=tasks,
        message=said,
        conditions=job.status.conditions,
    )


def _task(task: JobTask, before: JobTaskStatus | None, pods: Sequence[Json], ended: int) -> JobTaskStatus:
    mine = [pod for pod in pods if pod_facts(pod).pod_set == task.name]
    phases = [str((pod.get("status") or {}).get("phase")) for pod in mine]
    # Where all have ended, it is known which; where one of several did, it may be run again.
    done = _done(before, mine) | (set(range(task.replicas)) if ended >= task.replicas else set())
    return JobTaskStatus(
        name=task.name,
        pending=phases.count("Pending"),
        running=phases.count("Running"),
        succeeded=max(len(done), before.succeeded if before else 0),
        failed=max(_failures(mine), before.failed if before else 0),
        completed_indexes=format_indexes(done),
    )


def _done(before: JobTaskStatus | None, pods: Sequence[Json]) -> set[int]:
    """Indexes of which a pod ended well, whether it is still there or was only told of."""
    told = parse_indexes(before.completed_indexes, MOST_PODS) if before else set()
    return told | {_index(pod) for pod in pods if pod_facts(pod).succeeded}


def _failures(pods: Sequence[Json]) -> int:
    """How many failed, those that were deleted since included: each attempt was made because the one before it had."""
    tried: dict[int, int] = {}
    for pod in pods:
        is_failed = (pod.get("status") or {}).get("phase") == "Failed" and not pod_facts(pod).going
        tried[_index(pod)] = max(_attempt(pod) + is_failed, tried.get(_index(pod), 0))
    return sum(tried.values())


def _replicas(job: QueueJob, name: str) -> int:
    return next((task.replicas for task in job.spec.task_specs if task.name == name), 0)


def _index(pod: Json) -> int:
    text = str((pod["metadata"].get("annotations") or {}).get(INDEX, ""))
    return int(text) if text.isdigit() else -1


def _attempt(pod: Json) -> int:
    found = _AGAIN.search(str(pod["metadata"]["name"]))
    return int(found[1]) if found else 0


def _noted(spec: Json) -> str:
    """What a pod is granted, for whoever counts it; nothing where the server will refuse it for its amounts."""
    try:
        return json.dumps(pod_requests(spec).quantities(), separators=(",", ":"))
    except JobError:
        return "{}"


def _pod(job: QueueJob, seen: SeenWorkload, place: _Place, allowed: Allowance) -> Json:
    template = next(each.template for each in job.spec.task_specs if each.name == place.task)
    meta: Mapping[str, Any] = template.get("metadata") or {}
    spec = dict(template["spec"])
    if allowed.node_labels:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **allowed.node_labels}
    if allowed.tolerations:
        spec["tolerations"] = [*(spec.get("tolerations") or ()), *map(dict, allowed.tolerations)]
    # A pod that starts its containers again for ever would never end.
    spec.setdefault("restartPolicy", "Never")
    marks = {
        WORKLOAD: seen.name.partition("/")[2],
        QUEUE: seen.queue.partition("/")[2],
        POD_SET: place.task,
        FLAVOR: allowed.flavor,
        INDEX: str(place.index),
        REQUESTS: _noted(template["spec"]),
    }
    owner = {"apiVersion": "tidegate.dev/v1alpha1", "kind": "QueueJob", "controller": True, "blockOwnerDeletion": True}
    again = f"-r{place.attempt}" if place.attempt else ""
    return {
        "metadata": {
            "name": f"{job.metadata.name}-{place.task}-{place.index}{again}",
            "namespace": job.metadata.namespace,
            "labels": dict(meta.get("labels") or {}),
            "annotations": {**(meta.get("annotations") or {}), **marks},
            "ownerReferences": [{**owner, "name": job.metadata.name, "uid": job.metadata.uid}],
        },
        "spec": spec,
    }
