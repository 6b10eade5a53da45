"""The books: what every workload holds, and the ledger of the tree in step with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from operator import attrgetter

from sortedcontainers import SortedList  # type: ignore[import-untyped]

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.shapes import Placement
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_weight = attrgetter("weight")


class Books:
    """Holdings by name and by Queue."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.ledger = Ledger(tree)
        self.holdings: dict[str, Holding] = {}
        self._by_queue: dict[TreeNode, SortedList] = defaultdict(partial(SortedList, key=_weight))
        """Those who hold something: who gave all of it in this cycle is not asked again and again."""
        self._unsorted: dict[TreeNode, dict[str, Holding]] = defaultdict(dict)
        """Those who came since somebody last looked: most are gone again before anybody looks for victims."""
        self._with_surplus: dict[TreeNode, SortedList] = defaultdict(partial(SortedList, key=_weight))
        self._surplus_below = [0] * tree.size
        """By index of a node, how many of those there are."""

    def enter(self, holding: Holding) -> None:
        """Count what a workload holds."""
        self.holdings[holding.workload.name] = holding
        if holding.queue is not None:
            self._list(holding, holding.queue)
            self._list_surplus(holding, holding.queue)
            self._count(holding, holding.queue, 1)

    def admit(self, holding: Holding, placement: Placement, *, held: bool = False) -> None:
        """A workload that held nothing is granted its floor."""
        assert holding.queue is not None
        holding.take_up(placement.pods, held=held)
        self.holdings[holding.workload.name] = holding
        self._list(holding, holding.queue)
        self.ledger.grant(holding.queue, placement.need)
        if held:
            self.ledger.hold(holding.queue, placement.need)

    def _list(self, holding: Holding, queue: TreeNode) -> None:
        """List it if it holds something, and only then."""
        holds = any(map(any, map(dict.values, holding.granted)))
        if holds is holding.listed:
            return
        holding.listed = holds
        if holds:
            self._unsorted[queue][holding.workload.name] = holding
        elif self._unsorted[queue].pop(holding.workload.name, None) is None:
            self._by_queue[queue].remove(holding)

    def forget(self, name: str) -> None:
        """Count it no more."""
        holding = self.holdings.pop(name, None)
        if holding is not None and holding.queue is not None:
            if holding.listed and self._unsorted[holding.queue].pop(name, None) is None:
                self._by_queue[holding.queue].remove(holding)
            if holding.listed_with_surplus:
                self._with_surplus[holding.queue].remove(holding)
                self._count_surplus(holding.queue, -1)
            self._count(holding, holding.queue, -1)

    def _list_surplus(self, holding: Holding, queue: TreeNode) -> None:
        surplus = holding.has_surplus
        if surplus and not holding.listed_with_surplus:
            self._with_surplus[queue].add(holding)
            self._count_surplus(queue, 1)
        elif holding.listed_with_surplus and not surplus:
            self._with_surplus[queue].remove(holding)
            self._count_surplus(queue, -1)
        holding.listed_with_surplus = surplus

    def _count_surplus(self, queue: TreeNode, more: int) -> None:
        for node in queue.path:
            self._surplus_below[node.index] += more

    def _count(self, holding: Holding, queue: TreeNode, times: int) -> None:
        axes, ledger = self.tree.axes, self.ledger
        for index, pod_set in enumerate(holding.workload.pod_sets):
            for flavor, count in holding.granted[index].items():
                if count:
                    ledger.grant(queue, axes.pods(pod_set.requests, flavor, count), times)
                held = holding.held[index].get(flavor, 0)
                if held:
                    ledger.hold(queue, axes.pods(pod_set.requests, flavor, held), times)
            for flavor in holding.present[index]:
                going = holding.going(index, flavor)
                if going:
                    ledger.go(queue, axes.pods(pod_set.requests, flavor, going), times)

    def change(self, holding: Holding, index: int, flavor: str, count: int, held: int) -> None:
        """So many more (or fewer) pods are granted, and so many more (or fewer) of them may not start yet."""
        present = holding.present[index]
        going = holding.going(index, flavor) if present else 0
        holding.change(index, flavor, count, held)
        if holding.queue is None:
            return
        self._list(holding, holding.queue)
        self._list_surplus(holding, holding.queue)
        pod = self.tree.axes.pod(holding.workload.pod_sets[index].requests, flavor)
        if count:
            self.ledger.grant(holding.queue, pod, count)
        if held:
            self.ledger.hold(holding.queue, pod, held)
        if present and (left := holding.going(index, flavor) - going):
            self.ledger.go(holding.queue, pod, left, fresh=True)

    def of(self, queue: TreeNode) -> Iterator[Holding]:
        """The workloads of a Queue that hold something, who gives way first coming first."""
        if new := self._unsorted.pop(queue, None):
            self._by_queue[queue].update(new.values())
        yield from reversed(self._by_queue.get(queue, ()))

    def with_surplus(self, queue: TreeNode) -> Iterator[Holding]:
        """Of these, the ones that hold more than their floor."""
        yield from reversed(self._with_surplus.get(queue, ()))

    def has_surplus(self, node: TreeNode) -> bool:
        """Whether there are any such below a node."""
        return self._surplus_below[node.index] > 0

    def below(self, node: TreeNode) -> Iterator[Holding]:
        """The workloads of a node that hold something."""
        for inner in node.below():
            if inner.is_queue:
                yield from self.of(inner)
