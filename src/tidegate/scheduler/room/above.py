"""Who holds more than they deserve: kept, so that whoever looks for room does not go round and ask everybody.

A node's share, or what it deserves, changes only when something below it is granted or taken back, in the books or in
what would be fair. Both ledgers note where; only there it is looked again.
"""

from __future__ import annotations

from collections.abc import Collection

from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode


class Above:
    """The nodes that hold more than they deserve."""

    def __init__(self, ledger: Ledger, deserved: Deserved) -> None:
        self._ledger = ledger
        self._deserved = deserved
        self._found: list[dict[TreeNode, None]] = [{} for _ in range(ledger.tree.size)]
        """By index of their parent."""

    def among(self, parent: TreeNode) -> Collection[TreeNode]:
        """Those of the children of a node."""
        self._look_again()
        return self._found[parent.index]

    def beside(self, queue: TreeNode) -> bool:
        """Whether there is any but a Queue and the nodes it stands below."""
        self._look_again()
        below = queue
        for node in queue.path[1:]:
            found = self._found[node.index]
            if len(found) > (below in found):
                return True
            below = node
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
            for node in queue.path:
                if node.parent is None:
                    break
                found = self._found[node.parent.index]
                if self.holds_more(node):
                    found[node] = None
                else:
                    found.pop(node, None)
