"""How many pods a Job should have now, and which: more, fewer, or these instead of those."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.local.controllers.job.backoff import Backoff, finished_at
from tidegate.local.controllers.job.objects import INDEX_FAILURES, INDEX_IGNORED, annotated_count, index_of
from tidegate.local.controllers.job.survey import Survey, failures_of
from tidegate.local.controllers.job.template import NewPod
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.ranking import least_missed_first

BATCH_MOST = 500
"""Pods created or deleted in one step, so that one large Job does not starve the others."""


@dataclass(frozen=True, slots=True)
class Sizing:
    create: list[NewPod] = field(default_factory=list)
    delete: list[Pod] = field(default_factory=list)
    drop: list[Pod] = field(default_factory=list)
    requeue_after_s: float | None = None


def size(seen: Survey, now: datetime, backoff: Backoff) -> Sizing:
    """Either deletions or creations; deletions go first."""
    active = len(seen.active)
    if seen.job.spec.suspend:
        return Sizing(drop=list(seen.active))
    wanted = _wanted(seen)
    if surplus := _surplus(seen, max(0, active - wanted), now):
        return Sizing(drop=surplus[:BATCH_MOST])
    going = len(seen.terminating) if seen.job.replaces_only_failed else 0
    missing = min(wanted - going - active, BATCH_MOST)
    if missing <= 0:
        return Sizing()
    if seen.job.per_index:
        return _create_by_index(seen, missing, now)
    if wait_s := backoff.remaining_s(now):
        return Sizing(requeue_after_s=wait_s)
    if seen.job.indexed:
        return Sizing(create=[NewPod(index) for index in _pending_indexes(seen)[:missing]])
    return Sizing(create=[NewPod()] * missing)


def _wanted(seen: Survey) -> int:
    spec = seen.job.spec
    if spec.completions is None:
        # After the first success the rest may finish, but nothing new is started.
        return len(seen.active) if seen.succeeded else spec.parallelism
    return max(0, min(spec.parallelism, spec.completions - seen.succeeded))


def _surplus(seen: Survey, at_least: int, now: datetime) -> list[Pod]:
    """Pods to drop: those whose index is doubled, done away with, or missing, then the least missed."""
    if not seen.job.indexed:
        return least_missed_first(seen.active, now)[:at_least] if at_least else []
    by_index: dict[int, list[Pod]] = defaultdict(list)
    misfits: list[Pod] = []
    for pod in seen.active:
        index = seen.valid_index(pod)
        (misfits if index is None else by_index[index]).append(pod)
    kept: list[Pod] = []
    for same in by_index.values():
        *doubles, last = least_missed_first(same, now)
        misfits += doubles
        kept.append(last)
    rest = max(0, at_least - len(misfits))
    return misfits + least_missed_first(kept, now)[:rest]


def _pending_indexes(seen: Survey) -> list[int]:
    """Indexes neither done, nor failed, nor at work, lowest first."""
    busy = [*seen.active, *(seen.terminating if seen.job.replaces_only_failed else ())]
    taken = seen.succeeded_indexes | seen.failed_indexes | {index_of(pod) for pod in busy}
    return [index for index in range(seen.job.spec.completions or 0) if index not in taken]


def _create_by_index(seen: Survey, missing: int, now: datetime) -> Sizing:
    """Each index backs off by itself; those that may start do so while others wait."""
    create: list[NewPod] = []
    waits: list[float] = []
    for index in _pending_indexes(seen):
        if len(create) == missing:
            break
        last = seen.awaited.get(index)
        wait_s = Backoff(failures_of(last) + 1, finished_at(last)).remaining_s(now) if last else 0.0
        if wait_s:
            waits.append(wait_s)
        else:
            create.append(_successor(seen, index, last))
    return Sizing(create=create, requeue_after_s=min(waits, default=None))


def _successor(seen: Survey, index: int, last: Pod | None) -> NewPod:
    """The pod after `last` of the same index, with its failures handed on."""
    if last is None:
        return NewPod(index, 0)
    counts = seen.failure(last).counts
    failures = annotated_count(last, INDEX_FAILURES) + counts
    return NewPod(index, failures, annotated_count(last, INDEX_IGNORED) + (not counts))
