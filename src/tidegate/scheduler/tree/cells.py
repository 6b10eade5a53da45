"""Amounts as the inner loops need them: one integer per cell, a cell being a resource of a flavor.

`Resources` and `Flavored` are the words at the border. Inside, nearly every question is about single cells (is this
bound kept, how far is that one exceeded), so the cells of a tree are numbered once, its amounts are lists over these
numbers (*axes*), and what a few pods need is a short tuple of (axis, amount).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tidegate.model.flavored import Flavored
from tidegate.model.resources import Resources

Cell = tuple[str, str]
"""Flavor and resource."""
Cells = dict[Cell, int]
Need = tuple[tuple[int, int], ...]
"""What something takes: (axis, amount), every axis once."""


class Axes:
    """The cells of a tree, numbered."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.cells = tuple(sorted(set(cells)))
        self.number = {cell: axis for axis, cell in enumerate(self.cells)}
        self.resources = tuple(sorted({resource for _, resource in self.cells}))
        places = {resource: place for place, resource in enumerate(self.resources)}
        self.resource = [places[resource] for _, resource in self.cells]
        """Axis → place of its resource."""
        self._pods: dict[tuple[Resources, str], Need] = {}
        self._lists: dict[tuple[int, ...], list[int]] = {}

    def __len__(self) -> int:
        return len(self.cells)

    def vector(self, cells: Mapping[Cell, int], otherwise: int = 0) -> list[int]:
        """One amount per axis; not to be changed."""
        return self.same([cells.get(cell, otherwise) for cell in self.cells])

    def same(self, amounts: list[int]) -> list[int]:
        """One list for all that are equal: of thousands of nodes, that are looked at all the time, few differ."""
        return self._lists.setdefault(tuple(amounts), amounts)

    def pod(self, requests: Resources, flavor: str) -> Need:
        """What one pod takes of a flavor."""
        key = (requests, flavor)
        need = self._pods.get(key)
        if need is None:
            number = self.number
            need = tuple((number[flavor, name], amount) for name, amount in requests.items())
            self._pods[key] = need
        return need

    def pods(self, requests: Resources, flavor: str, count: int) -> Need:
        """What so many pods take of a flavor."""
        need = self.pod(requests, flavor)
        return need if count == 1 else tuple([(axis, amount * count) for axis, amount in need])

    def knows(self, requests: Resources, flavor: str) -> bool:
        """Whether every cell these pods need has a number."""
        return all((flavor, name) in self.number for name in requests)

    def by_resource(self, amounts: Sequence[int]) -> list[int]:
        """Summed over flavors."""
        total = [0] * len(self.resources)
        for axis, amount in enumerate(amounts):
            total[self.resource[axis]] += amount
        return total

    def flavored(self, amounts: Sequence[int]) -> Flavored:
        """The same amounts as a value for statuses and messages."""
        return flavored({cell: amount for cell, amount in zip(self.cells, amounts, strict=True) if amount})


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
