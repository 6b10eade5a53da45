"""The status of a Workload, from what the scheduler sees of it and what happened to it in this cycle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from msgspec import structs

from tidegate.controller.seen.workloads import condition, ends_by
from tidegate.model.jobs import Outcome
from tidegate.model.kinds.shape import Condition, ConditionStatus
from tidegate.model.kinds.workload import (
    PodSetStatus,
    ReclaimedPods,
    Requeue,
    State,
    Waiting,
    WaitingReason,
    Workload,
    WorkloadStatus,
)
from tidegate.scheduler import Cause, Eviction, Instant, Rule, Shrink, message
from tidegate.scheduler import Waiting as SeenWaiting
from tidegate.scheduler import Workload as SeenWorkload

OWN_WISH = frozenset({Rule.NOT_WANTED, Rule.INACTIVE})
"""What is given back because the application's owner said so. Nobody was shrunk or evicted then."""


_FRONT = 10
"""How far from the front of its line a Workload is told of every change of its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What a cycle brought to one Workload."""

    shrink: Shrink | None = None
    eviction: Eviction | None = None
    waiting: tuple[SeenWaiting, ...] | None = None
    """Why it waits; None where this cycle did not say, so that what is known stays."""
    outcome: Outcome | None = None

    @property
    def ahead(self) -> int:
        """How many come before it in its line."""
        return self.waiting[0].ahead if self.waiting else 0


def moment(at: Instant) -> datetime:
    """As people and the API read it."""
    return datetime.fromtimestamp(at, UTC)


def wished(causes: tuple[Cause, ...]) -> bool:
    """Whether it was its own wish to have less."""
    return bool(causes) and all(cause.rule in OWN_WISH for cause in causes)


def because(causes: Iterable[Cause]) -> str:
    """The causes in words: "2 pods by FairShare for b/etl"."""
    told = (
        f"{cause.pods} pod{'s' * (cause.pods != 1)} by {cause.rule}"
        + (f" for {cause.needed_by}" if cause.needed_by else "")
        for cause in causes
    )
    return ", ".join(told)


def status_of(workload: Workload, seen: SeenWorkload, news: News, now: Instant) -> WorkloadStatus:
    """What is to stand in its status once this cycle's decisions are taken for done."""
    before = workload.status
    finished = news.outcome is not None or _is(workload, "Finished")
    if finished:
        # The planner may not have heard of that yet: in its eyes it holds what it was granted.
        none = tuple(structs.replace(each, granted={}, held={}) for each in seen.pod_sets)
        seen = structs.replace(seen, admitted_at=None, pod_sets=none)
    return WorkloadStatus(
        state=_state(workload, seen, finished),
        pod_sets=tuple(
            PodSetStatus(
                name=each.name,
                granted=sum(each.granted.values()),
                flavors=dict(each.granted),
                held=dict(each.held),
                running=sum(each.present.values()) - sum(each.coming.values()),
            )
            for each in seen.pod_sets
        ),
        reclaimed_pod_set_pods=tuple(
            ReclaimedPods(name=each.name, count=each.ended) for each in seen.pod_sets if each.ended
        ),
        conditions=tuple(_conditions(workload, seen, news, now)),
        waiting=None if finished else _waiting(before.waiting, seen, news),
        requeue=_requeue(seen),
    )


def differs_in_counts(before: WorkloadStatus, after: WorkloadStatus) -> bool:
    """Whether pods came or went, and nothing else is new: of a thousand that start, nobody need hear one by one."""
    if before == after or [each.name for each in before.pod_sets] != [each.name for each in after.pod_sets]:
        return False
    pairs = zip(before.pod_sets, after.pod_sets, strict=True)
    counted = tuple(structs.replace(old, running=new.running) for old, new in pairs)
    return structs.replace(before, pod_sets=counted) == after


def _state(workload: Workload, seen: SeenWorkload, finished: bool) -> State:
    if finished:
        return State.FINISHED
    if not workload.spec.active:
        return State.INACTIVE
    if seen.admitted_at is not None:
        return State.ADMITTED
    return State.EVICTED if seen.evictions else State.PENDING


def _requeue(seen: SeenWorkload) -> Requeue | None:
    if not seen.evictions:
        return None
    return Requeue(count=seen.evictions, at=None if seen.requeue_at is None else moment(seen.requeue_at))


def _waiting(before: Waiting | None, seen: SeenWorkload, news: News) -> Waiting | None:
    if news.waiting is None:
        return None if news.eviction is None and seen.admitted_at is not None and _has_all(seen) else before
    if not news.waiting:
        return None
    first = news.waiting[0]
    until = first.until if first.reason is WaitingReason.BACKOFF else None
    made = Waiting(
        reason=first.reason,
        message=_words(first, seen),
        short_by=first.short_by,
        ahead=first.ahead,
        eta=None if until is None else moment(until),
    )
    return before if before is not None and _is_as_good(before, made) else made


