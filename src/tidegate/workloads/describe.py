"""From an application to the Workload that asks for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import msgspec

from tidegate.model.jobs import (
    JobError,
    JobKind,
    Kinds,
    Obj,
    PodSetShape,
    builtin,
    inside,
    is_gated,
    max_run_seconds,
    peek,
    podsets,
    priority_class,
    queue_name,
    refusal,
)
from tidegate.model.kinds.shape import GROUP, MOST_PODS, Metadata, OwnerReference
from tidegate.model.kinds.workload import Owner, PodSet, Workload, WorkloadSpec
from tidegate.model.problems import Path
from tidegate.workloads.changes import restored
from tidegate.workloads.names import PRIORITY_CLASS, SUBMITTER, queue_of, workload_name


@dataclass(frozen=True, slots=True)
class _Asker:
    """What the pods of one shape look like, for pods that come one by one."""

    requests: tuple[tuple[str, str], ...]
    selector: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        text = json.dumps([self.requests, self.selector])
        return f"shape-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def describe(entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None) -> Workload:
    """The Workload of an application, as it asks now: what was written into it when it was started does not count.
    JobError says which field cannot be read."""
    obj = restored(obj)
    if (refused := refusal(entry, obj)) is not None:
        raise refused
    kinds = kinds or builtin()
    shapes = podsets(entry, obj, referred=referred, find=kinds.find)
    if not shapes:
        raise JobError(_where(entry), f"this {entry.kind} describes no pods; give it some, or take it out of the queue")
    metadata = inside(obj, ("metadata",))
    name, uid = str(metadata.get("name") or ""), str(metadata.get("uid") or "")
    owner = Owner(api_version=str(obj["apiVersion"]), kind=entry.kind, name=name, uid=uid)
    return Workload(
        metadata=_metadata(metadata, workload_name(kinds.prefix(entry), name), [owner]),
        spec=WorkloadSpec(
            queue=queue_of(obj) or queue_name(entry, obj) or "default",
            priority_class_name=_priority_class(entry, obj, shapes),
            priority=_priority(entry, obj),
            owner=owner,
            pod_sets=_pod_sets(entry, obj, shapes),
            max_run_seconds=max_run_seconds(entry, obj),
        ),
    )


def _where(entry: JobKind) -> Path:
    """Where the first of its pods would be described."""
    rule = entry.pod_sets[0] if entry.pod_sets else None
    wraps = entry.wraps.each if entry.wraps else None
    path = wraps if rule is None else rule.each or rule.template or rule.pod
    named = takewhile(lambda step: isinstance(step, str), path.steps if path else ())
    return tuple(map(str, named))


def ended_pods(entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None) -> dict[str, int]:
    """By pod set: pods that ended well and will not be needed again."""
    shapes = podsets(entry, restored(obj), referred=referred, find=(kinds or builtin()).find)
    ended: dict[str, int] = {}
    for shape in shapes:
        ended[shape.pod_set] = ended.get(shape.pod_set, 0) + shape.reclaimed
    return ended


def group_of(entry: JobKind, name: str, pods: Sequence[Obj]) -> tuple[Workload, dict[str, str]]:
    """The Workload of a gang of single pods, and which pod set each of them (by name) is in: one set per shape."""
    sets: dict[str, PodSet] = {}
    members: dict[str, str] = {}
    for pod in sorted(pods, key=lambda each: str(each["metadata"]["name"])):
        one = _pod_set(podsets(entry, restored(pod))[0])
        asker = _Asker(tuple(one.requests.quantities().items()), tuple(sorted(one.node_selector.items())))
        known = sets.get(asker.name)
        count = 1 if known is None else known.count + 1
        sets[asker.name] = PodSet(
            name=asker.name, count=count, requests=one.requests, node_selector=one.node_selector, mixes=True
        )
        members[str(pod["metadata"]["name"])] = asker.name
    first = describe(entry, min(pods, key=lambda each: str(each["metadata"]["name"])))
    owners = [Owner(api_version="v1", kind="Pod", name=str(p["metadata"]["name"]), uid=_uid(p)) for p in pods]
    metadata = _metadata(pods[0]["metadata"], workload_name("podgroup", name), owners)
    spec = WorkloadSpec(
        queue=first.spec.queue,
        priority_class_name=first.spec.priority_class_name,
        pod_sets=tuple(sets[key] for key in sorted(sets)),
        max_run_seconds=first.spec.max_run_seconds,
    )
    return Workload(metadata=metadata, spec=spec), members


def _uid(obj: Obj) -> str:
    return str(obj["metadata"].get("uid") or "")


def _metadata(owner: Mapping[str, Any], name: str, owners: Sequence[Owner]) -> Metadata:
    submitter = (owner.get("annotations") or {}).get(SUBMITTER)
    references = tuple(
        OwnerReference(api_version=each.api_version, kind=each.kind, name=each.name, uid=each.uid)
        for each in owners
        if each.uid
    )
    if len(references) == 1:
        references = (_as_controller(references[0]),)
    return Metadata(
        name=name,
        namespace=str(owner.get("namespace") or ""),
        annotations={SUBMITTER: str(submitter)} if submitter else {},
        owner_references=references,
    )


def _as_controller(reference: OwnerReference) -> OwnerReference:
    return OwnerReference(
        api_version=reference.api_version,
        kind=reference.kind,
        name=reference.name,
        uid=reference.uid,
        controller=True,
        block_owner_deletion=True,
    )


def _priority_class(entry: JobKind, obj: Obj, shapes: Sequence[PodSetShape]) -> str | None:
    """The first named: by label, by the kind's own field, by the pods."""
    labelled = inside(obj, ("metadata", "labels")).get(PRIORITY_CLASS)
    named = (labelled, priority_class(entry, obj), *_classes_of_pods(obj, shapes))
    return next((str(name) for name in named if name), None)


