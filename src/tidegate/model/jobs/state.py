"""What an object says of itself: held or not, over or not, which pods are its own, and how urgent it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tidegate.model.jobs.entry import JobKind
from tidegate.model.jobs.language.edit import put, without
from tidegate.model.jobs.language.paths import JobError, Obj, Scope, fill

_MOST_SECONDS = 2**31 - 1


class Outcome(StrEnum):
    """How an object ended."""

    SUCCEEDED = "Succeeded"
    """Well."""
    FAILED = "Failed"
    """Not well, and it will not be tried again."""


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A gang that single pods say they belong to."""

    name: str
    size: int


def is_suspended(entry: JobKind, obj: Obj) -> bool:
    """Whether its own field holds it back; never true of a kind that has none."""
    return entry.suspend is not None and entry.suspend.value(Scope(obj)) is True


def is_at_rest(entry: JobKind, obj: Obj) -> bool:
    """Whether it is held, and whoever makes its pods has heard of that: what they are like may be changed."""
    scope = Scope(obj)
    return is_suspended(entry, obj) and (not entry.rests or any(check.holds(scope) for check in entry.rests))


def never_started(entry: JobKind, obj: Obj) -> Obj:
    """The object, no longer saying since when it runs; itself where it does not."""
    if entry.started is None or entry.started.value(Scope(obj)) is None:
        return obj
    cleared: Obj = without(obj, entry.started.place(Scope(obj)))
    return cleared


def with_suspend(entry: JobKind, obj: Obj, suspended: bool) -> Obj:
    """A new object, held or let go; JobError for a kind that cannot be held by a field."""
    if entry.suspend is None:
        raise JobError((), f"a {entry.kind} cannot be suspended; hold its pods with a scheduling gate instead")
    held: Obj = put(obj, entry.suspend.place(Scope(obj)), suspended)
    return held


def outcome(entry: JobKind, obj: Obj) -> Outcome | None:
    """How it ended; None while it may still run."""
    scope = Scope(obj)
    if any(check.holds(scope) for check in entry.outcome.succeeded):
        return Outcome.SUCCEEDED
    return Outcome.FAILED if any(check.holds(scope) for check in entry.outcome.failed) else None


def is_finished(entry: JobKind, obj: Obj) -> bool:
    """Whether nothing of it will run any more."""
    return outcome(entry, obj) is not None


def refusal(entry: JobKind, obj: Obj) -> JobError | None:
    """Why it cannot be queued although its kind can; None where nothing is in the way."""
    scope = Scope(obj)
    found = next((each for each in entry.refuses if each.when.holds(scope)), None)
    return None if found is None else JobError(tuple(found.field.split(".")), found.because)


def is_gated(entry: JobKind) -> bool:
    """Whether its pods are held by scheduling gates, because no field of its own holds it."""
    return entry.suspend is None and entry.makes is None and (entry.group, entry.kind) != ("", "Pod")


def children(entry: JobKind, obj: Obj) -> dict[str, str]:
    """Labels all its pods have; empty where they are known by their owner alone, or not yet."""
    selector = {key: fill(value, Scope(obj)) for key, value in entry.children.items()}
    return selector if all(selector.values()) else {}


def queue_name(entry: JobKind, obj: Obj) -> str:
    """The Queue it names in a field of its own; empty where it has none or names none."""
    return str((entry.queue.value(Scope(obj)) if entry.queue else None) or "")


def priority_class(entry: JobKind, obj: Obj) -> str:
    """The priority class it names outside its pods; empty where it names none."""
    named = (path.value(Scope(obj)) for path in entry.priority)
    return str(next(filter(None, named), ""))


def max_run_seconds(entry: JobKind, obj: Obj) -> int | None:
    """How long it runs at most, if it says so; no longer than a Workload can say, which is 68 years."""
    value = entry.max_run_seconds.value(Scope(obj)) if entry.max_run_seconds else None
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return None
    return min(value, _MOST_SECONDS)


def pod_group(entry: JobKind, obj: Obj) -> PodGroup | None:
    """The gang it belongs to, if it says so; JobError where its size is not a number."""
    if entry.gang is None:
        return None
    scope = Scope(obj)
    name = next(filter(None, (path.value(scope) for path in entry.gang.name)), None)
    if name is None:
        return None
    size = next((found for path in entry.gang.size if (found := path.first(scope)) is not None), None)
    text = "" if size is None else str(size.value)
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**31:
        at = size.path if size else ("metadata", "annotations", "tidegate.dev/pod-group-size")
        raise JobError(at, f'"{text}" is not the size of a pod group; write how many pods it has, e.g. "3"')
    return PodGroup(str(name), int(text))
