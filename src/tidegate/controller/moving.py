"""Who loses and is given in one write, and which of those wait for which. Pure.

A floor that goes from one flavor to another is written at once, since half of it is nothing. Whoever does so waits for
all who lose what it is given; of others that move nothing is waited for, else two would wait for each other. Where they
really would, because they change places, one of them has to lose first. No order is safe there: a server takes one
object at a time, so between the two writes one of them holds nothing, or both hold the same room. If the operator dies
just then, the first is not admitted, its pods go, and it asks again, at the place in line that it had.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidegate.controller.told.room import Room

_ANY = ""
"""In place of a flavor: all of them, where what is limited is the sum."""


@dataclass(slots=True)
class _Move:
    gains: frozenset[str]
    losses: frozenset[str]
    is_sent: bool = False

    def needs(self, other: _Move) -> bool:
        """Whether it may be given what the other loses."""
        if _ANY in self.gains or _ANY in other.losses:
            return bool(self.gains and other.losses)
        return not self.gains.isdisjoint(other.losses)


@dataclass(slots=True)
class Moves:
    """Writes that are not known to be done, by number."""

    _moves: dict[int, _Move] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._moves)

    def __contains__(self, number: int) -> bool:
        return number in self._moves

    def put(self, number: int, before: Room, after: Room) -> bool:
        """A write that leads from one to the other, in place of any with this number. False: it cannot be one, because
        somebody would wait for themselves; one that gives nothing waits for nobody."""
        self._moves.pop(number, None)
        move = _Move(_grown(before, after), _grown(after, before))
        if move.gains <= {_ANY}:
            return True
        if self._waits_for_itself(move):
            return False
        self._moves[number] = move
        return True

    def _waits_for_itself(self, move: _Move) -> bool:
        waiting = {number: each for number, each in self._moves.items() if not each.is_sent}
        found = [move]
        while found:
            one = found.pop()
            for number in [number for number, each in waiting.items() if one.needs(each)]:
                found.append(waiting.pop(number))
                if found[-1].needs(move):
                    return True
        return False

    def unneeded(self, number: int) -> set[int]:
        """Those for which this one does not wait."""
        move = self._moves.get(number)
        return set() if move is None else {each for each, other in self._moves.items() if not move.needs(other)}

    def sent(self, number: int) -> None:
        """It waits for nobody any more."""
        if number in self._moves:
            self._moves[number].is_sent = True

    def done(self, number: int) -> None:
        """Nobody waits for it any more."""
        self._moves.pop(number, None)

    def keep(self, numbers: Iterable[int]) -> None:
        """Only these are left."""
        self._moves = {number: self._moves[number] for number in numbers if number in self._moves}


def _grown(before: Room, after: Room) -> frozenset[str]:
    """Flavors of which there is more; any, where there are more pods of a set, whatever their flavors."""
    grown: set[str] = set()
    totals: dict[tuple[str, bool], int] = {}
    for cell in {*before, *after}:
        pod_set, flavor, is_free = cell
        more = after.get(cell, 0) - before.get(cell, 0)
        totals[pod_set, is_free] = totals.get((pod_set, is_free), 0) + more
        if more > 0:
            grown.add(flavor)
    return frozenset(grown | ({_ANY} if any(total > 0 for total in totals.values()) else set()))
