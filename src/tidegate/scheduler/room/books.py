"""The books: what every workload holds, and the ledger of the tree in step with it."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class Books:
    """Holdings by name and by Queue."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.ledger = Ledger(tree)
        self.holdings: dict[str, Holding] = {}
        self._by_queue: dict[str, dict[str, Holding]] = {}

    def enter(self, holding: Holding) -> None:
        """Count what a workload holds."""
        self.holdings[holding.workload.name] = holding
        if holding.queue is not None:
            self._by_queue.setdefault(holding.queue.name, {})[holding.workload.name] = holding
            self._count(holding, holding.queue, 1)

    def forget(self, name: str) -> None:
        """Count it no more."""
        holding = self.holdings.pop(name, None)
        if holding is not None and holding.queue is not None:
            del self._by_queue[holding.queue.name][name]
            self._count(holding, holding.queue, -1)

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
        granted, waiting = holding.granted[index], holding.held[index]
        going = holding.going(index, flavor)
        granted[flavor] = granted.get(flavor, 0) + count
        waiting[flavor] = waiting.get(flavor, 0) + held
        if holding.queue is None:
            return
        pod = self.tree.axes.pod(holding.workload.pod_sets[index].requests, flavor)
        if count:
            self.ledger.grant(holding.queue, pod, count)
        if held:
            self.ledger.hold(holding.queue, pod, held)
        left = holding.going(index, flavor) - going
        if left:
            self.ledger.go(holding.queue, pod, left)

    def of(self, queue: TreeNode) -> list[Holding]:
        """The workloads of a Queue that hold something."""
        return list(self._by_queue.get(queue.name, {}).values())

    def below(self, node: TreeNode) -> Iterator[Holding]:
        """The workloads of a node that hold something."""
        for inner in node.below():
            if inner.is_queue:
                yield from self.of(inner)
