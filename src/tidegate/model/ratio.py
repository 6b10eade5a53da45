"""Plain decimal numbers ("0.25", "1.5") as exact values: shares, and how far capacity is oversubscribed."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, ClassVar

_FORM = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,9}))?", re.ASCII)
_BILLION = 10**9


class RatioError(ValueError):
    """The text is not a plain decimal number."""

    def __init__(self, text: object) -> None:
        super().__init__(f'"{text}" is not a plain decimal number; write it in quotes with digits only, e.g. "1.5"')


class Ratio(Fraction):
    """An exact number, never negative; written with at most nine decimal places.

    It is a Fraction, so the scheduler computes with it as it is. Only writing it down rounds, to the nearest billionth.
    """

    __slots__ = ()

    SCHEMA: ClassVar[dict[str, Any]] = {
        "x-kubernetes-int-or-string": True,
        "pattern": r"^[0-9]{1,12}(\.[0-9]{1,9})?$",
        "minimum": 0,
        "maxLength": 22,
    }

    @classmethod
    def parse(cls, text: object) -> Ratio:
        if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
            return cls(text)
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if not found:
            raise RatioError(text)
        places = found[2] or ""
        return cls(int(found[1] + places), 10 ** len(places))

    def wire(self) -> str:
        return str(self)

    def __str__(self) -> str:
        billionths = round(self * _BILLION)
        whole, rest = divmod(billionths, _BILLION)
        return f"{whole}.{rest:09}".rstrip("0") if rest else str(whole)
