"""What a pod says of itself: whose it is, which flavor it was granted, and whether it takes room."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.model.jobs import JobError, JobKind, Kinds, Obj, PodSetShape, inside, pod_group, pod_requests, put
from tidegate.model.resources import NOTHING, Resources
from tidegate.workloads.family import owners_named
from tidegate.workloads.names import FLAVOR, GATE, POD_SET, QUEUE, REQUESTS, WORKLOAD, workload_name
from tidegate.workloads.start import Allowance, start


@dataclass(frozen=True, slots=True)
class PodFacts:
    """One pod, as a queue sees it."""

    name: str
    workload: str
    """The name of its Workload, in its namespace; empty where it has none."""
    pod_set: str
    flavor: str
    queue: str
    """The name of the Queue whose quota it uses; empty where nothing says so."""
    requests: Resources
    gated: bool
    """It waits for its grant."""
    present: bool
    """It takes room: it may run or runs, and is not gone yet."""
    succeeded: bool
    """It ended well, by itself: one that is told to go may end well, too, and has not done what it was made for."""
    going: bool = False
    """It was told to go."""
    granted: Resources = NOTHING
    """What it was granted, where that stands on it; never more than it takes, whatever somebody wrote there."""


def pod_facts(pod: Obj) -> PodFacts:
    """The facts of one pod."""
    marks = inside(pod, ("metadata", "annotations"))
    phase = inside(pod, ("status",)).get("phase")
    waits, going = gated(pod), pod["metadata"].get("deletionTimestamp") is not None
    requests = _requests(pod)
    return PodFacts(
        name=str(pod["metadata"]["name"]),
        workload=asks_as(pod),
        pod_set=str(marks.get(POD_SET) or ""),
        flavor=str(marks.get(FLAVOR) or ""),
        queue=str(marks.get(QUEUE) or ""),
        requests=requests,
        gated=waits,
        present=not waits and phase not in ("Succeeded", "Failed"),
        succeeded=phase == "Succeeded" and not going,
        going=going,
        granted=_granted(marks.get(REQUESTS)).lower(requests),
    )


def gated(pod: Obj) -> bool:
    """Whether Tidegate's gate holds it back."""
    return any(gate.get("name") == GATE for gate in inside(pod, ("spec",)).get("schedulingGates") or ())


def asks_as(pod: Obj, entry: JobKind | None = None, kinds: Kinds | None = None) -> str:
    """The name of the Workload it belongs to, or that asks for it while it is held, or would; empty where it is
    nobody's."""
    marked = inside(pod, ("metadata", "annotations")).get(WORKLOAD)
    if marked:
        return str(marked)
    owned, name = bool(pod["metadata"].get("ownerReferences")), str(pod["metadata"]["name"])
    if owned and kinds is not None and (named := _by_labels(pod, kinds)):
        return named
    if not gated(pod):
        # It runs beside the queue, unless an owner made it that answers for it, which it cannot tell itself.
        beside = kinds is not None and (not owned or any(owners_named(pod, kinds)))
        return workload_name("Pod", name) if beside else ""
    group = _group(pod, entry)
    return workload_name("podgroup", group) if group else workload_name("Pod", name)


def _by_labels(pod: Obj, kinds: Kinds) -> str:
    """Pods that another object describes cannot be marked by their application; its name is among their labels."""
    labels = inside(pod, ("metadata", "labels"))
    for entry in kinds.entries:
        if entry.refers is not None:
            for key, value in entry.children.items():
                if value == "{.metadata.name}" and labels.get(key):
                    return workload_name(kinds.prefix(entry), str(labels[key]))
    return ""


def pod_set_of(shapes: Iterable[PodSetShape], pod: Obj) -> str:
    """The first pod set whose labels a pod has; empty where none tells."""
    labels = inside(pod, ("metadata", "labels"))
    for shape in shapes:
        if shape.selector and all(labels.get(key) == value for key, value in shape.selector.items()):
            return shape.name
    return ""


def lifted(entry: JobKind, pod: Obj, workload: str, pod_set: str, allowance: Allowance, *, queue: str) -> Obj:
    """A pod that was held, free to run as one of a pod set."""
    free = start(entry, pod, workload, {"main": allowance}, queue=queue)
    marked: Obj = put(free, ("metadata", "annotations", POD_SET), pod_set)
    return marked


def _group(pod: Obj, entry: JobKind | None) -> str:
    from tidegate.model.jobs import builtin

    try:
        found = pod_group(entry or builtin().of({"apiVersion": "v1", "kind": "Pod"}), pod)
    except JobError:
        return ""
    return found.name if found else ""


def _granted(text: object) -> Resources:
    """What was noted; nothing where people have written something else there."""
    try:
        return Resources.parse(json.loads(str(text))) if text else NOTHING
    except ValueError:
        return NOTHING


def _requests(pod: Obj) -> Resources:
    try:
        return pod_requests(inside(pod, ("spec",)), ("spec",))
    except JobError:  # An API server has read these amounts before us, so this does not happen.
        return NOTHING
