"""Weighted hierarchical DRF: how much more than its guarantee a node holds, as a part of what its parent could hold.

    share(node) = max over resources r of   excess_r / (capacity of the parent)_r / weight
    excess_r    = sum over flavors f of     max(0, held_rf - guarantee_rf)

Inside the guarantee the share is 0, so asks there come first; without guarantees this is the dominant share of DRF. The
excess is counted flavor by flavor: an idle guarantee of slow machines does not make borrowed fast ones free of charge.

Hierarchy. A node is compared with its siblings only, by the sum of what everybody below it holds. A leaf that cannot
use more (its resource is exhausted, its demand met) has no ask and is not gone down into, so that its siblings go on:
this is what H-DRF has to rescale shares for, and why no leaf starves.

All exact: the largest quotient is found by cross-multiplication, and one Fraction is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from tidegate.scheduler.amounts import Cell, Cells
from tidegate.scheduler.tree import TreeNode

ZERO = Fraction(0)
_NOTHING: Mapping[Cell, int] = {}


def share(
    node: TreeNode, holds: Mapping[Cell, int], more: Mapping[Cell, int] = _NOTHING, *, times: int = 1
) -> Fraction:
    """The share of a node that holds `holds`, and `more` besides (with times = -1: less). A root's is 0."""
    if node.parent is None:
        return ZERO
    excess: dict[str, int] = {}
    guarantee = node.guarantee
    for cell in holds.keys() | more.keys() if more else holds:
        over = holds.get(cell, 0) + more.get(cell, 0) * times - guarantee.get(cell, 0)
        if over > 0:
            excess[cell[1]] = excess.get(cell[1], 0) + over
    return dominant(excess, node.parent.total_capacity) / node.weight


def dominant(amounts: Mapping[str, int], capacity: Mapping[str, int]) -> Fraction:
    """The largest part of any resource's capacity that the amounts are."""
    most, whole = 0, 1
    for resource, amount in amounts.items():
        # Use of something of which there is no more (a lost node) outweighs everything, yet stays a number.
        there = capacity.get(resource, 0) or 1
        if amount * whole > most * there:
            most, whole = amount, there
    return Fraction(most, whole)


class Deserved:
    """What every node would hold if all were handed out afresh, and the share that makes."""

    def __init__(self, amounts: Mapping[str, Cells], nodes: Mapping[str, TreeNode]) -> None:
        self.amounts = amounts
        self.shares = {name: share(node, amounts.get(name, {})) for name, node in nodes.items()}

    def of(self, node: TreeNode) -> Cells:
        return self.amounts.get(node.name, {})
