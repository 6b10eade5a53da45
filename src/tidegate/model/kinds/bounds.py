"""Expected numbers: one value, or anything between two. `3`, `"500m"`, `{min: 1, max: 3}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from tidegate.model.duration import Duration
from tidegate.model.ratio import Ratio
from tidegate.model.resources import parse_amount

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Between(Generic[T]):
    """At least `least` and at most `most`, where they are given."""

    least: T | None
    most: T | None

    def holds(self, value: T) -> bool:
        return (self.least is None or not value < self.least) and (self.most is None or not self.most < value)  # type: ignore[operator]


class Bound:
    """A value or a range in a manifest. Subclasses say how one value is read and written."""

    __slots__ = ("between",)
    between: Between[Any]

    SCHEMA: ClassVar[dict[str, Any]] = {"x-kubernetes-preserve-unknown-fields": True}

    def __init__(self, between: Between[Any]) -> None:
        self.between = between

    @classmethod
    def parse(cls, raw: object) -> Any:
        if not isinstance(raw, Mapping):
            value = cls.one(raw)
            return cls(Between(value, value))
        if not raw or raw.keys() - {"min", "max"}:
            raise ValueError("is not a bound; write a number, or a range as {min: 1, max: 3}")
        least, most = (cls.one(raw[end]) if end in raw else None for end in ("min", "max"))
        if least is not None and most is not None and most < least:
            raise ValueError("has a min above its max; exchange them")
        return cls(Between(least, most))

    @staticmethod
    def one(raw: object, /) -> Any:
        """One value as it stands in a manifest."""
        raise NotImplementedError

    @staticmethod
    def shown(value: Any) -> Any:
        """One value as it is written."""
        return str(value)

    def wire(self) -> Any:
        between = self.between
        if between.least == between.most:
            return self.shown(between.least)
        ends = {"min": between.least, "max": between.most}
        return {end: self.shown(value) for end, value in ends.items() if value is not None}

    def holds(self, value: Any) -> bool:
        """Whether a value is as expected."""
        return self.between.holds(value)

    def __eq__(self, other: object) -> bool:
        return self.between == other.between if isinstance(other, Bound) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.between)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wire()})"


class CountBound(Bound):
    """Of whole numbers."""

    __slots__ = ()

    @staticmethod
    def one(raw: object, /) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
            raise ValueError(
                f'"{raw}" is not a count; write a whole number of 0 or more, or a range {{min: 1, max: 3}}'
            )
        return raw

    @staticmethod
    def shown(value: Any) -> Any:
        return value


class AmountBound(Bound):
    """Of quantities."""

    __slots__ = ()
    one = staticmethod(parse_amount)


class RatioBound(Bound):
    """Of plain decimal numbers."""

    __slots__ = ()
    one = staticmethod(Ratio.parse)


class TimeBound(Bound):
    """Of durations since the beginning."""

    __slots__ = ()
    one = staticmethod(Duration.parse)


class GrantedBound:
    """Expected pods of one pod set: in all, or by flavor."""

    __slots__ = ("by_flavor", "in_all")
    in_all: CountBound | None
    by_flavor: Mapping[str, CountBound]

    SCHEMA: ClassVar[dict[str, Any]] = {"x-kubernetes-preserve-unknown-fields": True}

    def __init__(self, in_all: CountBound | None, by_flavor: Mapping[str, CountBound]) -> None:
        self.in_all = in_all
        self.by_flavor = by_flavor

    @classmethod
    def parse(cls, raw: object) -> GrantedBound:
        # A range and counts by flavor look alike; no flavor can be told from a bound if it is called min or max.
        if isinstance(raw, Mapping) and raw and not raw.keys() <= {"min", "max"}:
            return cls(None, {flavor: CountBound.parse(count) for flavor, count in raw.items()})
        return cls(CountBound.parse(raw), {})

    def wire(self) -> Any:
        if self.in_all is not None:
            return self.in_all.wire()
        return {flavor: count.wire() for flavor, count in self.by_flavor.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GrantedBound):
            return NotImplemented
        return (self.in_all, self.by_flavor) == (other.in_all, other.by_flavor)

    def __hash__(self) -> int:
        return hash((self.in_all, tuple(sorted(self.by_flavor))))

    def __repr__(self) -> str:
        return f"GrantedBound({self.wire()})"
