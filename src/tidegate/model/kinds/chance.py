"""Numbers that are left to chance: how often something happens, how many, how long. A seed decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from tidegate.model.duration import Duration

_RATE = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?/([smhd])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_OPEN: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}


class Rate:
    """How often on average: "10/m", "0.5/s", "3/h", "2/d". At random, not evenly."""

    __slots__ = ("per_second", "text")
    per_second: Fraction
    text: str

    SCHEMA: ClassVar[dict[str, Any]] = {"type": "string"}

    def __init__(self, text: str, per_second: Fraction) -> None:
        self.text = text
        self.per_second = per_second

    @classmethod
    def parse(cls, raw: object) -> Rate:
        found = _RATE.fullmatch(raw) if isinstance(raw, str) else None
        if not found or not int(found[1] + (found[2] or "")):
            raise ValueError(f'"{raw}" is not a rate; write how often per second, minute, hour or day, e.g. 10/m')
        number = Fraction(int(found[1] + (found[2] or "")), 10 ** len(found[2] or ""))
        return cls(found[0], number / _SECONDS[found[3]])

    def wire(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.per_second == other.per_second if isinstance(other, Rate) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.per_second)

    def __repr__(self) -> str:
        return f"Rate({self.text!r})"


class _Spread:
    """One value, or anything between two."""

    __slots__ = ("least", "mean", "most")
    least: int
    most: int
    mean: int | None
    """Where only an average is given: short ones are frequent, long ones rare."""

    SCHEMA: ClassVar[dict[str, Any]] = _OPEN

    def __init__(self, least: int, most: int, mean: int | None = None) -> None:
        self.least = least
        self.most = most
        self.mean = mean

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Spread):
            return NotImplemented
        return (self.least, self.most, self.mean) == (other.least, other.most, other.mean)

    def __hash__(self) -> int:
        return hash((self.least, self.most, self.mean))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wire()})"

    def wire(self) -> Any:
        raise NotImplementedError


class DurationSpread(_Spread):
    """A duration, a range of them, or an average: `5m`, `{min: 1m, max: 10m}`, `{mean: 5m}`."""

    __slots__ = ()

    @classmethod
    def parse(cls, raw: object) -> DurationSpread:
        if not isinstance(raw, Mapping):
            seconds = Duration.parse(raw).seconds
            return cls(seconds, seconds)
        if raw.keys() == {"mean"}:
            return cls(0, 0, Duration.parse(raw["mean"]).seconds)
        least, most = _ends(raw, "{min: 1m, max: 10m} or {mean: 5m}")
        return cls(*_ordered(Duration.parse(least).seconds, Duration.parse(most).seconds))

    def wire(self) -> Any:
        if self.mean is not None:
            return {"mean": str(Duration(self.mean))}
        if self.least == self.most:
            return str(Duration(self.least))
        return {"min": str(Duration(self.least)), "max": str(Duration(self.most))}


class CountSpread(_Spread):
    """A whole number or a range of them: `4`, `{min: 1, max: 8}`."""

    __slots__ = ()

    @classmethod
    def parse(cls, raw: object) -> CountSpread:
        least: Any = raw
        most: Any = raw
        if isinstance(raw, Mapping):
            least, most = _ends(raw, "{min: 1, max: 8}")
        for one in (least, most):
            if isinstance(one, bool) or not isinstance(one, int) or not 0 <= one <= 1_000_000:
                raise ValueError(f'"{one}" is not a count; write a whole number of 0 or more, or {{min: 1, max: 8}}')
        return cls(*_ordered(least, most))

    def wire(self) -> Any:
        return self.least if self.least == self.most else {"min": self.least, "max": self.most}


def _ends(raw: Mapping[str, Any], example: str) -> tuple[Any, Any]:
    if raw.keys() != {"min", "max"}:
        raise ValueError(f"is not a range; write both ends, {example}")
    return raw["min"], raw["max"]


def _ordered(least: int, most: int) -> tuple[int, int]:
    if least > most:
        raise ValueError("has a min above its max; exchange them")
    return least, most
