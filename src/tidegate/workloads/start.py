"""Letting an application go with what it was granted, and holding it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate.model.jobs import (
    Form,
    JobKind,
    Kinds,
    Obj,
    PodPlace,
    PodSetShape,
    builtin,
    is_suspended,
    mapping,
    peek,
    podsets,
    sequence,
    with_suspend,
)
from tidegate.model.problems import Path
from tidegate.workloads.changes import Draft, noted_as, restored
from tidegate.workloads.names import FLAVOR, GATE, GRANTED, POD_SET, QUEUE, WORKLOAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the pods of one set may be now: how many, and on which nodes."""

    count: int
    flavor: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()


def start(
    entry: JobKind,
    obj: Obj,
    workload: str,
    allowed: Mapping[str, Allowance],
    *,
    queue: str = "",
    referred: Obj | None = None,
    kinds: Kinds | None = None,
) -> Obj:
    """The application, let go with what its Workload (of that Queue) was granted, by pod set. Whatever an earlier
    start had written is replaced, so that it also grows and shrinks one that runs."""
    draft = Draft(restored(obj))
    find = (kinds or builtin()).find
    granted = {name: allowance.count for name, allowance in sorted(allowed.items())}
    notes = {WORKLOAD: workload, GRANTED: json.dumps(granted, separators=(",", ":"))}
    elsewhere: dict[str, str] = {}
    shapes = podsets(entry, draft.obj, referred=referred, find=find)
    for shape in reversed(shapes):
        make_room(draft, shape)
    for shape in shapes:
        allowance = allowed.get(shape.name)
        if allowance is not None:
            _let_go(draft, shape, allowance)
            marks = {WORKLOAD: workload, QUEUE: queue, FLAVOR: allowance.flavor}
            # More pods than are granted can only be kept from running one by one.
            if shape.resize is None and (allowance.count < shape.count or not allowance.flavor):
                marks = behind_gate(draft, shape, marks)
            _mark(draft, shape, marks, notes)
            if shape.place is None and allowance.flavor:
                elsewhere[shape.name] = allowance.flavor
    if elsewhere:
        notes[FLAVOR] = json.dumps(elsewhere, sort_keys=True, separators=(",", ":"))
    started = draft.remember(notes)
    return started if entry.suspend is None else with_suspend(entry, started, False)


def next_step(entry: JobKind, obj: Obj, started: Obj) -> Obj:
    """What to write now, on the way to the started application. Where its own operator takes changes only while it is
    held, it is changed first, and let go by the write after that; from then on nothing is but what is noted on it."""
    if all(rule.overrides is None for rule in entry.pod_sets):
        return started
    if not is_suspended(entry, obj):
        return noted_as(obj, started)
    prepared = with_suspend(entry, started, True)
    return started if prepared == obj else prepared


def hold_pods(
    entry: JobKind, obj: Obj, workload: str, granted: Mapping[str, int], *, kinds: Kinds | None = None
) -> Obj:
    """An application whose pods are all made behind a gate, each saying whose it is. What its templates say does not
    depend on what is granted, since its own controller would take that for a new version."""
    draft = Draft(restored(obj))
    for shape in podsets(entry, draft.obj, find=(kinds or builtin()).find):
        if shape.place is None:
            continue
        draft.merge(shape.place.annotations, {WORKLOAD: workload, POD_SET: shape.pod_set})
        _gate(draft, shape.place)
    told = json.dumps(dict(sorted(granted.items())), separators=(",", ":"))
    return draft.remember({WORKLOAD: workload, GRANTED: told})


def make_room(draft: Draft, shape: PodSetShape) -> None:
    """An item for what its pods are to have besides, where the object has a list of such."""
    at = shape.place.overrides if shape.place is not None else None
    if at is None:
        return
    *way, index = at
    there = sequence(peek(draft.obj, tuple(way)), tuple(way))
    if (missing := int(index) + 1 - len(there)) > 0:
        draft.write(tuple(way), [*there, *({} for _ in range(missing))])


def behind_gate(draft: Draft, shape: PodSetShape, marks: dict[str, str]) -> dict[str, str]:
    """The pods that come from now on wait at a gate: the marks that they are to have. The gate is in their template,
    where operators that start anew whatever has changed (KubeRay) do not look for changes. Spark has no word for it:
    of its pods those are gated that tell no flavor."""
    if shape.place is None or shape.place.is_object:
        return marks
    if shape.place.form is Form.SPARK:
        return {key: value for key, value in marks.items() if key != FLAVOR}
    _gate(draft, shape.place.for_grant)
    return marks


def _gate(draft: Draft, place: PodPlace) -> None:
    gates = _listed(draft.obj, (*place.pod, "schedulingGates"))
    if not any(gate.get("name") == GATE for gate in gates):
        draft.write((*place.pod, "schedulingGates"), [*gates, {"name": GATE}])


def stop(entry: JobKind, obj: Obj) -> Obj:
    """The application as it was before it was started; held, if its kind can be."""
    held = restored(obj)
    return held if entry.suspend is None else with_suspend(entry, held, True)


def _let_go(draft: Draft, shape: PodSetShape, allowance: Allowance) -> None:
    if shape.resize is not None and allowance.count < shape.count:
        draft.write(shape.resize, allowance.count)
    if shape.place is None:
        _override(draft, shape, allowance)
        return
    place = shape.place.for_grant
    if place.absent is not None:
        draft.write(place.absent, place.content)
    pod = peek(draft.obj, place.pod)
    if isinstance(pod, Mapping):
        _place_pods(draft, place, allowance)
        gates = _listed(draft.obj, (*place.pod, "schedulingGates"))
        if place.is_object and (left := [gate for gate in gates if gate.get("name") != GATE]) != gates:
            draft.write((*place.pod, "schedulingGates"), left)


def _override(draft: Draft, shape: PodSetShape, allowance: Allowance) -> None:
    """Where to run, for pods that another object describes."""
    more: dict[str, Any] = {}
    if allowance.node_labels:
        more["nodeSelector"] = dict(allowance.node_labels)
    if allowance.tolerations:
        more["tolerations"] = [dict(each) for each in allowance.tolerations]
    if shape.overrides is not None and more:
        there = sequence(peek(draft.obj, shape.overrides), shape.overrides)
        draft.write(shape.overrides, [*there, {"targetJobs": [{"name": shape.role}], **more}])


def _mark(draft: Draft, shape: PodSetShape, marks: Mapping[str, str], notes: dict[str, str]) -> None:
    """Pods say whose they are, so that whoever counts them need not know how they came to be."""
    if shape.place is None:
        return
    marks = {POD_SET: shape.name} | {key: value for key, value in marks.items() if value}
    if shape.place.is_object:
        notes.update(marks)
    else:
        draft.merge(shape.place.for_grant.annotations, marks)


def _listed(obj: Obj, path: Path) -> list[Obj]:
    """The items of a list of a pod; JobError where it is something else, which not every server refuses."""
    return [mapping(each, (*path, index)) for index, each in enumerate(sequence(peek(obj, path), path))]


def _place_pods(draft: Draft, place: PodPlace, allowance: Allowance) -> None:
    draft.merge((*place.pod, "nodeSelector"), allowance.node_labels)
    there = _listed(draft.obj, (*place.pod, "tolerations"))
    more = [dict(each) for each in allowance.tolerations if each not in there]
    if more:
        draft.write((*place.pod, "tolerations"), [*there, *more])
