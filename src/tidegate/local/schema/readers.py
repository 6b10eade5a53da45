"""The walk that turns parsed JSON into what Go would hold: types checked, values in canonical form, empties left out.

Kubernetes decodes a body into Go structs and shows those structs, not the body. What a client sees thus depends on Go:
a field whose type is a struct is always there, an empty list with `omitempty` never is, `null` is the same as absent.

One reader per Go type, compiled when a value of that type is first met. A reader changes the freshly parsed value in
place; most fields are strings that need no change and are passed over without a call. A path is a linked pair
(parent, step), built only on the way into something that may fail, and spelled out only when something did.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tidegate.local.schema.bodies import keys_in
from tidegate.local.schema.definitions import JSON_SCHEMA, Field, GoType, definition, go_type
from tidegate.local.schema.scalars import (
    PLAIN,
    STRING,
    Path,
    Reader,
    Walk,
    WrongValueError,
    by_text,
    read_anything,
    read_int_or_string,
    read_quantity,
    scalar_reader,
)
from tidegate.local.schema.values import canonical_micro_time, canonical_time


@cache
def reader(goes: GoType) -> Reader:
    if goes.shape == "struct":
        return struct_reader(goes.name)
    if goes.of is None:
        return _special_reader(goes) if goes.shape == "special" else scalar_reader(goes)
    if goes.shape == "pointer":
        return reader(goes.of)
    return _list_reader(goes, goes.of) if goes.shape == "list" else _map_reader(goes, goes.of)


# plain type of a value that needs no look, reader, whether an empty value stays
_Plan = tuple[type | None, Reader, bool]


def _plan(field: Field) -> _Plan:
    goes = go_type(field.type)
    inner = goes.of if goes.shape == "pointer" and goes.of else goes
    plain = PLAIN.get(inner.name) if inner.shape == "scalar" else None
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
    plain = PLAIN.get(of.name) if of.shape == "scalar" else None

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
    plain = PLAIN.get(of.name) if of.shape == "scalar" else None

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


def _special_reader(goes: GoType) -> Reader:
    texts: dict[str, Callable[[str], Any]] = {
        "Time": canonical_time,
        "MicroTime": canonical_micro_time,
    }
    if goes.name in texts:
        return by_text(texts[goes.name], STRING)
    return {
        "Quantity": read_quantity,
        "IntOrString": read_int_or_string,
        "SchemaOrBool": _schema_or("bool"),
        "SchemaOrArray": _schema_or("array"),
        "SchemaOrStrings": _schema_or("strings"),
    }.get(goes.name, read_anything)


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
            fresh = _list_reader(GoType("list", "", STRING), STRING)(value, path, own)
        walk.keys += own.keys
        return fresh or None if other != "bool" and not isinstance(fresh, dict) else fresh

    return read
