"""Who holds more than they deserve: kept, so that whoever looks for room does not go round and ask everybody.

A node's share, or what it deserves, changes only when something below it is granted or taken back, in the books or in
what would be fair. Both ledgers note where; only there it is looked again.
"""

from __future__ import annotations

from collections.abc import Collection

from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.room.books import Books
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import TreeNode


class Above:
    """The nodes that hold more than they deserve."""

    def __init__(self, books: Books, deserved: Deserved) -> None:
        self._books = books
        self._ledger = books.ledger
        self._deserved = deserved
        self._found: list[dict[TreeNode, None]] = [{} for _ in range(books.tree.size)]
        """By index of their parent."""
        self._queues: dict[TreeNode, None] = {}
        """The Queues among them,"""
        self._spares_one: dict[TreeNode, bool] = {}
        """and whether they could do without one of their workloads, where that was asked."""

    def among(self, parent: TreeNode) -> Collection[TreeNode]:
        """Those of the children of a node."""
        self._look_again()
        return self._found[parent.index]

    def givers(self, parent: TreeNode) -> list[TreeNode]:
        """Those of the children of a node below which somebody might give something."""
        return [child for child in self.among(parent) if self._gives(child)]

    def beside(self, queue: TreeNode, scope: TreeNode) -> bool:
        """Whether anybody below a node, outside of a Queue, might give it something."""
        self._look_again()
        others = (other for other in self._queues if other is not queue and scope in other.path)
        return any(self._gives(other) and self.is_all(other, queue) for other in others)

    def is_all(self, queue: TreeNode, other: TreeNode) -> bool:
        """Whether all nodes of a path, up to where it meets another, hold more than they deserve."""
        self._look_again()
        return all(node in self._found[node.parent.index] for node in queue.meets(other) if node.parent)

    def _gives(self, node: TreeNode) -> bool:
        """Whether a node might hold less and still what it deserves. Most Queues that hold a little more could not do
        without any one workload: they are not asked again until something of theirs has changed."""
        if not node.is_queue or node.contested or self._books.has_surplus(node):
            return True
        spares_one = self._spares_one.get(node)
        if spares_one is None:
            spares_one = self._spares_one[node] = self._could_spare_one(node)
        return spares_one

    def _could_spare_one(self, queue: TreeNode) -> bool:
        due, seen = self._deserved.share(queue), set[Need]()
        for holding in self._books.of(queue):
            need = holding.need()
            if need not in seen and self._ledger.share_without(queue, need) >= due:
                return True
            seen.add(need)
        return False

    def holds_more(self, node: TreeNode) -> bool:
        """Whether a node holds more than it deserves: by its share; inside a guarantee that others have too, where all
        shares are 0, by amounts."""
        if self._ledger.shares[node.index] > self._deserved.share(node):
            return True
        if not node.contested:
            return False
        granted, own = self._ledger.granted[node.index], self._deserved.amounts(node)
        return any(granted[axis] > own[axis] for axis in node.contested)

    def _look_again(self) -> None:
        for queue in [*self._ledger.news(), *self._deserved.moves()]:
            self._spares_one.pop(queue, None)
            for node in queue.path:
                if node.parent is None:
                    break
                found = self._found[node.parent.index]
                if self.holds_more(node):
                    found[node] = None
                else:
                    found.pop(node, None)
            if queue.parent is not None and queue in self._found[queue.parent.index]:
                self._queues[queue] = None
            else:
                self._queues.pop(queue, None)
