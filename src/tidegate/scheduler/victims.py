"""Victims: from whom room is taken, in which order, one unit at a time.

Order: surplus before floors, the node most above what it deserves, lowest priority, newest. How far a node is above
what it deserves changes with every unit taken, so candidates stand in a heap whose entries are weighed again when
they come up; the search is then n log n in the units it takes and never looks at all candidates for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from fractions import Fraction
from heapq import heapify, heappop, heappush

from tidegate.scheduler.amounts import Cells, add, of_pods
from tidegate.scheduler.draft import Draft, Taken
from tidegate.scheduler.fairness import ZERO, share
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.ledger import Short
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.tree import TreeNode

Unit = list[tuple[int, str, int]]
"""Pods that go together: index of the pod set, flavor, count."""
Permit = Callable[[Holding, Cells, bool], Rule | None]
"""By which rule this much may be taken from a workload (True: its floor with it), if by any."""
_Weight = tuple[bool, Fraction, Fraction, int, int, int, str]


class Victims:
    """Takes units below a node that help where room is short, best victim first."""

    def __init__(self, draft: Draft, below: TreeNode, permit: Permit, *, needed_by: str | None, near: TreeNode) -> None:
        self.draft = draft
        self.permit = permit
        self.needed_by = needed_by
        self.near = near
        """Nodes are weighed against each other where their paths leave that of this one."""
        self._heap: list[tuple[_Weight, bool, Holding]] = [
            (self._weight(holding, False), False, holding)
            for holding in draft.below(below)
            if holding.admitted and holding.workload.name != needed_by
        ]
        heapify(self._heap)

    def take(self, short: Collection[Short]) -> Taken | None:
        """Take the next unit that helps and may be taken; None when there is no more."""
        aside = []
        taken: Taken | None = None
        while self._heap and taken is None:
            weight, floor, holding = heappop(self._heap)
            now = self._weight(holding, floor)
            if now > weight:
                heappush(self._heap, (now, floor, holding))
                continue
            taken = self._take_from(holding, floor, short)
            if taken is None and not floor:
                heappush(self._heap, (self._weight(holding, True), True, holding))
            elif taken is None:
                aside.append((weight, floor, holding))
            elif not taken.evicts:
                heappush(self._heap, (self._weight(holding, floor), floor, holding))
        # What did not help here may help where room is short next.
        for entry in aside:
            heappush(self._heap, entry)
        return taken

    def _take_from(self, holding: Holding, floor: bool, short: Collection[Short]) -> Taken | None:
        for unit in surplus_units(holding):
            amounts = _amounts(holding, unit)
            if _helps(amounts, short) and (rule := self.permit(holding, amounts, False)):
                return self.draft.shrink(holding, unit, rule, self.needed_by)
        amounts = holding.amounts()
        if not floor or holding.new or not _helps(amounts, short):
            return None
        floors = self.permit(holding, amounts, True)
        return self.draft.evict(holding, floors, self.needed_by) if floors else None

    def _weight(self, holding: Holding, floor: bool) -> _Weight:
        queue, workload = holding.queue, holding.workload
        assert queue is not None
        apart = below_meeting(queue, self.near)
        top = apart[-1] if apart else queue
        return (
            floor,
            -self._above(top),
            -self._above(queue),
            workload.priority,
            -(workload.admitted_at if workload.admitted_at is not None else self.draft.now + 1),
            -workload.created,
            workload.name,
        )

    def _above(self, node: TreeNode) -> Fraction:
        if node.parent is None:
            return ZERO
        return share(node, self.draft.ledger.granted[node.name]) - self.draft.deserved.shares[node.name]


def below_meeting(queue: TreeNode, other: TreeNode) -> list[TreeNode]:
    """The nodes of a Queue's path below the lowest node that is on the other's path too, the Queue first."""
    shared = set(other.path)
    return [node for node in queue.path if node not in shared]


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


def _amounts(holding: Holding, unit: Unit) -> Cells:
    total: Cells = {}
    for index, flavor, count in unit:
        add(total, of_pods(flavor, holding.workload.pod_sets[index].requests, count))
    return total


def _helps(amounts: Cells, short: Collection[Short]) -> bool:
    """Whether any of it is of what is short; a Queue's limit counts all flavors alike."""
    return any(
        cell == lack.cell or (not lack.cell[0] and cell[1] == lack.cell[1]) for cell in amounts for lack in short
    )
