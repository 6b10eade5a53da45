"""What an application that is not held may make at any moment, whether its pods are there yet or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.model.jobs import (
    JobError,
    JobKind,
    Kinds,
    Obj,
    PodSetShape,
    builtin,
    inside,
    is_finished,
    is_suspended,
    podsets,
)
from tidegate.workloads.names import FLAVOR, GRANTED


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


def _shapes(entry: JobKind, obj: Obj, referred: Obj | None, kinds: Kinds | None) -> Sequence[PodSetShape]:
    if entry.suspend is None or is_finished(entry, obj):
        return ()
    try:
        return podsets(entry, obj, referred=referred, find=(kinds or builtin()).find)
    except JobError:
        return ()


def _flavor(obj: Obj, shape: PodSetShape) -> str:
    """As it was written into its pods' template."""
    marks = inside(obj, shape.place.annotations) if shape.place is not None else {}
    return str(marks.get(FLAVOR) or "")


def granted_to(obj: Obj) -> dict[str, int]:
    """By pod set: with how many it was let go, as was noted on it; nothing while it is held."""
    try:
        noted = json.loads(inside(obj, ("metadata", "annotations")).get(GRANTED) or "{}")
        return {str(name): int(count) for name, count in noted.items()}
    except (ValueError, AttributeError, TypeError):
        return {}
