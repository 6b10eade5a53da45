"""A tree as it is, written out: so that a live Tidegate can be compared with files as any other scheduler can."""

from __future__ import annotations

from tidegate.dialects.queues.rendering import QueueRendering
from tidegate.dialects.queues.tree import QueueTree
from tidegate.model.codec import encode


def to_tidegate(tree: QueueTree) -> QueueRendering:
    """Flavors, nodes and doors, without what only a running Tidegate knows of them."""
    whole = [encode(obj) for obj in (*tree.flavors, *tree.nodes, *tree.doors)]
    return QueueRendering(tuple({key: part for key, part in obj.items() if key != "status"} for obj in whole))
