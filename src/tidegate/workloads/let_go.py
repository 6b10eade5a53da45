"""What an application that is not held may make at any moment, whether its pods are there yet or not."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tidegate.model.jobs import JobError, JobKind, Kinds, Obj, builtin, inside, is_finished, is_suspended, podsets
from tidegate.workloads.names import FLAVOR, GRANTED


@dataclass(frozen=True, slots=True)
class LetGo:
    """So many pods of one set, of the flavor that was written into their template."""

    count: int
    flavor: str = ""


def let_go(entry: JobKind, obj: Obj, *, referred: Obj | None = None, kinds: Kinds | None = None) -> dict[str, LetGo]:
    """By pod set; nothing where it is held, has ended, or cannot be held at all."""
    if entry.suspend is None or is_suspended(entry, obj) or is_finished(entry, obj):
        return {}
    try:
        shapes = podsets(entry, obj, referred=referred, find=(kinds or builtin()).find)
    except JobError:
        return {}
    # Of kinds whose size cannot be written into them, pods beyond what was granted wait behind gates.
    granted = granted_to(obj)
    found: dict[str, LetGo] = {}
    for shape in shapes:
        marks = inside(obj, shape.place.annotations) if shape.place is not None else {}
        count = min(shape.count, granted.get(shape.name, shape.count))
        found[shape.name] = LetGo(count, str(marks.get(FLAVOR) or ""))
    return found


def granted_to(obj: Obj) -> dict[str, int]:
    """By pod set: with how many it was let go, as was noted on it; nothing while it is held."""
    try:
        noted = json.loads(inside(obj, ("metadata", "annotations")).get(GRANTED) or "{}")
        return {str(name): int(count) for name, count in noted.items()}
    except (ValueError, AttributeError, TypeError):
        return {}
