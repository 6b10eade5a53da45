"""Kubernetes quantities ("500m", "1.5Gi", "2e3") as exact integers.

A quantity is counted in billionths of its unit, so that every amount Kubernetes can express is an int and addition,
comparison and equality are exact. What cannot be expressed is rounded up, as Kubernetes does: who asks for a little
gets a little, not nothing. The notation a user chose (decimal, binary, exponent) is kept for showing and does not count
in comparisons.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NoReturn

Notation = Literal["decimal", "binary", "exponent"]

NANO = 10**9
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_MOST_BINARY = (2**63 - 1) * NANO
_set = object.__setattr__


class QuantityError(ValueError):
    """The text is not a quantity."""

    def __init__(self, text: str) -> None:
        how = "write a number with an optional suffix, e.g. 500m, 2, 1.5Gi or 1e3"
        super().__init__(f'"{text}" is not a quantity; {how}')


class Quantity:
    """An exact, immutable amount. `str()` gives Kubernetes' canonical form.

    A plain class, not a dataclass: the manifest codec must see one value here, not an object with two fields.
    """

    __slots__ = ("nano", "notation")
    nano: int
    notation: Notation

    def __init__(self, nano: int, notation: Notation = "decimal") -> None:
        _set(self, "nano", nano)
        _set(self, "notation", notation)

    @classmethod
    def parse(cls, text: str | int) -> Quantity:
        if isinstance(text, int):
            return cls(text * NANO)
        found = _FORM.fullmatch(text)
        if not found or not (found[2] or found[3]):
            raise QuantityError(text)
        sign, whole, fraction, by_exponent, exponent, suffix = found.groups()
        digits, places = int((whole or "") + (fraction or "")), len(fraction or "")
        notation: Notation = "exponent" if by_exponent else "binary" if (suffix or "").endswith("i") else "decimal"
        if notation == "binary":
            nano = _ceil_div(digits * 1024 ** _BINARY.index(suffix) * NANO, 10**places)
            nano = min(nano, _MOST_BINARY)
            if 0 < nano < NANO:
                notation = "decimal"
        else:
            power = (int(exponent) if exponent else _DECIMAL[suffix or ""]) - places + 9
            if power > 400:  # Beyond any machine; refuse rather than build a number of megabytes.
                raise QuantityError(text)
            nano = digits * 10**power if power >= 0 else _ceil_div(digits, 10 ** min(-power, 400))
        return cls(-nano if sign == "-" else nano, notation)

    @property
    def value(self) -> int:
        """In whole units, rounded up."""
        return _ceil_div(self.nano, NANO)

    @property
    def milli(self) -> int:
        """In thousandths, rounded up."""
        return _ceil_div(self.nano, 10**6)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano + other.nano, self.notation if self.nano else other.notation)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano - other.nano, self.notation if self.nano else other.notation)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.nano * times, self.notation)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nano, self.notation)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __le__(self, other: Quantity) -> bool:
        return self.nano <= other.nano

    def __gt__(self, other: Quantity) -> bool:
        return self.nano > other.nano

    def __ge__(self, other: Quantity) -> bool:
        return self.nano >= other.nano

    def __hash__(self) -> int:
        return hash(self.nano)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a quantity does not change; make a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Quantity, (self.nano, self.notation)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __str__(self) -> str:
        if not self.nano:
            return "0"
        if self.notation == "binary" and abs(self.nano) >= 1024 * NANO and self.nano % NANO == 0:
            return _binary(self.nano // NANO)
        digits, exponent = self.nano, -9
        while digits % 1000 == 0 and (exponent < 18 or self.notation == "exponent"):
            digits, exponent = digits // 1000, exponent + 3
        if self.notation == "exponent":
            return f"{digits}e{exponent}" if exponent else str(digits)
        return f"{digits}{_DECIMAL_SUFFIX[exponent]}"


ZERO = Quantity(0)


def _binary(amount: int) -> str:
    step = 0
    while amount % 1024 == 0 and step < 6:
        amount, step = amount // 1024, step + 1
    return f"{amount}{_BINARY[step]}"


def _ceil_div(a: int, b: int) -> int:
    """Rounds up; Kubernetes rounds away from zero, and signs are handled before this is called."""
    return -(-a // b)
