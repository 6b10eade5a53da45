"""An application that runs and was changed by somebody: it stays within what was granted until more is.

What is wanted is remembered with it like everything that was written into it, so that no wish is lost: it is what the
application asks for from then on, and what it becomes once that is granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.model.jobs import JobKind, Kinds, Obj, PodSetShape, builtin, peek, podsets, put, with_suspend
from tidegate.workloads.changes import Draft, restored
from tidegate.workloads.let_go import granted_to, written_into
from tidegate.workloads.names import GRANTED, POD_SET, QUEUE, WORKLOAD
from tidegate.workloads.start import behind_gate, make_room

_ANNOTATIONS = ("metadata", "annotations")


@dataclass(frozen=True, slots=True)
class Growth:
    """A pod set that wants more pods than it may have now."""

    shape: PodSetShape
    allowed: int


def growing(entry: JobKind, before: Obj, obj: Obj, *, kinds: Kinds | None = None) -> Iterator[Growth]:
    """The pod sets that would be larger than what was granted to the application as it was before."""
    find = (kinds or builtin()).find
    granted = granted_to(obj)
    # With all it could use, what ended is still counted in what was noted; who raises its size may not use that again.
    had = {shape.name: shape.count - shape.reclaimed for shape in podsets(entry, restored(before), find=find)}
    for shape in podsets(entry, restored(obj), find=find):
        allowed = max(0, min(granted.get(shape.name, 0), had.get(shape.name, 0)))
        if shape.count > granted.get(shape.name, 0):
            yield Growth(shape, allowed)


def within_grant(entry: JobKind, before: Obj, obj: Obj, *, kinds: Kinds | None = None) -> tuple[Obj, list[Growth]]:
    """The application as it may be now, and where it wants to be larger. Where its size can be written into it, it is
    what was granted; else its pods are made behind a gate from now on."""
    found = list(growing(entry, before, obj, kinds=kinds))
    if not found:
        return obj, []
    draft, queue = Draft.resumed(obj), _queue(entry, obj, kinds)
    for growth in found:
        if growth.shape.resize is not None:
            draft.rewrite(growth.shape.resize, growth.allowed)
        elif growth.shape.place is not None:
            _gate_new_pods(draft, growth.shape, queue)
    return draft.remember({}), found


def held_as_it_is(entry: JobKind, obj: Obj) -> Obj:
    """Held, and nothing granted any more; what was written into it stays until its pods are gone. Whoever lets it go
    again must have been granted something first."""
    held = with_suspend(entry, obj, True)
    if not (peek(held, _ANNOTATIONS) or {}).get(GRANTED):
        return held
    noted: Obj = put(held, (*_ANNOTATIONS, GRANTED), "{}")
    return noted


def holds(obj: Obj) -> bool:
    """Whether it is written so as Tidegate writes one that it holds: with nothing granted any more."""
    return bool((peek(obj, _ANNOTATIONS) or {}).get(GRANTED) == "{}")


def _queue(entry: JobKind, obj: Obj, kinds: Kinds | None) -> str:
    """The Queue whose quota the pods of what runs use."""
    told = written_into(entry, obj, kinds=kinds).values()
    return next((each.queue for each in told if each.queue), "")


def _gate_new_pods(draft: Draft, shape: PodSetShape, queue: str) -> None:
    """What is new is marked as what was let go with the rest, so that nothing of that need be changed later."""
    assert shape.place is not None
    make_room(draft, shape)
    at = shape.place.for_grant.annotations
    marks = peek(draft.obj, at) or {}
    if WORKLOAD not in marks:
        workload = (peek(draft.obj, _ANNOTATIONS) or {}).get(WORKLOAD, "")
        more = {POD_SET: shape.name, WORKLOAD: workload} | ({QUEUE: queue} if queue else {})
        draft.merge(at, more)
        marks = {**marks, **more}
    left = behind_gate(draft, shape, marks)
    if left != marks:
        draft.obj = put(draft.obj, at, left)
