"""Demand: what everybody wants, whoever holds how much.

Demand is what running workloads want (where growth is on hold, what they have), what waiting ones want (also during a
back-off), and a Queue's standing `request` as far as its workloads do not ask for it; the last in units of about one
core, one GiB or one piece, behind all real asks of the Queue.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tidegate.model.kinds.cluster_queue import Stop
from tidegate.model.quantity import NANO
from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler.snapshot import PodSet, Workload
from tidegate.scheduler.tree.node import TreeNode

_LAST = 2**62
_GIB = 2**30 * NANO
_MOST_UNITS = 256


def demand(workload: Workload, queue: TreeNode | None, *, allowed: bool) -> Workload | None:
    """The workload as demand: what it wants, or None if it may want nothing."""
    if not workload.active or queue is None or queue.stop is Stop.HOLD_AND_DRAIN:
        return None
    if workload.admitted_at is None:
        return workload if queue.stop is Stop.NONE and allowed else None
    return workload if queue.stop is Stop.NONE else replace(workload, pod_sets=tuple(map(_as_it_is, workload.pod_sets)))


def _as_it_is(pod_set: PodSet) -> PodSet:
    return replace(pod_set, count=min(pod_set.count, sum(pod_set.granted.values()) + pod_set.ended))


def wanted(workload: Workload) -> Resources:
    """All that a workload wants."""
    return sum((pod_set.requests * pod_set.wanted for pod_set in workload.pod_sets), NOTHING)


def same_demand(one: Workload, two: Workload) -> bool:
    """Whether nothing is wanted differently."""
    return _place(one) == _place(two) and _shapes(one) == _shapes(two) and _counts(one) == _counts(two)


def _place(workload: Workload) -> tuple[Any, ...]:
    return (workload.queue, workload.created, workload.priority, workload.max_run_seconds)


def _shapes(workload: Workload) -> list[tuple[Any, ...]]:
    return [(one.requests, one.node_selector, one.mixes) for one in workload.pod_sets]


def _counts(workload: Workload) -> list[tuple[int, int, int]]:
    return [(one.wanted, one.least, one.step) for one in workload.pod_sets]


def standing(queue: str, amounts: Resources, node: TreeNode) -> Workload:
    """Demand without a workload, in equal units and a rest; of resources that are there at all."""
    there = {name for name, amount in zip(node.axes.resources, node.total_capacity, strict=True) if amount}
    amounts = amounts.only(frozenset(there))
    units = min(_MOST_UNITS, max((-(-amount // _unit(name)) for name, amount in amounts.items()), default=1))
    each = Resources({name: amount // units for name, amount in amounts.items()})
    rest = amounts - each * units
    sizes = [
        PodSet(name="unit", count=units, floor=0, requests=each),
        PodSet(name="rest", count=1, floor=0, requests=rest),
    ]
    pod_sets = tuple(pod_set for pod_set in sizes if pod_set.requests)
    # "standing" cannot be the name of a workload: those have a namespace before a single slash.
    return Workload(name=f"{queue}/standing", queue=queue, created=_LAST, priority=-_LAST, pod_sets=pod_sets)


def _unit(resource: str) -> int:
    return _GIB if "memory" in resource or "storage" in resource else NANO
