"""Deserved: the whole capacity handed out afresh, from empty, in whole asks, to everybody who wants something.

The same line and the same fit as in a cycle, with nobody there before and nobody patient or impatient. It depends on
demand, configuration and capacity, never on who happens to hold what: that is what lets room be made without ping-pong.

Demand is what running workloads want (where growth is on hold, what they have), what waiting ones want (also during a
back-off), and a Queue's standing `request` as far as its workloads do not ask for it; the last in units of about one
core, one GiB or one piece, behind all real asks of the Queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tidegate.model.kinds.cluster_queue import Ordering, Stop
from tidegate.model.quantity import NANO
from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler.line.asks import Ask, Row
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import PodSet, Snapshot, Workload
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_LAST = 2**62
_GIB = 2**30 * NANO
_MOST_UNITS = 256


class Deserved:
    """What every node deserves, worked out when somebody asks and demand has changed since."""

    def __init__(self, tree: Tree, policies: Policies, snapshot: Snapshot) -> None:
        self.tree = tree
        self.policies = policies
        self._requests = {name: queue.request for name, queue in snapshot.queues.items() if queue.request}
        self._demand: dict[str, Workload] = {}
        self._totals: dict[str, Resources] = dict.fromkeys(self._requests, NOTHING)
        self._empty = Ledger(tree)
        self._ledger = Ledger(tree)
        self._line = Line(tree, self._ledger, policies)
        self._granted: dict[str, Holding] = {}
        self.settled = False
        """Whether what is deserved is known; it is worked out when somebody asks."""

    # ── demand ──

    def want(self, workload: Workload) -> None:
        """A workload wants something, or something else than before."""
        before = self._demand.get(workload.name)
        if before is not None and _same_demand(before, workload):
            return
        if before is not None:
            self.forget(before.name)
        self._demand[workload.name] = workload
        self._count(workload, 1)
        queue = self.tree.nodes[workload.queue]
        row = self._line.join(workload, queue)
        self.settled = self.settled and self._behind_one_like_it(row, workload)

    def forget(self, name: str) -> None:
        """It wants nothing any more."""
        workload = self._demand.pop(name, None)
        if workload is None:
            return
        self._count(workload, -1)
        if name not in self._granted and self.settled:
            # One that stood behind others which did not fit changes nothing by going.
            row = self._line.floor_row(name)
            self.settled = row is not None and self._behind_one_like_it(row, workload)
        else:
            self.settled = False
        self._take_out(name)
        self._line.leave(workload)

    def _behind_one_like_it(self, row: Row, workload: Workload) -> bool:
        """Whether somebody of the same row was looked at before it, in vain: then nobody looks at it either."""
        return row.failed and row.asks[0][1] != workload.name

    def _count(self, workload: Workload, times: int) -> None:
        if workload.queue in self._totals:
            wanted = sum((one.requests * one.wanted for one in workload.pod_sets), NOTHING)
            self._totals[workload.queue] += wanted * times

    # ── what is deserved ──

    def share(self, node: TreeNode) -> int:
        """The share of a node that holds just what it deserves, in its parent's units."""
        self._settle()
        return self._ledger.shares[node.index]

    def amounts(self, node: TreeNode) -> list[int]:
        """By axis."""
        self._settle()
        return self._ledger.granted[node.index]

    def _settle(self) -> None:
        if self.settled:
            return
        self._start_afresh()
        line = self._line
        while ask := line.next():
            placement = place(ask.row, self._ledger)
            if placement is not None:
                self._grant(ask, placement)
            elif ask.queue.rules.ordering is Ordering.STRICT and self._can_ever_fit(ask):
                line.block(ask)
            else:
                line.set_aside(ask)
        self.settled = True

    def _start_afresh(self) -> None:
        for name in list(self._granted):
            self._take_out(name)
            self._line.leave(self._demand[name])
            self._line.join(self._demand[name], self.tree.nodes[self._demand[name].queue])
        self._line.reopen()
        for name, request in self._requests.items():
            self._stand(name, request)

    def _grant(self, ask: Ask, placement: Any) -> None:
        workload = self._demand[ask.name]
        holding = self._granted.get(ask.name)
        if holding is None:
            holding = self._granted[ask.name] = Holding(workload, ask.queue, afresh=True)
        for index, flavor, count in placement.pods:
            holding.change(index, flavor, count)
        self._ledger.grant(ask.queue, placement.need)
        self._line.leave(workload)
        self._line.join_growth(holding)
        self._line.changed(ask.queue)

    def _take_out(self, name: str) -> None:
        holding = self._granted.pop(name, None)
        if holding is not None and holding.queue is not None:
            self._ledger.grant(holding.queue, holding.need(), -1)
            self._line.changed(holding.queue)

    def _can_ever_fit(self, ask: Ask) -> bool:
        holding = self._granted.get(ask.name)
        return can_ever_fit(ask, self._empty, holding)

    def _stand(self, name: str, request: Resources) -> None:
        """A Queue's standing request, as a workload that comes last."""
        node = self.tree.nodes.get(name)
        if node is None or node.stop is not Stop.NONE:
            return
        for workload in _standing(name, (request - self._totals[name]).positive(), node):
            before = self._demand.get(workload.name)
            if before is not None:
                self._line.leave(before)
            self._demand[workload.name] = workload
            self._line.join(workload, node)


def can_ever_fit(ask: Ask, empty: Ledger, holding: Holding | None) -> bool:
    """Whether it would fit if nobody but the asker held anything."""
    own = holding.need() if holding is not None else ()
    empty.grant(ask.queue, own)
    fits = place(ask.row, empty) is not None
    empty.grant(ask.queue, own, -1)
    return fits


def demand(workload: Workload, queue: TreeNode | None, *, allowed: bool) -> Workload | None:
    """The workload as demand: what it wants, or None if it may want nothing."""
    if not workload.active or queue is None or queue.stop is Stop.HOLD_AND_DRAIN:
        return None
    if workload.admitted_at is None:
        return workload if queue.stop is Stop.NONE and allowed else None
    return workload if queue.stop is Stop.NONE else replace(workload, pod_sets=tuple(map(_as_it_is, workload.pod_sets)))


def _as_it_is(pod_set: PodSet) -> PodSet:
    return replace(pod_set, count=min(pod_set.count, sum(pod_set.granted.values()) + pod_set.ended))


def _same_demand(one: Workload, two: Workload) -> bool:
    return _demand_of(one) == _demand_of(two)


def _demand_of(workload: Workload) -> tuple[Any, ...]:
    sets = tuple(
        (one.wanted, one.least, one.step, one.requests, one.node_selector, one.mixes) for one in workload.pod_sets
    )
    return (workload.queue, workload.created, workload.priority, workload.max_run_seconds, sets)


def _standing(queue: str, amounts: Resources, node: TreeNode) -> Iterator[Workload]:
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
    yield Workload(name=f"{queue}/standing", queue=queue, created=_LAST, priority=-_LAST, pod_sets=pod_sets)


def _unit(resource: str) -> int:
    return _GIB if "memory" in resource or "storage" in resource else NANO
