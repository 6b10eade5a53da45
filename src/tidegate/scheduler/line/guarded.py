"""Guarded: where asks may choose other flavors, since others took of what is guaranteed to them all.

An ask goes to the first flavor in which it stays inside the guarantee of the node above it, and is weighed by what it
takes there. What is left of a guarantee changes with every grant to a Queue beside it; the choice changes only when
that falls below (or rises above) a size that somebody asks for. Then the Queues below the node are weighed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.scheduler.line.ceilings import Ceilings
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class Guarded:
    """What is left of guarantees that several Queues have in common."""

    def __init__(self, tree: Tree, ceilings: Ceilings) -> None:
        self._ceilings = ceilings
        self._queues: dict[TreeNode, list[TreeNode]] = {}
        """By node: the Queues below it that have a choice of flavors, if it guarantees something to more than one."""
        for node in tree.in_order:
            if node.parent is not None and not node.is_queue and any(guard is node for guard in node.guards):
                below = [one for one in node.below() if one.is_queue and len(one.flavors) > 1]
                if len(below) > 1:
                    self._queues[node] = below
        self._left: dict[TreeNode, tuple[int, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._queues)

    def moved_by(self, queue: TreeNode) -> Iterator[TreeNode]:
        """The Queues that may choose otherwise now that something was granted in this one, or taken back."""
        for node in queue.path:
            if (beside := self._queues.get(node)) is not None:
                left = self._ceilings.inside(node)
                if self._left.get(node) != left:
                    self._left[node] = left
                    yield from beside
