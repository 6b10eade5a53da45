"""The end of a cycle: from what the draft holds now, and held before, to the Plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler.amounts import Cells, add, flavored, of_pods
from tidegate.scheduler.draft import Draft
from tidegate.scheduler.fairness import share
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.plan import Cause, Eviction, Grant, Plan, PodCounts, Shrink, Standing, Start, Waiting
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Instant
from tidegate.scheduler.tree import TreeNode

_MOST_BACKOFF_S = 600
Reasons = dict[tuple[str, str | None], Waiting]


def outcome(draft: Draft, policies: Policies, waiting: Reasons, wake_at: list[Instant]) -> Plan:
    """The plan of a draft. A workload that both got and lost pods of a kind is told only the difference."""
    causes = _causes(draft)
    grants, shrinks, evictions, starts = [], [], [], []
    for name in sorted(draft.holdings):
        holding = draft.holdings[name]
        more, less = _difference(holding, 1), _difference(holding, -1)
        was_admitted = holding.workload.admitted_at is not None
        if was_admitted and not holding.admitted:
            at = draft.now + backoff_seconds(holding.workload.evictions)
            evictions.append(Eviction(workload=name, pods=less, causes=causes[name], requeue_at=at))
            if (name, None) not in waiting:
                waiting[name, None] = Waiting(workload=name, pod_set=None, reason=WaitingReason.BACKOFF, until=at)
                wake_at.append(at)
            continue
        if more or holding.admitted > was_admitted:
            held = _counts(holding, [_only_new(holding, index) for index in range(len(holding.held))])
            grants.append(Grant(workload=name, admits=not was_admitted, pods=more, held=held))
        if less:
            shrinks.append(Shrink(workload=name, pods=less, causes=causes[name]))
        if started := _started(holding):
            starts.append(Start(workload=name, pods=started))
        if any(any(held.values()) for held in holding.held):
            reason = WaitingReason.WAITING_FOR_PREEMPTED
            waiting[name, None] = Waiting(workload=name, pod_set=None, reason=reason)
    return Plan(
        grants=tuple(grants),
        shrinks=tuple(shrinks),
        evictions=tuple(evictions),
        starts=tuple(starts),
        waiting=tuple(waiting[key] for key in sorted(waiting, key=lambda key: (key[0], key[1] or ""))),
        standings=_standings(draft),
        unknown_policies=tuple(
            sorted(name for name, node in draft.tree.nodes.items() if node.spec and node.spec.policy not in policies)
        ),
        wake_at=min((at for at in wake_at if at > draft.now), default=None),
    )


def backoff_seconds(evictions: int) -> int:
    """How long a workload does not ask after it was evicted: doubling with every time, from a second to ten minutes."""
    return min(_MOST_BACKOFF_S, 1 << min(evictions, 10))


def _causes(draft: Draft) -> dict[str, tuple[Cause, ...]]:
    """Who needed what was taken, and by which rule, per workload."""
    pods: dict[str, dict[tuple[str, str | None], Cause]] = defaultdict(dict)
    for taken in draft.taken:
        by_cause = pods[taken.holding.workload.name]
        key = (taken.rule, taken.needed_by)
        before = by_cause[key].pods if key in by_cause else 0
        count = before + sum(some.count for some in taken.pods)
        by_cause[key] = Cause(rule=taken.rule, needed_by=taken.needed_by, pods=count)
    result: dict[str, tuple[Cause, ...]] = defaultdict(tuple)
    result.update({name: tuple(by_cause.values()) for name, by_cause in pods.items()})
    return result


def _difference(holding: Holding, sign: int) -> PodCounts:
    """Pods gained (1) or lost (-1)."""
    changes = []
    for pod_set, after in zip(holding.workload.pod_sets, holding.granted, strict=True):
        flavors = sorted({*after, *pod_set.granted})
        by_flavor = {flavor: sign * (after.get(flavor, 0) - pod_set.granted.get(flavor, 0)) for flavor in flavors}
        changes.append({flavor: count for flavor, count in by_flavor.items() if count > 0})
    return _counts(holding, changes)


def _only_new(holding: Holding, index: int) -> dict[str, int]:
    """Held pods that were not held, or not granted, before."""
    before = holding.workload.pod_sets[index].held
    return {flavor: count - before.get(flavor, 0) for flavor, count in holding.held[index].items()}


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
    named = zip(holding.workload.pod_sets, counts, strict=True)
    positive = {pod_set.name: {flavor: n for flavor, n in by.items() if n > 0} for pod_set, by in named}
    return {name: by_flavor for name, by_flavor in positive.items() if by_flavor}


def _standings(draft: Draft) -> dict[str, Standing]:
    used: dict[str, Cells] = defaultdict(dict)
    pending: dict[str, int] = defaultdict(int)
    admitted: dict[str, int] = defaultdict(int)
    for holding in draft.holdings.values():
        if holding.queue is None:
            continue
        amounts = _present(holding)
        for node in holding.queue.path:
            add(used[node.name], amounts)
            admitted[node.name] += holding.admitted
            pending[node.name] += not holding.admitted and holding.workload.active
    granted = draft.ledger.granted
    return {
        name: Standing(
            deserved=flavored(draft.deserved.of(node)),
            allocated=flavored(granted[name]),
            used=flavored(used[name]),
            share=share(node, granted[name]),
            pending=pending[name],
            admitted=admitted[name],
            short_of_guarantees=flavored(_short_of_guarantees(node)),
        )
        for name, node in sorted(draft.tree.nodes.items())
    }


def _present(holding: Holding) -> Cells:
    total: Cells = {}
    for pod_set in holding.workload.pod_sets:
        for flavor, count in pod_set.present.items():
            add(total, of_pods(flavor, pod_set.requests, count))
    return total


def _short_of_guarantees(node: TreeNode) -> Cells:
    """By how much the guarantees of the children exceed what the node has; at a root, its capacity."""
    total: Cells = {}
    for child in node.children:
        add(total, child.guarantee)
    there = node.capacity if node.parent is None else node.guarantee
    return {cell: amount - there.get(cell, 0) for cell, amount in total.items() if amount > there.get(cell, 0)}
