"""Fit: which flavors the pods of an ask would get, if they fit.

Per pod the first flavor in the queue's order where it stays inside the guarantee, else the first where it can borrow.
Pods of a set go to one flavor together, unless they may be split. Where several pod sets compete for a flavor, a
later one may push an earlier one to its next choice: the search goes back, up to a bound that real gangs do not
reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product

from tidegate.scheduler.amounts import Cells, add, of_pods, plus
from tidegate.scheduler.asks import Ask, Part
from tidegate.scheduler.flavors import Hosting
from tidegate.scheduler.ledger import Ledger

_MOST_TRIES = 512


@dataclass(frozen=True, slots=True)
class Placement:
    """Pods by pod set and flavor, and what they take."""

    pods: tuple[tuple[int, str, int], ...]
    """Index of the pod set, flavor, count."""
    need: Cells


def place(ask: Ask, ledger: Ledger, *, held: bool = False) -> Placement | None:
    """Where all of the ask fits now (or, `held`, once pods on their way out are gone), or None."""
    return _Search(ask, ledger, held).run()


def choices(ask: Ask, ledger: Ledger) -> list[str] | None:
    """The first flavor of every part, as if there were room everywhere; None if some part has none."""
    first = [next(iter(_hosts(part, ask, ledger)), None) for part in ask.parts]
    return None if None in first else [flavor for flavor in first if flavor is not None]


def in_one_flavor_each(ask: Ask, ledger: Ledger) -> list[Placement]:
    """Ways to give every part one flavor, in order of preference, whether or not there is room."""
    options = product(*(_hosts(part, ask, ledger) for part in ask.parts))
    return [placed(ask, flavors) for flavors in islice(options, 16)]


def placed(ask: Ask, flavors: tuple[str, ...] | list[str]) -> Placement:
    """Every part wholly in the flavor given for it."""
    need: Cells = {}
    for part, flavor in zip(ask.parts, flavors, strict=True):
        add(need, of_pods(flavor, part.pod_set.requests, part.count))
    pods = tuple((part.index, flavor, part.count) for part, flavor in zip(ask.parts, flavors, strict=True))
    return Placement(pods, need)


def hosting(ask: Ask, part: Part, ledger: Ledger, flavor: str) -> Hosting:
    """Whether the pods of a part could stand on nodes of a flavor that this queue's tree has at all."""
    capacity = ask.queue.path[-1].capacity
    if any(not capacity.get((flavor, resource)) for resource in part.pod_set.requests):
        return Hosting.NOWHERE
    return ledger.tree.flavors.hosting(flavor, part.pod_set)


def _hosts(part: Part, ask: Ask, ledger: Ledger) -> list[str]:
    flavors = ask.queue.flavors if part.flavor is None else (part.flavor,)
    return [flavor for flavor in flavors if hosting(ask, part, ledger, flavor) is Hosting.YES]


class _Search:
    def __init__(self, ask: Ask, ledger: Ledger, held: bool) -> None:
        self.ask = ask
        self.ledger = ledger
        self.held = held
        self.tries = 0

    def run(self) -> Placement | None:
        found = self._rest(0, {})
        if found is None:
            return None
        pods, need = found
        return Placement(tuple(pods), need)

    def _rest(self, at: int, need: Cells) -> tuple[list[tuple[int, str, int]], Cells] | None:
        """The parts from `at` on, besides what those before them need."""
        if at == len(self.ask.parts):
            return [], need
        part = self.ask.parts[at]
        for flavor in self._ranked(part, need):
            self.tries += 1
            more = plus(need, of_pods(flavor, part.pod_set.requests, part.count))
            if self.tries <= _MOST_TRIES and self._fits(more) and (rest := self._rest(at + 1, more)):
                return [(part.index, flavor, part.count), *rest[0]], rest[1]
        return self._split(at, need) if part.splits and part.count > 1 else None

    def _ranked(self, part: Part, need: Cells) -> list[str]:
        """Its flavors: first those where it stays inside the guarantee."""
        hosts = _hosts(part, self.ask, self.ledger)
        if len(hosts) < 2:
            return hosts
        inside = {flavor for flavor in hosts if self._inside(part, flavor, part.count, need)}
        return sorted(hosts, key=lambda flavor: flavor not in inside)

    def _split(self, at: int, need: Cells) -> tuple[list[tuple[int, str, int]], Cells] | None:
        """Pod by pod over flavors: all that stay inside a guarantee first, then those that borrow."""
        part = self.ask.parts[at]
        counts: dict[str, int] = {}
        left = part.count
        for borrows in (False, True):
            for flavor in _hosts(part, self.ask, self.ledger):
                more = self._most(part, flavor, left, need, borrows)
                if more:
                    counts[flavor] = counts.get(flavor, 0) + more
                    left -= more
                    need = plus(need, of_pods(flavor, part.pod_set.requests, more))
        if left or not (rest := self._rest(at + 1, need)):
            return None
        return [*((part.index, flavor, count) for flavor, count in counts.items()), *rest[0]], rest[1]

    def _most(self, part: Part, flavor: str, most: int, need: Cells, borrows: bool) -> int:
        """How many pods fit into a flavor besides `need`."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            inside = borrows or self._inside(part, flavor, middle, need)
            fits = inside and self._fits(plus(need, of_pods(flavor, part.pod_set.requests, middle)))
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def _inside(self, part: Part, flavor: str, count: int, need: Cells) -> bool:
        pods = of_pods(flavor, part.pod_set.requests, count)
        return self.ledger.inside_guarantee(
            self.ask.queue, {cell: amount + need.get(cell, 0) for cell, amount in pods.items()}
        )

    def _fits(self, need: Cells) -> bool:
        return self.ledger.fits(self.ask.queue, need, held=self.held)
