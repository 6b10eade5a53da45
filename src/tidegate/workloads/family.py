"""Who belongs to whom: what an application made is a part of it, and not queued again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidegate.model.jobs import JobError, JobKind, Kinds, Obj, inside, merge, peek, templates
from tidegate.workloads.names import PRIORITY_CLASS, QUEUE, WORKLOAD, workload_name


def is_part(entry: JobKind, obj: Obj, kinds: Kinds) -> bool:
    """Whether a controller made it for something that is queued as a whole: its owner is of a queued kind, or its pods
    are marked as another's. Makers such as CronJobs are not queued, so what they make is."""
    owners: Iterable[Mapping[str, Any]] = inside(obj, ("metadata",)).get("ownerReferences") or ()
    for owner in owners:
        if owner.get("controller"):
            above = kinds.find({"apiVersion": owner.get("apiVersion"), "kind": owner.get("kind")})
            return above.makes is None if above is not None else _is_marked_for_another(entry, obj, kinds)
    return False


def owners_named(obj: Obj, kinds: Kinds) -> Iterator[tuple[JobKind, Mapping[str, Any]]]:
    """The owners of kinds that are queued, as an object names them. One of a kind that nobody queues does not count:
    what such a one makes is queued pod by pod, or everybody could run beside the queue by naming an owner."""
    owners: Iterable[Mapping[str, Any]] = inside(obj, ("metadata",)).get("ownerReferences") or ()
    for owner in owners:
        entry = kinds.find({"apiVersion": owner.get("apiVersion"), "kind": owner.get("kind")})
        if entry is not None:
            yield entry, owner


def maker_of(obj: Obj, kinds: Kinds) -> tuple[JobKind, str] | None:
    """The kind and name of what made it again and again, on whose labels it can rely."""
    for owner in inside(obj, ("metadata",)).get("ownerReferences") or ():
        above = kinds.find({"apiVersion": owner.get("apiVersion"), "kind": owner.get("kind")})
        if owner.get("controller") and above is not None and above.makes is not None:
            return above, str(owner.get("name"))
    return None


def inheriting(obj: Obj, maker: Obj) -> Obj:
    """With the Queue and the priority class that its maker names, where it names none itself."""
    own, above = inside(obj, ("metadata", "labels")), inside(maker, ("metadata", "labels"))
    labels = {key: above[key] for key in (QUEUE, PRIORITY_CLASS) if key in above and key not in own}
    result: Obj = merge(obj, ("metadata", "labels"), labels)
    return result


def _is_marked_for_another(entry: JobKind, obj: Obj, kinds: Kinds) -> bool:
    own = workload_name(kinds.prefix(entry), str(inside(obj, ("metadata",)).get("name")))
    try:
        places = templates(entry, obj, kinds)
    except JobError:
        return False
    marks = ((peek(obj, place.annotations) or {}).get(WORKLOAD) for place in places)
    return any(mark and mark != own for mark in marks)
