"""Deserved: the whole capacity handed out afresh, from empty, in whole asks, to everybody who wants something.

The same line and the same fit as in a cycle, with nobody there before and nobody patient or impatient. It depends on
demand, configuration and capacity, never on who happens to hold what: that is what lets room be made without ping-pong.

Demand is what running workloads want (where growth is on hold, what they have), what waiting ones want (also during a
back-off), and a Queue's standing `request` as far as its workloads do not ask for it; the last in units of about one
core, one GiB or one piece, behind all real asks of the Queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tidegate.model.kinds.cluster_queue import Ordering, Stop
from tidegate.model.quantity import NANO
from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler.draft import Draft
from tidegate.scheduler.fairness import Deserved
from tidegate.scheduler.fit import place
from tidegate.scheduler.gate import allowed
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.ledger import Ledger
from tidegate.scheduler.order import Line
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.reasons import can_ever_fit
from tidegate.scheduler.snapshot import PodSet, Snapshot, Workload
from tidegate.scheduler.tree import Tree, TreeNode

_LAST = 2**62
_GIB = 2**30 * NANO
_MOST_UNITS = 256


def deserved(snapshot: Snapshot, tree: Tree, empty: Ledger, policies: Policies) -> Deserved:
    """What every node deserves."""
    demand = list(_demand(snapshot, tree))
    draft = Draft(tree, (Holding(workload, tree.nodes[workload.queue], afresh=True) for workload in demand), now=0)
    line = Line(draft, policies, lambda *_: None)
    for holding in draft.holdings.values():
        line.join(holding)
    line.open()
    while ask := line.next():
        placement = place(ask, draft.ledger)
        if placement is not None:
            draft.grant(ask, placement)
            line.granted(ask)
        elif ask.queue.rules.ordering is Ordering.STRICT and can_ever_fit(ask, empty):
            line.block(ask)
        else:
            line.set_aside(ask)
    return Deserved(draft.ledger.granted, tree.nodes)


def _demand(snapshot: Snapshot, tree: Tree) -> Iterator[Workload]:
    real: dict[str, list[Workload]] = {}
    for workload in snapshot.workloads:
        wanted = _wanted(workload, snapshot, tree)
        if wanted is not None:
            real.setdefault(workload.queue, []).append(wanted)
            yield wanted
    for name, queue in snapshot.queues.items():
        if queue.request and name in tree.nodes and tree.nodes[name].stop is Stop.NONE:
            asked = sum((_total(workload) for workload in real.get(name, ())), NOTHING)
            yield from _standing(name, (queue.request - asked).positive(), tree.nodes[name])


def _wanted(workload: Workload, snapshot: Snapshot, tree: Tree) -> Workload | None:
    """The workload as demand, or None."""
    queue = tree.nodes.get(workload.queue)
    if not workload.active or queue is None or not queue.is_queue or queue.stop is Stop.HOLD_AND_DRAIN:
        return None
    if workload.admitted_at is None:
        return workload if queue.stop is Stop.NONE and allowed(workload, queue, snapshot) else None
    return workload if queue.stop is Stop.NONE else replace(workload, pod_sets=tuple(map(_as_it_is, workload.pod_sets)))


def _as_it_is(pod_set: PodSet) -> PodSet:
    return replace(pod_set, count=min(pod_set.count, sum(pod_set.granted.values()) + pod_set.ended))


def _total(workload: Workload) -> Resources:
    return sum((pod_set.requests * pod_set.wanted for pod_set in workload.pod_sets), NOTHING)


def _standing(queue: str, amounts: Resources, node: TreeNode) -> Iterable[Workload]:
    """Demand without a workload, in equal units and a rest; of resources that are there at all."""
    amounts = amounts.only(frozenset(node.total_capacity))
    if not amounts:
        return
    units = min(_MOST_UNITS, max(-(-amount // _unit(name)) for name, amount in amounts.items()))
    each = Resources({name: amount // units for name, amount in amounts.items()})
    rest = amounts - each * units
    sizes = [
        PodSet(name="unit", count=units, floor=0, requests=each),
        PodSet(name="rest", count=1, floor=0, requests=rest),
    ]
    pod_sets = tuple(pod_set for pod_set in sizes if pod_set.requests)
    # "standing" cannot be the name of a workload: those have a namespace before a single slash.
    yield Workload(name=f"{queue}/standing", queue=queue, created=_LAST, priority=-_LAST, pod_sets=pod_sets)


def _unit(resource: str) -> int:
    return _GIB if "memory" in resource or "storage" in resource else NANO