def classes_of_pods(
    entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None
) -> tuple[str, ...]:
    """The priority classes that its pods name, whatever else says how urgent it is: where there is no such class, no
    server takes them."""
    try:
        return _classes_of_pods(obj, podsets(entry, obj, referred=referred, find=(kinds or builtin()).find))
    except JobError:
        return ()


def _classes_of_pods(obj: Obj, shapes: Sequence[PodSetShape]) -> tuple[str, ...]:
    named = (_pod(shape, obj).get("priorityClassName") for shape in shapes)
    return tuple(dict.fromkeys(str(name) for name in named if name))


def _pod(shape: PodSetShape, obj: Obj) -> Mapping[str, Any]:
    """The pod spec of a set, or what stands for it; empty where it is in another object."""
    if shape.place is None:
        return {}
    there = peek(obj, shape.place.template or shape.place.pod)
    return there if isinstance(there, Mapping) else {}


def with_live(workload: Workload, live: Mapping[str, int]) -> Workload:
    """Asking for as many pods as are there, where somebody else has made more than the application says: an autoscaler
    that resizes another object, or a rollout that makes new pods before it takes the old ones."""
    sets = tuple(
        msgspec.structs.replace(each, count=live[each.name], min_count=each.floor)
        if live.get(each.name, 0) > each.count
        else each
        for each in workload.spec.pod_sets
    )
    return msgspec.structs.replace(workload, spec=msgspec.structs.replace(workload.spec, pod_sets=sets))


def is_run_here(entry: JobKind) -> bool:
    """Whether Tidegate itself makes the pods of this kind, and so as many as were granted."""
    return entry.group == GROUP


def _priority(entry: JobKind, obj: Obj) -> int:
    stated = peek(obj, ("spec", "priority")) if is_run_here(entry) else None
    return stated if isinstance(stated, int) else 0


def _pod_sets(entry: JobKind, obj: Obj, shapes: Sequence[PodSetShape]) -> tuple[PodSet, ...]:
    here = is_run_here(entry)
    # Pods that are let go one by one can be as many as were granted, each on the nodes of its own flavor.
    one_by_one = here or is_gated(entry)
    sets = [_pod_set(shape, elastic=one_by_one, mixes=one_by_one and shape.mixes) for shape in _counted(shapes)]
    # A floor over all sets together is reached by raising theirs, one after the other.
    stated = peek(obj, ("spec", "schedulingSpec", "minAvailable")) if here else None
    lacking = (stated if isinstance(stated, int) else 0) - sum(each.floor for each in sets)
    for index, each in enumerate(sets):
        more = max(0, min(lacking, each.count - each.floor))
        lacking -= more
        floor = each.floor + more
        sets[index] = msgspec.structs.replace(each, min_count=None if floor == each.count else floor)
    return tuple(sets)


def _counted(shapes: Sequence[PodSetShape]) -> list[PodSetShape]:
    """Sets that are counted as one, as one: a group of them is a step of it."""
    found: dict[str, PodSetShape] = {}
    for shape in shapes:
        known = found.get(shape.pod_set)
        found[shape.pod_set] = replace(shape, name=shape.pod_set) if known is None else _sum(known, shape)
    return list(found.values())


def _sum(one: PodSetShape, other: PodSetShape) -> PodSetShape:
    ceilings = (one.ceiling, other.ceiling)
    return replace(
        one,
        count=one.count + other.count,
        floor=one.floor + other.floor,
        step=one.step + other.step,
        ceiling=None if None in ceilings else sum(filter(None, ceilings)),
    )


def _pod_set(shape: PodSetShape, *, elastic: bool = False, mixes: bool = False) -> PodSet:
    elastic = elastic or shape.resize is not None
    count = min(shape.count, MOST_PODS)
    # A set whose count cannot be lowered would run whole whatever was granted: it is a gang of all.
    floor = min(shape.floor, count) if elastic else count
    ceiling = shape.ceiling if shape.ceiling is not None and shape.ceiling <= MOST_PODS else None
    return PodSet(
        name=shape.name,
        count=count,
        min_count=None if floor == count else floor,
        max_count=None if ceiling is None or not elastic else max(ceiling, floor),
        step=shape.step,
        requests=shape.requests,
        mixes=mixes,
        node_selector=shape.node_selector,
    )
