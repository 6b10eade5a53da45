"""Amounts of a node over all flavors, for schedulers whose queues know none."""

from __future__ import annotations

from tidegate.dialects.queues.rendering import Notes
from tidegate.dialects.queues.tree import QueueTree, cells, most
from tidegate.model.kinds import ClusterQueue
from tidegate.model.quantity import ZERO, Quantity

Amounts = dict[str, Quantity]


def guaranteed(tree: QueueTree, node: ClusterQueue, notes: Notes) -> Amounts:
    """By resource. Never less than its children are guaranteed together, since the others refuse such a tree."""
    total: Amounts = {}
    for cell in tree.reach(node):
        own = tree.guarantee(node, cell)
        below = sum((tree.guarantee(child, cell) for child in tree.children(node)), ZERO)
        if below > own:
            about = f"ClusterQueue {node.metadata.name}"
            notes.changed(about, f"its children are guaranteed {below} {cell[1]}, so it is, too, and not only {own}")
        total[cell[1]] = total.get(cell[1], ZERO) + max(own, below)
    return {name: amount for name, amount in sorted(total.items()) if amount}


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
