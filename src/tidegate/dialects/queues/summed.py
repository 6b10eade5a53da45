"""Amounts of a node over all flavors, for schedulers whose queues know none."""

from __future__ import annotations

from tidegate.dialects.queues.rendering import Notes
from tidegate.dialects.queues.tree import Cell, QueueTree, cells, most
from tidegate.model.kinds import ClusterQueue
from tidegate.model.quantity import ZERO, Quantity

Amounts = dict[str, Quantity]


def guaranteed(tree: QueueTree, node: ClusterQueue, notes: Notes) -> Amounts:
    """By resource. Never less than its children are guaranteed together, since the others refuse such a tree."""
    total: Amounts = {}
    for cell in tree.reach(node):
        own, covering = tree.guarantee(node, cell), _covering(tree, node, cell)
        if covering > own:
            about = f"ClusterQueue {node.metadata.name}"
            notes.changed(about, f"its children are guaranteed {covering} {cell[1]}, so it is, too, and not only {own}")
        total[cell[1]] = total.get(cell[1], ZERO) + covering
    return {name: amount for name, amount in sorted(total.items()) if amount}


def _covering(tree: QueueTree, node: ClusterQueue, cell: Cell) -> Quantity:
    """The guarantee that also covers everything below."""
    below = sum((_covering(tree, child, cell) for child in tree.children(node)), ZERO)
    return max(tree.guarantee(node, cell), below)


def ceilings(tree: QueueTree, node: ClusterQueue, notes: Notes) -> Amounts:
    """The most by resource, where every flavor it can reach states one; never less than what is guaranteed."""
    stated = cells(node)
    limits: dict[str, list[Quantity | None]] = {}
    for cell in tree.reach(node):
        limits.setdefault(cell[1], []).append(most(node, stated.get(cell)))
    for (flavor, resource), quota in stated.items():
        if quota.borrowing_limit is not None and node.spec.parent is None:
            notes.dropped(f"borrowingLimit of ClusterQueue {node.metadata.name}", "a root has nobody to borrow from")
        elif quota.borrowing_limit is not None and None in limits[resource]:
            notes.dropped(
                f"borrowingLimit of ClusterQueue {node.metadata.name}",
                f"{resource} of {flavor} is limited and that of another flavor is not, so their sum is not",
            )
    least = guaranteed(tree, node, Notes())
    tops = {name: sum((one for one in each if one), ZERO) for name, each in limits.items() if None not in each}
    return {name: max(amount, least.get(name, ZERO)) for name, amount in sorted(tops.items())}
