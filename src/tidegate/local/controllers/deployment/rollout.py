"""How many replicas each ReplicaSet of a Deployment gets next.

At no step are there more pods than replicas + maxSurge, nor fewer available ones than replicas − maxUnavailable, as far
as that is the rollout's doing. A ReplicaSet's `availableReplicas` may be late: pods it is to give up do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.local.controllers.deployment.objects import Deployment
from tidegate.local.controllers.deployment.revisions import DESIRED, MOST, count_annotation
from tidegate.local.controllers.replicas.objects import ReplicaSet

Sizes = dict[str, int]
"""Replicas by the name of the ReplicaSet; those not named stay as they are."""


def available(each: ReplicaSet) -> int:
    return min(each.status.available_replicas, each.spec.replicas)


def first_size(deployment: Deployment, old: Sequence[ReplicaSet]) -> int:
    """With how many replicas a new ReplicaSet starts."""
    if not deployment.rolling:
        return deployment.spec.replicas
    room = deployment.most_replicas - _total(old)
    return max(0, min(room, deployment.spec.replicas))


def roll(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> Sizes:
    """One step of a rolling update: more of the new, or if there is no room, fewer of the old."""
    grown = _grow(deployment, new, old)
    return grown or _shrink(deployment, new, [each for each in old if each.spec.replicas])


def _grow(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> Sizes:
    has, wanted = new.spec.replicas, deployment.spec.replicas
    if has == wanted:
        return {}
    if has > wanted:
        return {new.metadata.name: wanted}
    room = deployment.most_replicas - has - _total(old)
    return {new.metadata.name: has + min(room, wanted - has)} if room > 0 else {}


def _shrink(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> Sizes:
    """Unavailable pods go first: they cost nothing. Then as many available ones as are above the least."""
    missing_new = new.spec.replicas - available(new)
    allowed = new.spec.replicas + _total(old) - deployment.least_available - missing_new
    before = {each.metadata.name: each.spec.replicas for each in old}
    left = dict(before)
    spared = 0
    for each in old:
        unhealthy = min(max(0, allowed - spared), each.spec.replicas - available(each))
        left[each.metadata.name] -= unhealthy
        spared += unhealthy
    still_available = available(new) + sum(available(each) for each in old)
    surplus = min(still_available - deployment.least_available, allowed - spared)
    for each in old:
        gone = max(0, min(left[each.metadata.name], surplus))
        left[each.metadata.name] -= gone
        surplus -= gone
    return {name: size for name, size in left.items() if size != before[name]}


def was_scaled(deployment: Deployment, sets: Sequence[ReplicaSet]) -> bool:
    """Whether the Deployment has another size now than when its ReplicaSets were last sized."""
    sized = (count_annotation(each, DESIRED) for each in sets if each.spec.replicas)
    return any(size is not None and size != deployment.spec.replicas for size in sized)


def scale(deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]) -> Sizes:
    """Sizes after a change of `replicas`, outside of any rollout; in the midst of one, each in proportion.

    Every ReplicaSet in the answer gets fresh size annotations, even where its size stays.
    """
    everyone = [*old, *([new] if new else [])]
    active = [each for each in everyone if each.spec.replicas]
    wanted = deployment.spec.replicas
    if len(active) <= 1:
        only = active[0] if active else new or (old[-1] if old else None)
        return {only.metadata.name: wanted} if only else {}
    if new is not None and _saturated(deployment, new):
        return {each.metadata.name: 0 for each in active if each is not new}
    return _proportional(deployment, active) if deployment.rolling else {}


def _saturated(deployment: Deployment, new: ReplicaSet) -> bool:
    wanted = deployment.spec.replicas
    return new.spec.replicas == wanted == count_annotation(new, DESIRED) == new.status.available_replicas


def _proportional(deployment: Deployment, active: list[ReplicaSet]) -> Sizes:
    """What is added or taken is shared out by size; what rounding leaves goes to the largest."""
    most = deployment.most_replicas if deployment.spec.replicas else 0
    change = most - _total(active)
    newest_first = sorted(active, key=lambda each: each.metadata.created, reverse=change > 0)
    ordered = sorted(newest_first, key=lambda each: -each.spec.replicas)
    sizes = {each.metadata.name: each.spec.replicas for each in ordered}
    shared = 0
    for each in ordered:
        part = _fraction(deployment, each)
        part = min(part, change - shared) if change > 0 else max(part, change - shared)
        sizes[each.metadata.name] += part if change else 0
        shared += part if change else 0
    first = ordered[0].metadata.name
    sizes[first] = max(0, sizes[first] + change - shared)
    return sizes


def _fraction(deployment: Deployment, each: ReplicaSet) -> int:
    """By how much it changes if it keeps its share of the whole."""
    if not deployment.spec.replicas:
        return -each.spec.replicas
    before = count_annotation(each, MOST) or deployment.status.replicas
    if not before:
        return 0
    return (2 * each.spec.replicas * deployment.most_replicas + before) // (2 * before) - each.spec.replicas


def _total(sets: Sequence[ReplicaSet]) -> int:
    return sum(each.spec.replicas for each in sets)
