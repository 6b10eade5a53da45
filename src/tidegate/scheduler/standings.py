"""How every queue stands once the plan of a cycle is carried out."""

from __future__ import annotations

from collections.abc import Iterator
from operator import add, attrgetter
from typing import Any

from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler.cycle import Cycle
from tidegate.scheduler.plan import Standing
from tidegate.scheduler.report import wants_more
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class Standings:
    """Those of all nodes of a tree; where nothing changed they are the same as the last time."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._by_name = sorted(tree.in_order, key=attrgetter("name"))
        self._short = [tree.axes.flavored(_short_of_guarantees(node)) for node in tree.in_order]
        self._told: list[tuple[tuple[Any, ...], Standing | None]] = [((), None)] * len(tree.in_order)

    def of(self, cycle: Cycle) -> dict[str, Standing]:
        """By name."""
        admitted, pending, used = self._counts(cycle)
        granted, shares, deserved = cycle.draft.ledger.granted, cycle.draft.ledger.shares, cycle.draft.deserved
        wanting = {queue.index for queue in _wanting(cycle)}
        standings = {}
        for node in self._by_name:
            at = node.index
            amounts = (tuple(deserved.amounts(node)), tuple(granted[at]), tuple(used[at]))
            seen = (amounts, shares[at], pending[at], admitted[at], at in wanting)
            before, standing = self._told[at]
            if standing is None or seen != before:
                due, allocated, in_use = map(self._tree.axes.flavored, amounts)
                standing = Standing(
                    deserved=due,
                    allocated=allocated,
                    used=in_use,
                    share=cycle.draft.ledger.share(node),
                    pending=pending[at],
                    admitted=admitted[at],
                    short_of_guarantees=self._short[at],
                    wants_more=at in wanting,
                )
                self._told[at] = (seen, standing)
            standings[node.name] = standing
        return standings

    def _counts(self, cycle: Cycle) -> tuple[list[int], list[int], list[list[int]]]:
        """By node: how many are admitted and how many are not, and what their pods use."""
        in_order, active = self._tree.in_order, cycle.known.active
        used = [[0] * len(self._tree.axes) for _ in in_order]
        admitted, pending = [0] * len(used), [active.get(node.name, 0) if node.is_queue else 0 for node in in_order]
        for holding in cycle.books.holdings.values():
            if holding.queue is not None:
                at = holding.queue.index
                admitted[at] += holding.admitted
                pending[at] -= holding.admitted and holding.workload.active
                _use(used[at], holding.workload, holding.queue)
        for node in reversed(in_order):
            if node.parent is not None:
                at, above = node.index, node.parent.index
                admitted[above] += admitted[at]
                pending[above] += pending[at]
                used[above] = list(map(add, used[above], used[at]))
        return admitted, pending, used


def _wanting(cycle: Cycle) -> Iterator[TreeNode]:
    """The Queues of which somebody waits for something: in line, until they may stand in it, or for others to go."""
    nodes, known, holdings = cycle.books.tree.nodes, cycle.known, cycle.books.holdings
    yield from (queue for queue in nodes.values() if cycle.line.somebody_asks(queue))
    for name, why in known.kept_out.items():
        holding = holdings.get(name)
        wants = holding is None or not holding.admitted or wants_more(holding)
        queue = nodes.get(known.workloads[name].queue)
        if wants and queue is not None and why.reason is not WaitingReason.INACTIVE:
            yield queue
    yield from (one.queue for one in cycle.stepped_aside.values() if one.queue is not None)
    yield from (one.queue for one in holdings.values() if one.queue is not None and one.waits_to_start)


def _use(used: list[int], workload: Workload, node: TreeNode) -> None:
    for pod_set in workload.pod_sets:
        for flavor, count in pod_set.present.items():
            for axis, amount in node.axes.pods(pod_set.requests, flavor, count - pod_set.coming.get(flavor, 0)):
                used[axis] += amount


def _short_of_guarantees(node: TreeNode) -> list[int]:
    """By how much the guarantees of the children exceed what the node has; at a root, its capacity."""
    there = node.capacity if node.parent is None else node.guarantee
    promised = [sum(child.guarantee[axis] for child in node.children) for axis in range(len(there))]
    return [max(0, amount - has) for amount, has in zip(promised, there, strict=True)]
