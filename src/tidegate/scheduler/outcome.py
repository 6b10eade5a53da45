"""The end of a cycle: from what the draft holds now, and held before, to the Plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Cause, Eviction, Grant, Plan, PodCounts, Shrink, Start
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.snapshot import NO_ENTRIES, Instant, PodSet, Workload

_MOST_BACKOFF_S = 600


def decisions(draft: Draft) -> Plan:
    """The plan of a draft. A workload that both got and lost pods of a kind is told only the difference."""
    causes = _causes(draft)
    grants, shrinks, evictions, starts = [], [], [], []
    for name in sorted(draft.touched):
        holding = draft.touched[name]
        was_admitted = holding.workload.admitted_at is not None
        if not was_admitted:
            if holding.admitted:  # Otherwise what it got, somebody else got in the end.
                held = _counts(holding, holding.held) if holding.waits_to_start else NO_ENTRIES
                grants.append(Grant(workload=name, admits=True, pods=_counts(holding, holding.granted), held=held))
            continue
        more, less = _difference(holding)
        if was_admitted and not holding.admitted:
            at = draft.now + backoff_seconds(holding.workload.evictions)
            evictions.append(Eviction(workload=name, pods=less, causes=causes[name], requeue_at=at))
            continue
        if more:
            held = _counts(holding, map(_only_new, holding.workload.pod_sets, holding.held))
            grants.append(Grant(workload=name, admits=False, pods=more, held=held))
        if less:
            shrinks.append(Shrink(workload=name, pods=less, causes=causes[name]))
        if any(one.held for one in holding.workload.pod_sets) and (started := _started(holding)):
            starts.append(Start(workload=name, pods=started))
    return Plan(grants=tuple(grants), shrinks=tuple(shrinks), evictions=tuple(evictions), starts=tuple(starts))


def carried_out(holding: Holding, now: Instant) -> Workload:
    """A workload as it is once what the plan says of it is done; its pods are still where they were."""
    workload = holding.workload
    if not holding.admitted and workload.admitted_at is None:
        return workload
    pod_sets = tuple(map(_granted, workload.pod_sets, holding.granted, holding.held))
    if holding.admitted:
        at = now if workload.admitted_at is None else workload.admitted_at
        return replace(workload, pod_sets=pod_sets, admitted_at=at)
    return replace(
        workload,
        pod_sets=pod_sets,
        admitted_at=None,
        waiting_since=now,
        evictions=workload.evictions + 1,
        requeue_at=now + backoff_seconds(workload.evictions),
    )


def _granted(pod_set: PodSet, granted: Mapping[str, int], held: Mapping[str, int]) -> PodSet:
    return replace(pod_set, granted=_positive(granted), held=_positive(held))


def _positive(counts: Mapping[str, int]) -> Mapping[str, int]:
    if not counts:
        return NO_ENTRIES
    return {flavor: count for flavor, count in sorted(counts.items()) if count} or NO_ENTRIES


def backoff_seconds(evictions: int) -> int:
    """How long a workload does not ask after it was evicted: doubling with every time, from a second to ten minutes."""
    return min(_MOST_BACKOFF_S, 1 << min(evictions, 10))


def _causes(draft: Draft) -> dict[str, tuple[Cause, ...]]:
    """Who needed what was taken, and by which rule, per workload."""
    pods: dict[str, dict[tuple[str, str | None], Cause]] = defaultdict(dict)
    for taken in draft.taken:
        if taken.needed_by == taken.holding.workload.name:
            continue  # It took its own again.
        by_cause = pods[taken.holding.workload.name]
        key = (taken.rule, taken.needed_by)
        before = by_cause[key].pods if key in by_cause else 0
        count = before + sum(some.count for some in taken.pods)
        by_cause[key] = Cause(rule=taken.rule, needed_by=taken.needed_by, pods=count)
    result: dict[str, tuple[Cause, ...]] = defaultdict(tuple)
    result.update({name: tuple(by_cause.values()) for name, by_cause in pods.items()})
    return result


def _difference(holding: Holding) -> tuple[PodCounts, PodCounts]:
    """Pods gained and pods lost."""
    more: dict[str, dict[str, int]] = {}
    less: dict[str, dict[str, int]] = {}
    for pod_set, after in zip(holding.workload.pod_sets, holding.granted, strict=True):
        before = pod_set.granted
        for flavor in sorted({*after, *before}):
            change = after.get(flavor, 0) - before.get(flavor, 0)
            if change:
                (more if change > 0 else less).setdefault(pod_set.name, {})[flavor] = abs(change)
    return more, less


def _only_new(pod_set: PodSet, held: Mapping[str, int]) -> dict[str, int]:
    """Held pods that were not held, or not granted, before."""
    return {flavor: count - pod_set.held.get(flavor, 0) for flavor, count in held.items() if count}


def _started(holding: Holding) -> PodCounts:
    """Pods that were held and may start: neither held nor taken any more."""
    freed = []
    for pod_set, held, granted in zip(holding.workload.pod_sets, holding.held, holding.granted, strict=True):
        counts = {}
        for flavor, before in pod_set.held.items():
            lost = max(0, pod_set.granted.get(flavor, 0) - granted.get(flavor, 0))
            counts[flavor] = before - held.get(flavor, 0) - lost
        freed.append(counts)
    return _counts(holding, freed)


def _counts(holding: Holding, counts: Iterable[dict[str, int]]) -> PodCounts:
    """By name of pod set, without what is 0."""
    named = {}
    for pod_set, by_flavor in zip(holding.workload.pod_sets, counts, strict=True):
        if positive := {flavor: count for flavor, count in by_flavor.items() if count > 0}:
            named[pod_set.name] = positive
    return named
