"""Which pod is least missed: the order in which surplus pods are deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from math import log2

from tidegate.local.controllers.pods import Pod

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST = "controller.kubernetes.io/pod-deletion-cost"


def least_missed_first(pods: Iterable[Pod], now: datetime, neighbours: Iterable[Pod] = ()) -> list[Pod]:
    """Unassigned, pending, not ready, cheap, crowded, youngest, most restarted first; ties by uid.

    `neighbours` are the ready pods (of related owners too) that crowd a node. Ages count in powers of two, so that
    among pods of about the same age the choice is spread instead of always falling on the newest.
    """
    crowd = Counter(pod.spec.node_name for pod in neighbours if pod.ready)

    def rank(pod: Pod) -> tuple[object, ...]:
        ready = pod.ready
        return (
            pod.spec.node_name != "",
            _PHASES.get(pod.status.phase, 0),
            ready,
            _deletion_cost(pod),
            -crowd[pod.spec.node_name],
            _age_rank(pod.ready_since, now) if ready else 0,
            -max((each.restart_count for each in pod.status.container_statuses), default=0),
            _age_rank(pod.metadata.creation_timestamp, now),
            pod.uid,
        )

    return sorted(pods, key=rank)


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get(_COST, "0"))
    except ValueError:
        return 0


def _age_rank(since: datetime | None, now: datetime) -> int:
    """0 for no time at all, then one more for each doubling of the age."""
    if since is None:
        return -1
    age_s = (now - since).total_seconds()
    return int(log2(age_s)) + 1 if age_s >= 1 else 0