def _words(waiting: SeenWaiting, seen: SeenWorkload) -> str:
    if waiting.reason is WaitingReason.NO_QUEUE:
        name = seen.queue.partition("/")[2]
        return f"the Queue {name}, or the ClusterQueue behind it, does not exist; create it or name another"
    return message(waiting)


def _is_as_good(before: Waiting, made: Waiting) -> bool:
    """Far back in line a change of place alone is not worth a write: everybody's changes whenever one is served."""
    same = before.reason is made.reason and before.short_by == made.short_by
    return same and min(before.ahead, made.ahead) > _FRONT


def told_already(said: Mapping[str, Any], waiting: SeenWaiting) -> bool:
    """Whether a status as the API has it tells this reason, as near as matters that far back in line."""
    same_place = said.get("ahead") == waiting.ahead or min(said.get("ahead") or 0, waiting.ahead) > _FRONT
    return said.get("reason") == waiting.reason and same_place and said.get("shortBy") == waiting.short_by.wire()


def _has_all(seen: SeenWorkload) -> bool:
    return all(sum(each.granted.values()) >= each.wanted and not each.held for each in seen.pod_sets)


def _conditions(workload: Workload, seen: SeenWorkload, news: News, now: Instant) -> Iterable[Condition]:
    generation = workload.metadata.generation
    for made in (
        _admitted(workload, seen, news, now),
        _evicted(workload, seen, news, now),
        _shrunk(workload, seen, news, now),
        _finished(workload, news, now),
    ):
        if made is not None:
            yield Condition(
                type=made.type,
                status=made.status,
                reason=made.reason,
                message=made.message,
                last_transition_time=made.last_transition_time,
                observed_generation=generation,
            )


def _admitted(workload: Workload, seen: SeenWorkload, news: News, now: Instant) -> Condition | None:
    before = condition(workload, "Admitted")
    if seen.admitted_at is not None:
        granted = ", ".join(f"{each.name} {sum(each.granted.values())} of {each.wanted}" for each in seen.pod_sets)
        return _made("Admitted", True, "Granted", f"granted {granted}", since=seen.admitted_at, before=before)
    if before is None:
        return None
    if news.outcome is not None or _is(workload, "Finished"):
        return _made("Admitted", False, "Finished", "it has finished", since=now, before=before)
    reason = str(news.eviction.causes[0].rule) if news.eviction and news.eviction.causes else "Evicted"
    return _made(
        "Admitted",
        False,
        reason if before.status is ConditionStatus.TRUE else before.reason,
        "",
        since=now,
        before=before,
    )


def _evicted(workload: Workload, seen: SeenWorkload, news: News, now: Instant) -> Condition | None:
    before = condition(workload, "Evicted")
    if news.eviction is not None:
        causes = news.eviction.causes
        if wished(causes):
            return before
        return _made(
            "Evicted", True, str(causes[0].rule) if causes else "Evicted", because(causes), since=now, before=before
        )
    if before is not None and seen.admitted_at is not None:
        return _made("Evicted", False, "AdmittedAgain", "it was admitted again", since=now, before=before)
    return before


def _shrunk(workload: Workload, seen: SeenWorkload, news: News, now: Instant) -> Condition | None:
    before = condition(workload, "Shrunk")
    if news.shrink is not None and not wished(news.shrink.causes):
        causes = news.shrink.causes
        return _made(
            "Shrunk", True, str(causes[0].rule) if causes else "Shrunk", because(causes), since=now, before=before
        )
    if before is not None and before.status is ConditionStatus.TRUE and _has_all(seen):
        return _made("Shrunk", False, "HasAll", "it has all it wants", since=now, before=before)
    return before


def _finished(workload: Workload, news: News, now: Instant) -> Condition | None:
    before = condition(workload, "Finished")
    if news.outcome is None:
        return before
    how = "its pods ended well" if news.outcome is Outcome.SUCCEEDED else "it failed and is not tried again"
    at = ends_by(workload)
    if news.outcome is Outcome.FAILED and at is not None and at <= now:
        how = f"it ran for {workload.spec.max_run_seconds} s, as long as its maxRunSeconds allows"
    return _made("Finished", True, str(news.outcome), how, since=now, before=before)


def _made(kind: str, holds: bool, reason: str, text: str, *, since: Instant, before: Condition | None) -> Condition:
    status = ConditionStatus.TRUE if holds else ConditionStatus.FALSE
    at = moment(since) if before is None or before.status is not status else before.last_transition_time
    return Condition(type=kind, status=status, reason=reason, message=text, last_transition_time=at)


def _is(workload: Workload, kind: str) -> bool:
    found = condition(workload, kind)
    return found is not None and found.status is ConditionStatus.TRUE
