"""Decides how many pods a ReplicaSet lacks or which it can spare, and counts those it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

from tidegate.local.controllers.objects import Condition, condition_of, stamp, without_condition
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.ranking import least_missed_first
from tidegate.local.controllers.replicas.objects import ReplicaSet, ReplicaSetStatus
from tidegate.local.controllers.selectors import selects

BURST = 500
"""Pods created or deleted in one step."""


@dataclass(frozen=True, slots=True)
class ReplicaPlan:
    create: int = 0
    delete: list[Pod] = field(default_factory=list)


def plan_replicas(owner: ReplicaSet, pods: Sequence[Pod], related: Iterable[Pod], now: datetime) -> ReplicaPlan:
    """`related`: pods of other owners that crowd the same nodes (the siblings under one Deployment)."""
    if owner.metadata.deletion_timestamp is not None:
        return ReplicaPlan()
    active = [pod for pod in pods if pod.active]
    surplus = len(active) - owner.spec.replicas
    if surplus <= 0:
        return ReplicaPlan(create=min(-surplus, BURST))
    return ReplicaPlan(delete=least_missed_first(active, now, related)[: min(surplus, BURST)])


def replica_status(owner: ReplicaSet, pods: Iterable[Pod], now: datetime, failure: str = "") -> ReplicaSetStatus:
    """The counts, with the condition ReplicaFailure while pods cannot be created or deleted."""
    everyone = list(pods)
    active = [pod for pod in everyone if pod.active]
    least_s = owner.spec.min_ready_seconds
    return replace(
        owner.status,
        replicas=len(active),
        fully_labeled_replicas=sum(1 for pod in active if selects(owner.template_labels, pod.metadata.labels)),
        ready_replicas=sum(1 for pod in active if pod.ready),
        available_replicas=sum(1 for pod in active if pod.available_after(least_s, now) == 0),
        terminating_replicas=sum(1 for pod in everyone if pod.terminating),
        observed_generation=owner.metadata.generation,
        conditions=_conditions(owner, len(active), failure, now),
    )


def next_available_s(owner: ReplicaSet, pods: Iterable[Pod], now: datetime) -> float | None:
    """When the next ready pod will count as available."""
    waits = (pod.available_after(owner.spec.min_ready_seconds, now) for pod in pods if pod.active)
    return min((wait for wait in waits if wait), default=None)


def _conditions(owner: ReplicaSet, active: int, failure: str, now: datetime) -> tuple[Condition, ...]:
    before = owner.status.conditions
    if not failure:
        return without_condition(before, "ReplicaFailure")
    if condition_of(before, "ReplicaFailure"):
        return before
    reason = "FailedCreate" if active < owner.spec.replicas else "FailedDelete"
    return (*before, Condition("ReplicaFailure", "True", reason, failure, last_transition_time=stamp(now)))
