"""Amounts by flavor and resource: what a queue deserves, holds and uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from tidegate.model.resources import NOTHING, Resources


class Flavored(Mapping[str, Resources]):
    """Flavor → Resources, immutable. As with Resources, what is 0 is as good as not named."""

    __slots__ = ("_by_flavor",)
    _by_flavor: dict[str, Resources]

    SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "object",
        "additionalProperties": Resources.SCHEMA,
        "maxProperties": 64,
    }

    def __init__(self, by_flavor: Mapping[str, Resources] | None = None) -> None:
        self._by_flavor = {flavor: amounts for flavor, amounts in sorted((by_flavor or {}).items()) if amounts}

    @classmethod
    def parse(cls, raw: object) -> Flavored:
        if not isinstance(raw, Mapping):
            raise ValueError("is not a mapping; write amounts by flavor, e.g. {default: {cpu: 500m}}")
        return cls({flavor: Resources.parse(amounts) for flavor, amounts in raw.items()})

    def wire(self) -> dict[str, dict[str, str]]:
        return {flavor: amounts.quantities() for flavor, amounts in self._by_flavor.items()}

    def of(self, flavor: str) -> Resources:
        """What there is of one flavor; nothing where it is not named."""
        return self._by_flavor.get(flavor, NOTHING)

    def total(self) -> Resources:
        """Summed over flavors."""
        return sum(self._by_flavor.values(), NOTHING)

    def __add__(self, other: Flavored) -> Flavored:
        return Flavored({flavor: self.of(flavor) + other.of(flavor) for flavor in {*self, *other}})

    def __sub__(self, other: Flavored) -> Flavored:
        return Flavored({flavor: self.of(flavor) - other.of(flavor) for flavor in {*self, *other}})

    def positive(self) -> Flavored:
        """Without what is below zero."""
        return Flavored({flavor: amounts.positive() for flavor, amounts in self._by_flavor.items()})

    def covers(self, other: Flavored) -> bool:
        """Whether there is at least as much here of every resource of every flavor."""
        return all(self.of(flavor).covers(other.of(flavor)) for flavor in {*self, *other})

    def __getitem__(self, flavor: str) -> Resources:
        return self._by_flavor[flavor]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_flavor)

    def __len__(self) -> int:
        return len(self._by_flavor)

    def __eq__(self, other: object) -> bool:
        return self._by_flavor == other._by_flavor if isinstance(other, Flavored) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._by_flavor.items()))

    def __repr__(self) -> str:
        return f"Flavored({self.wire()})"


NO_AMOUNTS = Flavored()
