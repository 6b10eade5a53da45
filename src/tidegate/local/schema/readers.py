"""The walk that turns parsed JSON into what Go would hold: types checked, values in canonical form, empties left out.

Kubernetes decodes a body into Go structs and shows those structs, not the body. What a client sees thus depends on Go:
a field whose type is a struct is always there, an empty list with `omitempty` never is, `null` is the same as absent.

One reader per Go type, compiled when a value of that type is first met. A reader changes the freshly parsed value in
place; most fields are strings that need no change and are passed over without a call. A path is a linked pair
(parent, step), built only on the way into something that may fail, and spelled out only when something did.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

from tidegate.local.schema.bodies import keys_in
from tidegate.local.schema.definitions import JSON_SCHEMA, Field, GoType, definition, go_type
from tidegate.local.schema.values import (
    canonical_base64,
    canonical_micro_time,
    canonical_quantity,
    canonical_time,
)

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


@cache
def reader(goes: GoType) -> Reader:
    if goes.shape == "struct":
        return struct_reader(goes.name)
    if goes.of is None:
        return _special_reader(goes) if goes.shape == "special" else _scalar_reader(goes)
    if goes.shape == "pointer":
        return reader(goes.of)
    return _list_reader(goes, goes.of) if goes.shape == "list" else _map_reader(goes, goes.of)


# plain type of a value that needs no look, reader, whether an empty value stays
_Plan = tuple[type | None, Reader, bool]
_PLAIN: dict[str, type] = {"string": str, "bool": bool}


def _plan(field: Field) -> _Plan:
    goes = go_type(field.type)
    inner = goes.of if goes.shape == "pointer" and goes.of else goes
    plain = _PLAIN.get(inner.name) if inner.shape == "scalar" else None
    stays = goes.shape in {"pointer", "struct", "special"} or (goes.name == "bytes" and field.omit == "never")
    return plain, reader(goes), stays


@cache
def struct_reader(name: str) -> Reader:
    plans: dict[str, _Plan] = {}
    always: tuple[tuple[str, GoType], ...] | None = None
    goes = GoType("struct", name)

    def read(value: Any, path: Path, walk: Walk) -> Any:
        nonlocal always
        if always is None:
            fields = definition(name).all_fields()
            plans.update((key, _plan(field)) for key, field in fields.items())
            always = always_shown(name)
        if value.__class__ is not dict:
            raise WrongValueError(value, path, goes)
        walk.keys += len(value)
        gone: list[str] = []
        for key, item in value.items():
            plan = plans.get(key)
            if plan is None:
                walk.unknown.append((path, key))
                walk.keys += keys_in(item)
                gone.append(key)
                continue
            plain, read_item, stays = plan
            if item.__class__ is plain and item:
                continue
            if item is not None:
                fresh = read_item(item, (path, key), walk)
                if fresh or (stays and fresh is not None):
                    if fresh is not item:
                        value[key] = fresh
                    continue
            gone.append(key)
        for key in gone:
            del value[key]
        for key, kind in always:
            if key not in value:
                value[key] = zero(kind)
        return value

    return read


@cache
def always_shown(name: str) -> tuple[tuple[str, GoType], ...]:
    """The fields Go shows whether or not anybody set them."""
    shown = []
    for key, field in definition(name).all_fields().items():
        goes = go_type(field.type)
        # `omitempty` does nothing for a struct, and these special types are structs to Go.
        if field.omit == "never" or (field.omit == "empty" and goes.shape in {"struct", "special"}):
            shown.append((key, goes))
    return tuple(shown)


_ZEROS: dict[str, Any] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "float64": 0,
    "Quantity": "0",
    "IntOrString": 0,
    "SchemaOrBool": False,
}


def zero(goes: GoType) -> Any:
    """What Go shows of a value that nobody set."""
    if goes.shape == "struct":
        return {key: zero(kind) for key, kind in always_shown(goes.name)}
    return _ZEROS.get(goes.name)


def _list_reader(goes: GoType, of: GoType) -> Reader:
    read_item = reader(of)
    plain = _PLAIN.get(of.name) if of.shape == "scalar" else None

    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not list:
            raise WrongValueError(value, path, goes)
        for index, item in enumerate(value):
            if item.__class__ is plain:
                continue
            fresh = zero(of) if item is None else read_item(item, (path, index), walk)
            if fresh is not item:
                value[index] = fresh
        return value

    return read


def _map_reader(goes: GoType, of: GoType) -> Reader:
    read_item = reader(of)
    plain = _PLAIN.get(of.name) if of.shape == "scalar" else None

    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not dict:
            raise WrongValueError(value, path, goes)
        walk.keys += len(value)
        for key, item in value.items():
            if item.__class__ is plain:
                continue
            # The empty list of bytes has a text; other lists that are null stay so.
            nothing = "" if of.name == "bytes" else zero(of)
            fresh = nothing if item is None else read_item(item, (path, key), walk)
            if fresh is not item:
                value[key] = fresh
        return value

    return read


_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def _scalar_reader(goes: GoType) -> Reader:
    if goes.name in _PLAIN:
        return _exactly(_PLAIN[goes.name], goes)
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
    read_text = _by_text(canonical_base64, goes)

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


_STRING = GoType("scalar", "string")


def _by_text(canonical: Callable[[str], Any], goes: GoType) -> Reader:
    """A reader for a value that is written as text and has a canonical form."""

    def read(value: Any, path: Path, walk: Walk) -> Any:
        if value.__class__ is not str:
            raise WrongValueError(value, path, goes)
        try:
            return canonical(value)
        except ValueError as error:
            raise WrongValueError(value, path, None, str(error)) from None

    return read


def _special_reader(goes: GoType) -> Reader:
    texts: dict[str, Callable[[str], Any]] = {
        "Time": canonical_time,
        "MicroTime": canonical_micro_time,
    }
    if goes.name in texts:
        return _by_text(texts[goes.name], _STRING)
    return {
        "Quantity": _read_quantity,
        "IntOrString": _read_int_or_string,
        "SchemaOrBool": _schema_or("bool"),
        "SchemaOrArray": _schema_or("array"),
        "SchemaOrStrings": _schema_or("strings"),
    }.get(goes.name, _read_anything)


def _read_quantity(value: Any, path: Path, walk: Walk) -> Any:
    # A bare number is a quantity too; anything else fails as text that is none.
    text = value if value.__class__ is str else repr(value)
    try:
        return canonical_quantity(text)
    except ValueError as error:
        raise WrongValueError(value, path, None, str(error)) from None


def _read_int_or_string(value: Any, path: Path, walk: Walk) -> Any:
    if value.__class__ is str:
        return value
    if value.__class__ is not int or not -(2**31) <= value < 2**31:
        raise WrongValueError(value, path, GoType("scalar", "int32"))
    return value


def _read_anything(value: Any, path: Path, walk: Walk) -> Any:
    walk.keys += keys_in(value)
    return value


def _schema_or(other: str) -> Reader:
    """The three places where a JSON schema may be something else. Kubernetes does not look for unknown fields below."""

    def read(value: Any, path: Path, walk: Walk) -> Any:
        own = Walk()
        schema = struct_reader(JSON_SCHEMA)
        fresh: Any = None
        if value.__class__ is dict:
            fresh = schema(value, path, own)
        elif other == "bool":
            if value.__class__ is not bool:
                raise WrongValueError(value, path, None, "boolean or JSON schema expected")
            return value
        elif value.__class__ is list and other == "array":
            fresh = [schema(item, path, own) for item in value]
        elif value.__class__ is list:
            fresh = _list_reader(GoType("list", "", _STRING), _STRING)(value, path, own)
        walk.keys += own.keys
        return fresh or None if other != "bool" and not isinstance(fresh, dict) else fresh

    return read
