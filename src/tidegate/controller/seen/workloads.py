"""A Workload, its application and its pods, as the scheduler sees it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce

from msgspec import structs

from tidegate.model.jobs import Outcome
from tidegate.model.kinds.shape import Condition, ConditionStatus
from tidegate.model.kinds.workload import PodSet, PodSetStatus, Workload
from tidegate.model.resources import Resources
from tidegate.scheduler import Instant
from tidegate.scheduler import PodSet as SeenPodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.scheduler.outcome import backoff_seconds
from tidegate.workloads import SUBMITTER, LetGo, PodFacts

ANY_FLAVOR = "default"
_NONE = LetGo(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the application itself says. `ended` is None where only its pods can tell."""

    ended: Mapping[str, int] | None = None
    outcome: Outcome | None = None
    priority: int | None = None
    """The value of its priority class."""
    missing_class: str = ""
    """A priority class that it or its pods name, where there is none."""
    classes: Sequence[str] = field(default=())
    """The priority classes that its pods name."""
    pods: Sequence[PodFacts] = field(default=())
    let_go: Mapping[str, LetGo] = field(default_factory=dict)
    """By pod set: what it may make at any moment. To count only pods that are there would be to give away the room of
    those that come a moment later."""
    active: Mapping[str, LetGo] = field(default_factory=dict)
    """By pod set: what whoever makes its pods says that there is. Until it has heard that fewer are asked for, it makes
    another for each that ended."""


def condition(workload: Workload, kind: str) -> Condition | None:
    """The condition of that type."""
    return next((each for each in workload.status.conditions if each.type == kind), None)


def holds(workload: Workload, kind: str) -> bool:
    """Whether a condition is True."""
    found = condition(workload, kind)
    return found is not None and found.status is ConditionStatus.TRUE


def instant(moment: datetime | None) -> Instant:
    """Whole seconds, as the scheduler counts."""
    return 0 if moment is None else int(moment.timestamp())


def seen_workload(workload: Workload, facts: Facts) -> SeenWorkload:
    """As the scheduler sees it. One that is finished or going asks for nothing; its pods count until they are gone."""
    over = is_over(workload, facts)
    admitted = condition(workload, "Admitted")
    is_admitted = holds(workload, "Admitted") and not over and not is_passing(workload, facts)
    namespace = workload.metadata.namespace
    user, groups = submitter(workload)
    requeue = workload.status.requeue
    return SeenWorkload(
        name=f"{namespace}/{workload.metadata.name}",
        queue=f"{namespace}/{workload.spec.queue}",
        created=instant(workload.metadata.creation_timestamp),
        pod_sets=(
            *(_pod_set(each, workload, facts, grants=is_admitted) for each in workload.spec.pod_sets),
            *_no_longer_asked_for(workload, facts.pods),
        ),
        priority=workload.spec.priority if facts.priority is None else facts.priority,
        missing_class=facts.missing_class,
        active=workload.spec.active and not over,
        user=user,
        groups=groups,
        max_run_seconds=workload.spec.max_run_seconds,
        admitted_at=instant(admitted.last_transition_time) if admitted is not None and is_admitted else None,
        waiting_since=_waiting_since(workload),
        evictions=requeue.count if requeue else 0,
        requeue_at=instant(requeue.at) if requeue and requeue.at else None,
    )


def being_let_go(seen: SeenWorkload, going: SeenWorkload) -> SeenWorkload:
    """With everything that its application is being let go with counted as if it were there; it does not run yet."""
    starts = {
        each.name: {flavor: count - each.held.get(flavor, 0) for flavor, count in each.granted.items()}
        for each in going.pod_sets
    }

    def with_starts(each: SeenPodSet) -> SeenPodSet:
        there, free = each.present, starts.get(each.name, {})
        most = {flavor: max(there.get(flavor, 0), free.get(flavor, 0)) for flavor in sorted({*there, *free})}
        more = {flavor: count - there.get(flavor, 0) + each.coming.get(flavor, 0) for flavor, count in most.items()}
        present, coming = ({flavor: count for flavor, count in some.items() if count} for some in (most, more))
        return structs.replace(each, present=present, coming=coming)

    return structs.replace(seen, pod_sets=tuple(map(with_starts, seen.pod_sets)))


def ends_by(workload: Workload) -> Instant | None:
    """When it has run as long as it may; None while it does not run, or where nothing says so."""
    admitted = condition(workload, "Admitted")
    seconds = workload.spec.max_run_seconds
    if seconds is None or admitted is None or admitted.status is not ConditionStatus.TRUE:
        return None
    return instant(admitted.last_transition_time) + seconds


def is_over(workload: Workload, facts: Facts) -> bool:
    """Whether it asks for nothing any more, for good."""
    gone = workload.metadata.deletion_timestamp is not None
    return gone or facts.outcome is not None or holds(workload, "Finished")


def is_passing(workload: Workload, facts: Facts) -> bool:
    """Whether it is called admitted and holds nothing of its floor. That is written on the way from one flavor to
    another, and comes to an end with the next write; whoever finds it so decides anew."""
    if not holds(workload, "Admitted") or any(each.granted for each in workload.status.pod_sets):
        return False
    return any(
        min(each.floor, each.desired) > _ended(each, workload, facts, _pods(each, workload, facts))
        for each in workload.spec.pod_sets
    )


def submitter(workload: Workload) -> tuple[str, tuple[str, ...]]:
    """Who submitted it, as the door noted; nobody where there was no door."""
    try:
        told = json.loads(workload.metadata.annotations.get(SUBMITTER, "{}"))
        return str(told.get("user", "")), tuple(map(str, told.get("groups", ())))
    except (ValueError, AttributeError, TypeError):
        return "", ()


