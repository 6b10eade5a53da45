"""Readers of values that hold no others: each is checked against the Go type it goes into, and put into its form.

What a walk is, and how it says that a value is wrong, is here as well, since every reader needs that.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from tidegate.local.schema.bodies import keys_in
from tidegate.local.schema.definitions import GoType
from tidegate.local.schema.values import canonical_base64, canonical_quantity

Path = tuple[Any, str | int] | None


class Walk:
    """What one walk finds besides the value."""

    __slots__ = ("keys", "unknown")

    def __init__(self) -> None:
        self.keys = 0
        """Keys of objects met so far: fewer than the text has means that some key is there twice."""
        self.unknown: list[Path] = []


Reader = Callable[[Any, Path, Walk], Any]


class WrongValueError(ValueError):
    """A value that Go could not hold: either of the wrong JSON type for `goes`, or refused with `words`."""

    def __init__(self, value: Any, path: Path, goes: GoType | None, words: str = "") -> None:
        super().__init__(words)
        self.value = value
        self.path = path
        self.goes = goes
        self.words = words


PLAIN: dict[str, type] = {"string": str, "bool": bool}


_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def scalar_reader(goes: GoType) -> Reader:
    if goes.name in PLAIN:
        return _exactly(PLAIN[goes.name], goes)
    if goes.name == "bytes":
        return _bytes_reader(goes)
    if goes.name == "float64":
        return _float_reader(goes)
    least, most = _BOUNDS[goes.name]

    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not int or not least <= value <= most:
            raise WrongValueError(value, path, goes)
        return value

    return read


def _exactly(kind: type, goes: GoType) -> Reader:
    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not kind:
            raise WrongValueError(value, path, goes)
        return value

    return read


def _bytes_reader(goes: GoType) -> Reader:
    read_text = by_text(canonical_base64, goes)

    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not list:
            return read_text(value, path, walk)
        # Bytes are a list to Go, and may be written as one.
        for item in value:
            if item is not None and (item.__class__ is not int or not 0 <= item <= 255):
                raise WrongValueError(item, path, GoType("scalar", "uint8"))
        return base64.b64encode(bytes(item or 0 for item in value)).decode()

    return read


def _float_reader(goes: GoType) -> Reader:
    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is float:
            return int(value) if value.is_integer() and abs(value) < 1e21 else value
        if value.__class__ is not int:
            raise WrongValueError(value, path, goes)
        return value

    return read


STRING = GoType("scalar", "string")


def by_text(canonical: Callable[[str], Any], goes: GoType) -> Reader:
    """A reader for a value that is written as text and has a canonical form."""

    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not str:
            raise WrongValueError(value, path, goes)
        try:
            return canonical(value)
        except ValueError as error:
            raise WrongValueError(value, path, None, str(error)) from None

    return read


def read_quantity(value: Any, path: Path, walk: Walk) -> Any:
    # A bare number is a quantity too; anything else fails as text that is none.
    text = value if value.__class__ is str else repr(value)
    try:
        return canonical_quantity(text)
    except ValueError as error:
        raise WrongValueError(value, path, None, str(error)) from None


def read_int_or_string(value: Any, path: Path, walk: Walk) -> Any:
    if value.__class__ is str:
        return value
    if value.__class__ is not int or not -(2**31) <= value < 2**31:
        raise WrongValueError(value, path, GoType("scalar", "int32"))
    return value


def read_anything(value: Any, path: Path, walk: Walk) -> Any:
    walk.keys += keys_in(value)
    return value
