"""What a workload gets and loses again in one plan it never had.

Others gave it for somebody who then lost it to an ask. What the ask does not need of that goes back to them; what it
needs it must have a right to take from them itself, as if nobody had stood in between. Where it has none, neither the
ask nor who stood in between may have it: the one could not take it, and the other not keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.taken import Taken
from tidegate.scheduler.tree.node import TreeNode

Permit = Callable[[Taken], Rule | None]


class Inherited:
    """What others gave for those whom an ask takes from."""

    def __init__(self, draft: Draft, needed_by: str, units: Iterable[Taken]) -> None:
        self._draft = draft
        self._from = {
            other: unit
            for unit in units
            for other in unit.inherits
            if other in draft.taken and other.holding.workload.name != needed_by and other.holding is not unit.holding
        }
        self._returned: list[Taken] = []

    def __bool__(self) -> bool:
        return bool(self._from)

    def give_back_what_is_not_needed(self, fits: Callable[[], bool]) -> list[TreeNode]:
        """As long as the ask still fits, the last to give coming first; the Queues that have theirs again."""
        for other in sorted(self._from, key=list(self._draft.taken).index, reverse=True):
            queue = other.holding.queue
            if queue is None or not _may_return(other):
                continue
            before = self._draft.ledger.crowding(queue)
            self._draft.put_back(other.holding, other.pods)
            if fits() and not self._draft.ledger.is_crowded(queue, before):
                self._returned.append(other)
            else:
                self._give_up(other)
        return [other.holding.queue for other in self._returned if other.holding.queue is not None]

    def is_taken_by_right(self, permit: Permit) -> bool:
        """Whether the ask may take the rest itself; then it does, by its own rule."""
        kept = [other for other in self._from if other not in self._returned]
        for other in kept:
            self._draft.put_back(other.holding, other.pods)
        rules: dict[Taken, Rule | None] = {}
        for other in kept:
            rules[other] = permit(other)
            self._give_up(other)
        if None in rules.values():
            return False
        for other, rule in rules.items():
            other.rule = rule or other.rule
        return True

    def settle(self) -> None:
        """The ask is granted: what was not needed is given back for good."""
        for other in self._returned:
            self._give_up(other)
            self._draft.undo(other)
            self._draft.returned[other.holding] = None

    def forget(self) -> None:
        """It is not: everybody has what they had; but who stood in between has it in vain."""
        for other in reversed(self._returned):
            self._give_up(other)
        for unit in self._from.values():
            self._draft.in_vain[unit.holding] = unit.evicts or self._draft.in_vain.get(unit.holding, False)

    def _give_up(self, other: Taken) -> None:
        pods = [(some.index, some.flavor, some.count) for some in other.pods]
        other.pods = self._draft.give_up(other.holding, pods)


def _may_return(taken: Taken) -> bool:
    """Whether its holder has not been given something else instead."""
    holding = taken.holding
    if holding.admitted is taken.evicts:
        return False
    for index, pod_set in enumerate(holding.workload.pod_sets):
        lost = {some.flavor: some.count for some in taken.pods if some.index == index}
        has = {flavor for flavor, count in holding.granted[index].items() if count}
        count = holding.count(index) + sum(lost.values())
        if count > pod_set.wanted or (lost and (holding.odd(index, count) or (not pod_set.mixes and has - {*lost}))):
            return False
    return True