def left_over(name: str, pods: Sequence[PodFacts]) -> SeenWorkload | None:
    """What takes room of a Workload that is gone, as its pods tell; None where nothing does."""
    present = [pod for pod in pods if pod.present and pod.queue]
    if not present:
        return None
    namespace = name.partition("/")[0]
    return SeenWorkload(
        name=name,
        queue=f"{namespace}/{present[0].queue}",
        created=0,
        active=False,
        pod_sets=_only_there(present),
    )


def _no_longer_asked_for(workload: Workload, pods: Iterable[PodFacts]) -> tuple[SeenPodSet, ...]:
    """Pod sets that were taken out of what is asked for, or called otherwise: their pods take room until they are
    gone."""
    asked = {"", *(each.name for each in workload.spec.pod_sets)}
    return _only_there([pod for pod in pods if pod.present and pod.pod_set not in asked])


def _only_there(present: Sequence[PodFacts]) -> tuple[SeenPodSet, ...]:
    """Pods that nobody asks for, by pod set."""
    sets = {pod.pod_set: pod for pod in present}
    return tuple(
        SeenPodSet(
            name=each,
            count=0,
            floor=0,
            requests=sets[each].requests,
            present=_present([pod for pod in present if pod.pod_set == each], ANY_FLAVOR),
        )
        for each in sorted(sets)
    )


def _waiting_since(workload: Workload) -> Instant | None:
    """When it was evicted last: the back-off that followed tells, even after it was admitted again."""
    requeue = workload.status.requeue
    if requeue is None or requeue.at is None or not requeue.count:
        return None
    return instant(requeue.at) - backoff_seconds(requeue.count - 1)


def _pod_set(pod_set: PodSet, workload: Workload, facts: Facts, *, grants: bool) -> SeenPodSet:
    status = next((each for each in workload.status.pod_sets if each.name == pod_set.name), None)
    pods = _pods(pod_set, workload, facts)
    ended = _ended(pod_set, workload, facts, pods)
    wanted = max(0, pod_set.desired - ended)
    granted = _at_most(_granted(status), wanted) if grants else {}
    held = {flavor: min(count, granted.get(flavor, 0)) for flavor, count in (status.held if status else {}).items()}
    there = _present(pods, next(iter(granted), ANY_FLAVOR))
    coming = _coming(pods, facts.let_go.get(pod_set.name, _NONE), facts.active.get(pod_set.name, _NONE), wanted)
    return SeenPodSet(
        name=pod_set.name,
        count=pod_set.desired,
        floor=pod_set.floor,
        step=pod_set.step,
        requests=_most(pod_set, pods),
        node_selector=pod_set.node_selector,
        mixes=pod_set.mixes,
        granted=granted,
        held={flavor: count for flavor, count in held.items() if count} if grants else {},
        present=dict(sorted((Counter(there) + Counter(coming)).items())) if coming else there,
        coming=coming,
        ended=ended,
    )


def _pods(pod_set: PodSet, workload: Workload, facts: Facts) -> list[PodFacts]:
    """Those of one pod set; one that was not marked is of the first."""
    first = workload.spec.pod_sets[0].name
    return [pod for pod in facts.pods if (pod.pod_set or first) == pod_set.name]


def _ended(pod_set: PodSet, workload: Workload, facts: Facts, pods: Iterable[PodFacts]) -> int:
    """Pods that ended well, as the application tells. Where only pods can tell, those that were counted once stay
    counted, though they may be gone by now."""
    if facts.ended is not None:
        return min(facts.ended.get(pod_set.name, 0), pod_set.desired)
    before = next((each.count for each in workload.status.reclaimed_pod_set_pods if each.name == pod_set.name), 0)
    return min(max(before, sum(pod.succeeded for pod in pods)), pod_set.desired)


def _most(pod_set: PodSet, pods: Iterable[PodFacts]) -> Resources:
    """What a pod of the set takes at most: some may have been made when it asked for more."""
    return reduce(Resources.upper, (pod.granted for pod in pods if pod.present and pod.granted), pod_set.requests)


def _granted(status: PodSetStatus | None) -> dict[str, int]:
    if status is None or not status.granted:
        return {}
    return {flavor: count for flavor, count in status.flavors.items() if count} or {ANY_FLAVOR: status.granted}


def _at_most(granted: Mapping[str, int], wanted: int) -> dict[str, int]:
    """Places of pods that ended and have no successor are given back, from the flavor that has most."""
    left = dict(granted)
    while sum(left.values()) > wanted:
        flavor = max(sorted(left), key=lambda each: left[each])
        left[flavor] = max(0, left[flavor] - (sum(left.values()) - wanted))
    return {flavor: count for flavor, count in sorted(left.items()) if count}


def _coming(pods: Iterable[PodFacts], may: LetGo, said: LetGo, wanted: int) -> dict[str, int]:
    """Pods that were let go and are not there yet; they count as if they were. One that goes is no longer one of them:
    its application may have made another before it is gone. Nor need it be asked for any more: it comes all the same
    where whoever makes it has not heard of that."""
    there = [pod for pod in pods if pod.present]
    missing = max(min(may.count, wanted) - sum(not pod.going for pod in there), said.count - len(there))
    return {may.flavor or said.flavor or ANY_FLAVOR: missing} if missing > 0 else {}


def _present(pods: Iterable[PodFacts], flavor: str) -> dict[str, int]:
    return dict(sorted(Counter(pod.flavor or flavor for pod in pods if pod.present).items()))
