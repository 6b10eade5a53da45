"""Amounts as the inner loops need them: one integer per cell, a cell being a resource of a flavor.

`Resources` and `Flavored` are the words at the border; inside, nearly every question is about single cells (is this
limit kept, how far is that one exceeded), and a dict of integers answers it without building a value in between.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.flavored import Flavored
from tidegate.model.resources import Resources

Cell = tuple[str, str]
"""Flavor and resource."""
Cells = dict[Cell, int]


def of_pods(flavor: str, requests: Resources, count: int) -> Cells:
    """What so many pods take of a flavor."""
    return {(flavor, name): amount * count for name, amount in requests.items()} if count else {}


def add(into: Cells, more: Mapping[Cell, int], times: int = 1) -> None:
    """Change `into`; what becomes 0 is forgotten, so that equal amounts are equal dicts."""
    for cell, amount in more.items():
        total = into.get(cell, 0) + amount * times
        if total:
            into[cell] = total
        else:
            into.pop(cell, None)


def plus(one: Mapping[Cell, int], two: Mapping[Cell, int]) -> Cells:
    """The sum."""
    total = dict(one)
    add(total, two)
    return total


def over_flavors(cells: Mapping[Cell, int]) -> dict[str, int]:
    """Summed by resource."""
    total: dict[str, int] = {}
    for (_, resource), amount in cells.items():
        total[resource] = total.get(resource, 0) + amount
    return total


def flavored(cells: Mapping[Cell, int]) -> Flavored:
    """The same amounts as a value for statuses and messages."""
    by_flavor: dict[str, dict[str, int]] = {}
    for (flavor, resource), amount in cells.items():
        by_flavor.setdefault(flavor, {})[resource] = amount
    return Flavored({flavor: Resources(amounts) for flavor, amounts in by_flavor.items()})
