"""Amounts as the inner loops need them: one integer per cell, a cell being a resource of a flavor.

`Resources` and `Flavored` are the words at the border. Inside, nearly every question is about single cells (is this
bound kept, how far is that one exceeded), so the cells of a tree are numbered once, its amounts are lists over these
numbers (*axes*), and what a few pods need is a short tuple of (axis, amount).

An amount at the border is in billionths. Inside it is counted in *grains* of its resource, of which all that is asked
for and all there is are whole multiples: KiB, thousandths of a core, pieces. Then amounts and shares are small and
several times as fast to count with as large ones, above all compiled; and exact as ever. Who asks for less than a grain
makes it smaller, which happens twice at most and is as if the tree had changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tidegate.model.flavored import Flavored
from tidegate.model.quantity import NANO
from tidegate.model.resources import Resources

Cell = tuple[str, str]
"""Flavor and resource."""
Cells = dict[Cell, int]
Need = tuple[tuple[int, int], ...]
"""What something takes: (axis, amount), every axis once."""


def grain(resource: str, amounts: Iterable[int]) -> int:
    """In which a resource is counted, if these are amounts of it."""
    if "memory" in resource or "storage" in resource or "hugepages" in resource:
        steps = [1024 * NANO, NANO]
    elif resource == "cpu":
        steps = [NANO // 1000]
    else:
        steps = [NANO]
    return next((step for step in steps if not any(amount % step for amount in amounts)), 1)


class Axes:
    """The cells of a tree, numbered."""

    def __init__(self, cells: Iterable[Cell], grains: Mapping[str, int]) -> None:
        """`grains`: by resource."""
        self.cells = tuple(sorted(set(cells)))
        self._grain = grains
        self.grains = [grains[resource] for _, resource in self.cells]
        """By axis."""
        self.number = {cell: axis for axis, cell in enumerate(self.cells)}
        self.resources = tuple(sorted({resource for _, resource in self.cells}))
        places = {resource: place for place, resource in enumerate(self.resources)}
        self.resource = [places[resource] for _, resource in self.cells]
        """Axis → place of its resource."""
        self.resource_grains = [grains[resource] for resource in self.resources]
        self._pods: dict[tuple[Resources, str], Need] = {}
        self._whole: dict[Resources, bool] = {}
        self._lists: dict[tuple[int, ...], list[int]] = {}

    def __len__(self) -> int:
        return len(self.cells)

    def vector(self, cells: Mapping[Cell, int], otherwise: int = 0) -> list[int]:
        """One amount per axis, in grains; not to be changed."""
        cut = zip(self.cells, self.grains, strict=True)
        return self.same([cells[cell] // grain if cell in cells else otherwise for cell, grain in cut])

    def same(self, amounts: list[int]) -> list[int]:
        """One list for all that are equal: of thousands of nodes, that are looked at all the time, few differ."""
        return self._lists.setdefault(tuple(amounts), amounts)

    def pod(self, requests: Resources, flavor: str) -> Need:
        """What one pod takes of a flavor."""
        key = (requests, flavor)
        need = self._pods.get(key)
        if need is None:
            assert self.counts(requests)
            number, grain = self.number, self._grain
            need = tuple((number[flavor, name], amount // grain[name]) for name, amount in requests.items())
            self._pods[key] = need
        return need

    def pods(self, requests: Resources, flavor: str, count: int) -> Need:
        """What so many pods take of a flavor."""
        need = self.pod(requests, flavor)
        return need if count == 1 else tuple([(axis, amount * count) for axis, amount in need])

    def knows(self, requests: Resources, flavor: str) -> bool:
        """Whether every cell these pods need has a number."""
        return all((flavor, name) in self.number for name in requests)

    def counts(self, requests: Resources) -> bool:
        """Whether these amounts are whole grains of what there is."""
        known = self._whole.get(requests)
        if known is None:
            known = self._whole[requests] = not any(
                amount % self._grain.get(name, 1) for name, amount in requests.items()
            )
        return known

    def in_grains(self, resource: str, amount: int) -> int:
        """An amount that is known to be whole."""
        return amount // self._grain.get(resource, 1)

    def by_resource(self, amounts: Sequence[int]) -> list[int]:
        """Summed over flavors."""
        total = [0] * len(self.resources)
        for axis, amount in enumerate(amounts):
            total[self.resource[axis]] += amount
        return total

    def flavored(self, amounts: Sequence[int]) -> Flavored:
        """The same amounts as a value for statuses and messages."""
        there = zip(self.cells, amounts, self.grains, strict=True)
        return flavored({cell: amount * grain for cell, amount, grain in there if amount})


def total(needs: Iterable[Need]) -> Need:
    """Several needs together."""
    amounts: dict[int, int] = {}
    for need in needs:
        for axis, amount in need:
            amounts[axis] = amounts.get(axis, 0) + amount
    return tuple(amounts.items())


def flavored(cells: Mapping[Cell, int]) -> Flavored:
    """Amounts by cell as a value for statuses and messages."""
    by_flavor: dict[str, dict[str, int]] = {}
    for (flavor, resource), amount in cells.items():
        by_flavor.setdefault(flavor, {})[resource] = amount
    return Flavored({flavor: Resources(amounts) for flavor, amounts in by_flavor.items()})
