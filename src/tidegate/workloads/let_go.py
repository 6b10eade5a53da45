"""What an application that is not held may make at any moment, whether its pods are there yet or not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tidegate.model.jobs import (
    JobError,
    JobKind,
    Kinds,
    Obj,
    PodPlace,
    PodSetShape,
    builtin,
    inside,
    is_finished,
    is_suspended,
    peek,
    podsets,
    sequence,
)
from tidegate.workloads.changes import restored
from tidegate.workloads.names import FLAVOR, GRANTED, QUEUE, WORKLOAD

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class LetGo:
    """So many pods of one set, of the flavor that was written into their template."""

    count: int
    flavor: str = ""


def let_go(entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None) -> dict[str, LetGo]:
    """By pod set; nothing where it is held, has ended, or cannot be held at all."""
    if is_suspended(entry, obj):
        return {}
    shapes = _shapes(entry, obj, referred, kinds)
    # Of kinds whose size cannot be written into them, pods beyond what was granted wait behind gates.
    granted = granted_to(obj)
    found: dict[str, LetGo] = {}
    for shape in shapes:
        count = min(shape.count, granted.get(shape.name, shape.count))
        found[shape.name] = LetGo(count, _flavor(obj, shape))
    return found


def said_active(
    entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None
) -> dict[str, LetGo]:
    """By pod set: the pods that there are in the words of whoever makes them. Until that says fewer, it may not have
    heard that fewer are asked for, and make another for one that ended."""
    shapes = _shapes(entry, obj, referred, kinds)
    return {shape.name: LetGo(shape.active, _flavor(obj, shape)) for shape in shapes if shape.active}


@dataclass(frozen=True, slots=True)
class Written:
    """What was written into the template of one pod set when it was let go."""

    flavor: str = ""
    queue: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    tells: bool = True
    """Whether it would tell a flavor if there were one. The pods of kinds whose size is not written into them may wait
    behind gates, and their template tells none; nor did earlier versions note those of pods described elsewhere."""
    waits: bool = False
    """Whether its pods are made behind a gate, and each is told its flavor as that is lifted."""


def written_into(
    entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None
) -> dict[str, Written]:
    """By pod set; nothing where it is held. What runs goes on with that: no server lets it be changed."""
    if is_suspended(entry, obj):
        return {}
    own = restored(obj)
    shapes = _shapes(entry, obj, referred, kinds)
    # Of pods that another object describes no more than their flavor is known, and no more is needed: what was written
    # for them is not touched while they run.
    return {
        shape.name: Written(flavor=_flavor(obj, shape), tells=False)
        if shape.place is None
        else _written(obj, own, shape, shape.place.for_grant)
        for shape in shapes
    }


def _written(obj: Obj, own: Obj, shape: PodSetShape, place: PodPlace) -> Written:
    def more(name: str, nothing: Any) -> tuple[Any, Any]:
        return peek(obj, (*place.pod, name)) or nothing, peek(own, (*place.pod, name)) or nothing

    marks = inside(obj, place.annotations)
    labels, had = more("nodeSelector", {})
    tolerations, tolerated = (sequence(each, (*place.pod, "tolerations")) for each in more("tolerations", ()))
    return Written(
        flavor=_flavor(obj, shape),
        queue=str(marks.get(QUEUE) or ""),
        node_labels={key: value for key, value in labels.items() if had.get(key) != value},
        tolerations=tuple(each for each in tolerations if each not in tolerated),
        tells=shape.resize is not None,
        waits=shape.resize is None and WORKLOAD in marks and FLAVOR not in marks,
    )


def _shapes(entry: JobKind, obj: Obj, referred: Obj | None, kinds: Kinds | None) -> Sequence[PodSetShape]:
    if entry.suspend is None or is_finished(entry, obj):
        return ()
    try:
        return podsets(entry, obj, referred=referred, find=(kinds or builtin()).find)
    except JobError:
        return ()


def _flavor(obj: Obj, shape: PodSetShape) -> str:
    """As it was written into its pods' template, or noted where another object has that."""
    if shape.place is None:
        return flavors_noted(obj).get(shape.name, "")
    marks = peek(obj, shape.place.for_grant.annotations)
    return str(marks.get(FLAVOR) or "") if isinstance(marks, Mapping) else ""


def flavors_noted(obj: Obj) -> dict[str, str]:
    """By pod set: of which flavor the pods are that another object describes, until nothing of it runs any more."""
    return _noted(obj, FLAVOR, str)


def granted_to(obj: Obj) -> dict[str, int]:
    """By pod set: with how many it was let go, as was noted on it; nothing while it is held."""
    return _noted(obj, GRANTED, int)


def _noted(obj: Obj, name: str, read: Callable[[Any], Value]) -> dict[str, Value]:
    """By pod set, as it stands in an annotation; nothing where people have written something else there."""
    try:
        noted = json.loads(inside(obj, ("metadata", "annotations")).get(name) or "{}")
        return {str(pod_set): read(value) for pod_set, value in noted.items()}
    except (ValueError, AttributeError, TypeError):
        return {}
