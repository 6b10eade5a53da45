"""Victims: from whom room is taken, in which order, one unit at a time.

Order: surplus before floors, the node most above what it deserves, lowest priority, newest. The tree is gone down from
the top, at every level into the child that is most above first (those that are so equally are merged), so that finding
the next unit looks at the children of a few nodes and never at all workloads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from heapq import merge
from itertools import takewhile
from operator import attrgetter
from typing import Protocol

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.taken import Taken
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.ledger import Short
from tidegate.scheduler.tree.node import TreeNode

Unit = list[tuple[int, str, int]]
"""Pods that go together: index of the pod set, flavor, count."""

_weight = attrgetter("weight")


class Rights(Protocol):
    """What may be taken."""

    def below(self, node: TreeNode) -> Iterable[TreeNode]:
        """The children of a node from which anything might be taken at all."""

    def above(self, node: TreeNode, floors: bool) -> int:
        """How far a node is above what it deserves, as far as that decides who gives surplus, or `floors`, first."""

    def permit(self, holding: Holding, need: Need, floor: bool) -> Rule | None:
        """By which rule this much may be taken from a workload (`floor`: with its floor), if by any."""

    def alike(self, holding: Holding) -> Hashable:
        """What, besides the amounts, `permit` looks at."""

    def spares(self, queue: TreeNode) -> int | None:
        """The priority from which on nobody in a Queue gives anything; None where there is none such."""


class Victims:
    """Takes units that help where room is short, best victim first."""

    def __init__(self, draft: Draft, rights: Rights, *, needed_by: str | None) -> None:
        self.draft = draft
        self.rights = rights
        self.needed_by = needed_by

    def take(self, below: TreeNode, short: Collection[Short]) -> Taken | None:
        """Take the next unit below a node that helps and may be taken; None when there is no more."""
        wanted = {axis for lack in short for axis in lack.axes}
        # What is refused to one is refused to all like it; a queue may have thousands of them.
        for give, floors in ((self._shrink, False), (self._evict, True)):
            refused: set[Hashable] = set()
            for holding in self._candidates(below, floors=floors):
                if holding.admitted and holding.workload.name != self.needed_by:
                    taken = give(holding, wanted, refused)
                    if taken is not None:
                        return taken
        return None

    def _candidates(self, node: TreeNode, *, floors: bool) -> Iterator[Holding]:
        """The workloads below a node that might give, in the order of victims."""
        if node.is_queue:
            there = self.draft.books.of(node) if floors else self.draft.books.with_surplus(node)
            spared = self.rights.spares(node)
            yield from there if spared is None else takewhile(lambda one: one.workload.priority < spared, there)
            return
        above: dict[int, list[TreeNode]] = {}
        has_surplus = self.draft.books.has_surplus
        for child in self.rights.below(node) if floors or has_surplus(node) else ():
            if floors or has_surplus(child):
                above.setdefault(self.rights.above(child, floors), []).append(child)
        for _, equals in sorted(above.items(), reverse=True):
            each = [self._candidates(child, floors=floors) for child in equals]
            yield from merge(*each, key=_weight, reverse=True)

    def _shrink(self, holding: Holding, wanted: set[int], refused: set[Hashable]) -> Taken | None:
        for unit in surplus_units(holding):
            rule = self._permit(holding, _need(holding, unit), wanted, refused, floor=False)
            if rule is not None:
                return self.draft.shrink(holding, unit, rule, self.needed_by, wanted)
        return None

    def _evict(self, holding: Holding, wanted: set[int], refused: set[Hashable]) -> Taken | None:
        rule = self._permit(holding, holding.need(), wanted, refused, floor=True)
        return None if rule is None else self.draft.evict(holding, rule, self.needed_by)

    def _permit(
        self, holding: Holding, need: Need, wanted: set[int], refused: set[Hashable], *, floor: bool
    ) -> Rule | None:
        """By which rule this much is taken, if it helps and may be."""
        if not any(axis in wanted for axis, _ in need):
            return None
        like = (need, holding.queue, self.rights.alike(holding))
        if like in refused:
            return None
        rule = self.rights.permit(holding, need, floor)
        if rule is None:
            refused.add(like)
        return rule


def surplus_units(holding: Holding) -> Iterator[Unit]:
    """Pods above the floor that can go together, one step of each pod set and flavor; the last pod sets and the least
    preferred flavors first."""
    for index in reversed(range(len(holding.granted))):
        surplus = holding.surplus(index)
        if not surplus:
            continue
        pod_set = holding.workload.pod_sets[index]
        # Steps are counted from the floor, with the pods that ended well.
        above = holding.count(index) + pod_set.ended - min(pod_set.floor, pod_set.count)
        count = min(surplus, (above - 1) % pod_set.step + 1)
        counts = holding.granted[index]
        order = holding.queue.flavors if holding.queue else ()
        flavors = sorted((flavor for flavor, there in counts.items() if there), key=_place(order), reverse=True)
        for first in flavors:
            yield _of_flavors(index, count, counts, [first, *(flavor for flavor in flavors if flavor != first)])


def _of_flavors(index: int, count: int, counts: dict[str, int], flavors: Iterable[str]) -> Unit:
    """So many pods, from the first flavors that have them."""
    unit: Unit = []
    for flavor in flavors:
        some = min(count, counts[flavor])
        if some:
            unit.append((index, flavor, some))
            count -= some
    return unit


def _place(order: tuple[str, ...]) -> Callable[[str], tuple[int, str]]:
    return lambda flavor: (order.index(flavor) if flavor in order else len(order), flavor)


def _need(holding: Holding, unit: Unit) -> Need:
    assert holding.queue is not None
    axes, pod_sets = holding.queue.axes, holding.workload.pod_sets
    return total(axes.pods(pod_sets[index].requests, flavor, count) for index, flavor, count in unit)
