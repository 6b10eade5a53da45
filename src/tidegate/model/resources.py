"""Amounts of several resources at once, exact and immutable: the arithmetic the scheduler lives on.

An amount is an int of billionths (see `quantity`). A resource that is not named is 0, and a 0 is as good as not named:
equality, hashing and iteration see only what is not 0.

Names and amounts are two parallel tuples, and equal tuples of names are one object. Most amounts that meet in a planner
name the same resources, so adding and comparing them is one pass over two tuples, without looking up a name. For those
that do not (a pod's cpu and memory, a node's cpu, memory and pods), how to line them up is worked out once per pair.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
from functools import lru_cache
from operator import add, ge, itemgetter, sub
from typing import Any, ClassVar, NamedTuple

from tidegate.model.quantity import Quantity, QuantityError

Names = tuple[str, ...]
Amounts = tuple[int, ...]

_ZERO = (0,)
_names: dict[Names, Names] = {}
_BYTES = ("memory", "storage", "ephemeral-storage")

AMOUNT_SCHEMA: dict[str, Any] = {
    "x-kubernetes-int-or-string": True,
    "pattern": r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2}|[numkMGTPE]|[KMGTPE]i)?$",
    "minimum": 0,
    "maxLength": 32,
}


def parse_amount(raw: object) -> Quantity:
    """A quantity as it may stand in a manifest: text or a whole number, never negative."""
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise QuantityError(str(raw))
    quantity = Quantity.parse(raw)
    if quantity.nano < 0:
        raise ValueError(f'"{raw}" is below zero; write an amount of 0 or more')
    return quantity


class Resources(Mapping[str, int]):
    """Resource → amount in billionths. Differences may be negative; what a manifest says may not."""

    __slots__ = ("_amounts", "_hash", "_names")
    _names: Names
    _amounts: Amounts
    _hash: int | None

    SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "object",
        "additionalProperties": AMOUNT_SCHEMA,
        "maxProperties": 64,
    }

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        given = sorted(amounts.items()) if amounts else ()
        self._names = _interned(tuple([name for name, _ in given]))
        self._amounts = tuple([amount for _, amount in given])
        self._hash = None

    @classmethod
    def parse(cls, raw: object) -> Resources:
        """From quantities by resource, as in a manifest: {"cpu": "500m", "memory": "1Gi"}."""
        if not isinstance(raw, Mapping):
            raise ValueError("is not a mapping; write amounts by resource, e.g. {cpu: 500m, memory: 1Gi}")
        # What was read before is not read again; but true and 1.0 are equal to 1, which is an amount, and are none.
        known = all(type(amount) in (str, int) for amount in raw.values())
        return (_parsed if known else _parsed.__wrapped__)(tuple(raw.items()))

    def quantities(self) -> dict[str, str]:
        """In canonical notation, by resource; bytes in powers of two, all else decimal."""
        return {name: str(Quantity(self[name], _notation(name))) for name in self}

    wire = quantities

    def __add__(self, other: Resources) -> Resources:
        if self._names is other._names:
            return _made(self._names, tuple(map(add, self._amounts, other._amounts)))
        return self._pairwise(other, add)

    def __sub__(self, other: Resources) -> Resources:
        if self._names is other._names:
            return _made(self._names, tuple(map(sub, self._amounts, other._amounts)))
        return self._pairwise(other, sub)

    def __mul__(self, times: int) -> Resources:
        return _made(self._names, tuple([amount * times for amount in self._amounts]))

    def upper(self, other: Resources) -> Resources:
        """The larger of the two, resource by resource."""
        return self._pairwise(other, max)

    def lower(self, other: Resources) -> Resources:
        """The smaller of the two, resource by resource."""
        return self._pairwise(other, min)

    def positive(self) -> Resources:
        """Without what is below zero: `(ask - room).positive()` is what is lacking."""
        return _made(self._names, tuple([max(amount, 0) for amount in self._amounts]))

    def only(self, names: frozenset[str]) -> Resources:
        """The amounts of these resources alone."""
        return Resources({name: self[name] for name in self if name in names})

    def covers(self, other: Resources) -> bool:
        """Whether there is at least as much here of every resource."""
        if self._names is other._names:
            return all(map(ge, self._amounts, other._amounts))
        _, mine, theirs = self._aligned(other)
        return all(map(ge, mine, theirs))

    def times_in(self, room: Resources, *, most: int) -> int:
        """How many times this amount fits into `room`, at most `most` times."""
        times = most
        for name, amount in zip(self._names, self._amounts, strict=True):
            if amount > 0:
                times = min(times, room.of(name) // amount)
        return max(times, 0)

    def _pairwise(self, other: Resources, operation: Callable[[int, int], int]) -> Resources:
        names, mine, theirs = self._aligned(other)
        return _made(names, tuple(map(operation, mine, theirs)))

    def _aligned(self, other: Resources) -> tuple[Names, Amounts, Amounts]:
        """Both over the names of both."""
        one, two = self._names, other._names
        how = _alignments.get((id(one), id(two))) or _align(one, two)
        return how.names, how.place_one(self._amounts + _ZERO), how.place_two(other._amounts + _ZERO)

    def of(self, name: str) -> int:
        """The amount; 0 where the resource is not named."""
        names = self._names
        return self._amounts[names.index(name)] if name in names else 0

    def __getitem__(self, name: str) -> int:
        amount = self.of(name)
        if not amount:
            raise KeyError(name)
        return amount

    def __iter__(self) -> Iterator[str]:
        return (name for name, amount in zip(self._names, self._amounts, strict=True) if amount)

    def items(self) -> ItemsView[str, int]:
        """As of every mapping; in one pass, where the general way looks up name by name."""
        return {name: amount for name, amount in zip(self._names, self._amounts, strict=True) if amount}.items()

    def __len__(self) -> int:
        return len(self._amounts) - self._amounts.count(0)

    def __bool__(self) -> bool:
        return any(self._amounts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resources):
            return NotImplemented
        if self._names is other._names:
            return self._amounts == other._amounts
        _, mine, theirs = self._aligned(other)
        return mine == theirs

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Resources({self.quantities()})"


def _made(names: Names, amounts: Amounts) -> Resources:
    made = Resources.__new__(Resources)
    made._names = names
    made._amounts = amounts
    made._hash = None
    return made


def _interned(names: Names) -> Names:
    return _names.setdefault(names, names)


NOTHING = Resources()


class _Alignment(NamedTuple):
    """How to bring amounts over the names `one` and `two` to the names of both. It keeps the two alive, so that their
    ids, by which it is found, stay theirs."""

    one: Names
    two: Names
    names: Names
    place_one: Callable[[Amounts], Amounts]
    place_two: Callable[[Amounts], Amounts]


_alignments: dict[tuple[int, int], _Alignment] = {}
_MOST_ALIGNMENTS = 65536


def _align(one: Names, two: Names) -> _Alignment:
    names = _interned(tuple(sorted({*one, *two})))
    if len(_alignments) >= _MOST_ALIGNMENTS:
        _alignments.clear()
    found = _Alignment(one, two, names, _placing(one, names), _placing(two, names))
    return _alignments.setdefault((id(one), id(two)), found)


def _placing(names: Names, among: Names) -> Callable[[Amounts], Amounts]:
    """Takes amounts with a zero behind them; that zero, at index -1, stands for what is not named."""
    places = [names.index(name) if name in names else -1 for name in among]
    if len(places) > 1:
        return itemgetter(*places)
    return lambda amounts: tuple([amounts[place] for place in places])


@lru_cache(maxsize=4096)
def _parsed(items: tuple[tuple[str, object], ...]) -> Resources:
    """Pods of one shape are many: they share one object, which is parsed once."""
    return Resources({name: parse_amount(raw).nano for name, raw in items})


def _notation(name: str) -> Any:
    return "binary" if name.endswith(_BYTES) or name.startswith("hugepages-") else "decimal"
