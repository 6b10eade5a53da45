"""Making room: taking from others what an ask needs, and no more.

Units are taken until the ask fits, then given back in reverse order as long as it still fits: nothing is taken that is
not needed. If it never fits, everything is put back. Pods on their way out count as room already, so that nothing is
taken twice for one ask. Who may be taken from, and by which rule: `rights`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.line.shapes import Placement
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.hold import Users
from tidegate.scheduler.room.inherited import Inherited
from tidegate.scheduler.room.rights import Rights
from tidegate.scheduler.room.taken import Taken
from tidegate.scheduler.room.victims import Victims
from tidegate.scheduler.room.ways import ways
from tidegate.scheduler.tree.ledger import Ledger, Short

_MOST_WAYS = 4
"""How often other victims are looked for, if the first are not the asker's to take in the end."""


def make_room(ask: Ask, draft: Draft, empty: Ledger, users_to_spare: Callable[[Ask], Users | None]) -> Placement | None:
    """Take what the ask needs and may take, and say where it then fits. Changes nothing unless it fits. Who is to be
    spared is asked when there is somebody to take from: all who run are looked at for that."""
    for placement in ways(ask.row, draft.ledger, empty):
        rights = Rights(ask, draft, placement.need)
        if not rights.any or not empty.fits(ask.queue, placement.need):
            continue
        if draft.ledger.fits(ask.queue, placement.need, held=True):
            # Enough pods are leaving already. What others gave up a moment ago may be claimed; for those that leave
            # anyway everybody waits, instead of taking more.
            if draft.ledger.frees_enough(ask.queue, placement.need):
                return placement
            draft.awaits_leaving[ask.name] = ask.queue, placement.need
            return None
        if not rights.finds_somebody:
            continue
        rights.users = users_to_spare(ask)
        if _take(ask, draft, placement, rights):
            return placement
    return None


def _take(ask: Ask, draft: Draft, placement: Placement, rights: Rights) -> bool:
    """In the order of victims. What its own gave entitled the asker to more of others, and may not be needed once they
    gave theirs: then others come before those, and in the end its own may be enough alone."""
    for _ in range(_MOST_WAYS):
        taken = _taken_of_what_lacks(ask, draft, placement, rights)
        if taken is None and not rights.widened:
            return False  # It is the same without what its own would entitle it to.
        if taken is None:
            break
        spared = len(rights.spared)
        if _keep_what_is_needed(ask, draft, placement, rights, taken):
            return True
        if len(rights.spared) == spared:
            break
        rights.look()
    rights.widens = False
    rights.look()
    own = _taken_of_what_lacks(ask, draft, placement, rights)
    return own is not None and _keep_what_is_needed(ask, draft, placement, rights, own)


def _taken_of_what_lacks(ask: Ask, draft: Draft, placement: Placement, rights: Rights) -> list[Taken] | None:
    """In the order of victims; where that leads nowhere since of one resource nobody may give any more, those that have
    it come first: what was taken before them for the rest may have been what they give anyway."""
    first: set[int] = set()
    while (taken := _taken_in_order(ask, draft, placement, rights, first)) is None:
        stuck = _axes(rights.short)
        if stuck <= first or _axes(draft.ledger.shortfalls(ask.queue, placement.need, held=True)) <= stuck:
            return None
        first |= stuck
        rights.look()
    return taken


def _axes(short: Iterable[Short]) -> set[int]:
    return {axis for lack in short for axis in lack.axes}


def _taken_in_order(
    ask: Ask, draft: Draft, placement: Placement, rights: Rights, first: set[int]
) -> list[Taken] | None:
    """What makes the ask fit, of these axes before others; None, and all put back, if nobody may give enough."""
    ledger, need = draft.ledger, placement.need
    taken: list[Taken] = []
    victims = Victims(draft, rights, needed_by=ask.name)
    while short := list(ledger.shortfalls(ask.queue, need, held=True)):
        # Only who is below the first node that is short helps there; whatever is taken there helps all nodes above.
        node = short[0].node
        here = [lack for lack in short if lack.node is node]
        rights.short = [lack for lack in here if not first.isdisjoint(lack.axes)] or here
        unit = victims.take(min(node, rights.scope, key=ask.queue.path.index), rights.short)
        if unit is None:
            _put_back(taken, draft)
            return None
        taken.append(unit)
        rights.look_again(unit)
    return taken


def _keep_what_is_needed(ask: Ask, draft: Draft, placement: Placement, rights: Rights, taken: list[Taken]) -> bool:
    """Give back, in reverse order, what was not needed in the end."""
    needed, wanted = taken[-1:], (ask.queue, placement.need)
    for unit in reversed(taken[:-1]):
        needed.append(unit)
        if unit.evicts or unit.holding.admitted:
            draft.undo(needed.pop())
            if not draft.ledger.fits(*wanted, held=True):
                needed.append(draft.take_again(unit))
            else:  # It may have been what entitled the asker to more of others.
                rights.look_again(unit)
    inherited = Inherited(draft, ask.name, needed)
    if inherited and inherited.give_back_what_is_not_needed(lambda: draft.ledger.fits(*wanted, held=True)):
        rights.look()
    too_much = [unit for unit in needed if not rights.may_take_of(unit)]
    if not too_much and inherited.is_taken_by_right(rights.permit_again):
        inherited.settle()
        return True
    rights.spared.update((unit.holding, unit.evicts) for unit in too_much[:1])
    inherited.forget()
    return _put_back(needed[::-1], draft)


def _put_back(taken: list[Taken], draft: Draft) -> Literal[False]:
    for undone in reversed(taken):
        draft.undo(undone)
    return False
