"""Fit: which flavors the pods of an ask would get, if they fit.

Per pod the first flavor in the queue's order where it stays inside the guarantee, else the first where it can borrow.
Pods of a set go to one flavor together, unless they may be split. Where several pod sets compete for a flavor, a
later one may push an earlier one to its next choice: the search goes back, up to a bound that real gangs do not
reach.
"""

from __future__ import annotations

from itertools import islice, product

from tidegate.scheduler.line.asks import Row
from tidegate.scheduler.line.shapes import Part, Placement
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.ledger import Ledger

_MOST_TRIES = 512
MOST_CHOICES = 16


def place(row: Row, ledger: Ledger, *, held: bool = False) -> Placement | None:
    """Where all of an ask fits now (or, `held`, once pods on their way out are gone), or None."""
    only = row.only
    if only is not None:
        return only if ledger.fits(row.queue, only.need, held=held) else None
    if row.shape.whole:
        found = _in_one_flavor(row, ledger, held)
        if found is not None or not row.kind.parts[0].splits:
            return found
    return _Search(row, ledger, held).run()


def _in_one_flavor(row: Row, ledger: Ledger, held: bool) -> Placement | None:
    """Where all of a single part fits: what the search below would find, without searching."""
    borrows = None
    for placement in row.shape.whole:
        if ledger.fits(row.queue, placement.need, held=held):
            if ledger.inside_guarantee(row.queue, placement.need):
                return placement
            borrows = borrows or placement
    return borrows


def in_one_flavor_each(row: Row) -> list[Placement]:
    """Ways to give every part one flavor, in order of preference, whether or not there is room."""
    if row.only is not None:
        return [row.only]
    if row.shape.whole:
        return row.shape.whole
    ways = product(*(tuple(flavor for flavor, _ in options) for options in row.shape.hosts))
    return [row.shape.placed(flavors) for flavors in islice(ways, MOST_CHOICES)]


class _Search:
    def __init__(self, row: Row, ledger: Ledger, held: bool) -> None:
        self.row = row
        self.ledger = ledger
        self.held = held
        self.tries = 0

    def run(self) -> Placement | None:
        found = self._rest(0, ())
        if found is None:
            return None
        pods, need = found
        return Placement(tuple(pods), need)

    def _rest(self, at: int, need: Need) -> tuple[list[tuple[int, str, int]], Need] | None:
        """The parts from `at` on, besides what those before them need."""
        if at == len(self.row.kind.parts):
            return [], need
        part = self.row.kind.parts[at]
        for flavor, own in self._ranked(at, need):
            self.tries += 1
            more = total((need, own))
            if self.tries <= _MOST_TRIES and self._fits(more) and (rest := self._rest(at + 1, more)):
                return [(part.pod_set, flavor, part.pods), *rest[0]], rest[1]
        return self._split(at, need) if part.splits and part.pods > 1 else None

    def _ranked(self, at: int, need: Need) -> list[tuple[str, Need]]:
        """A part's flavors: first those where it stays inside the guarantee."""
        options = self.row.shape.hosts[at]
        if len(options) < 2:
            return list(options)
        return sorted(options, key=lambda option: not self._inside(option[1], need))

    def _split(self, at: int, need: Need) -> tuple[list[tuple[int, str, int]], Need] | None:
        """Pod by pod over flavors: all that stay inside a guarantee first, then those that borrow."""
        part = self.row.kind.parts[at]
        counts: dict[str, int] = {}
        left = part.pods
        for borrows in (False, True):
            for flavor, _ in self.row.shape.hosts[at]:
                more = self._most(part, flavor, left, need, borrows)
                if more:
                    counts[flavor] = counts.get(flavor, 0) + more
                    left -= more
                    need = total((need, self._pods(part, flavor, more)))
        if left or not (rest := self._rest(at + 1, need)):
            return None
        return [*((part.pod_set, flavor, count) for flavor, count in counts.items()), *rest[0]], rest[1]

    def _most(self, part: Part, flavor: str, most: int, need: Need, borrows: bool) -> int:
        """How many pods fit into a flavor besides `need`."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            own = self._pods(part, flavor, middle)
            fits = (borrows or self._inside(own, need)) and self._fits(total((need, own)))
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def _pods(self, part: Part, flavor: str, count: int) -> Need:
        return self.row.queue.axes.pods(part.requests, flavor, count)

    def _inside(self, own: Need, need: Need) -> bool:
        before = dict(need)
        together = tuple((axis, amount + before.get(axis, 0)) for axis, amount in own)
        return self.ledger.inside_guarantee(self.row.queue, together)

    def _fits(self, need: Need) -> bool:
        return self.ledger.fits(self.row.queue, need, held=self.held)
