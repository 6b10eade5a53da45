"""Bodies in Kubernetes' protobuf (`application/vnd.kubernetes.protobuf`), turned into the object JSON would have given.

A body is four bytes of magic, then an envelope that names the kind, then the object's own message. Messages carry field
numbers only; names and types come from the definitions. Two things have no counterpart in JSON: structs that Go embeds
are messages of their own here, and a scalar that is not a pointer is sent even when it is zero. The second needs no
care: the object goes through the same walk as a JSON body, which leaves zeros out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.schema.bodies import UnreadableError, parse_json
from tidegate.local.schema.builtin import builtin_kind, builtin_schema
from tidegate.local.schema.decode import Decoded, decode_value, unrecognized
from tidegate.local.schema.definitions import JSON_SCHEMA, GoType, definition, go_type
from tidegate.local.schema.messages import (
    MAGIC,
    MalformedError,
    as_bytes,
    as_float,
    as_int,
    as_int32,
    as_moment,
    as_text,
    fields,
    open_envelope,
    parts_of,
    varint,
)
from tidegate.local.schema.node import Schema
from tidegate.local.schema.readers import zero
from tidegate.local.schema.values import shown_micro_time, shown_time


def decode_protobuf(body: bytes, schema: Schema) -> Decoded:
    """Reads a protobuf body; `schema` is of the kind expected, and is used where the envelope names none of ours."""
    try:
        return decode_value(_object(body, schema), schema)
    except (MalformedError, UnreadableError, RecursionError) as error:
        raise unrecognized(schema.name.rpartition(".")[2], str(error), body) from None


def _object(body: bytes, schema: Schema) -> Object:
    envelope = open_envelope(body)
    name = schema.name
    group, _, version = envelope.api_version.rpartition("/")
    if envelope.kind and envelope.kind != name.rpartition(".")[2]:
        name = builtin_kind(group, version, envelope.kind) or name
    named = {"kind": envelope.kind, "apiVersion": envelope.api_version}
    return {key: value for key, value in named.items() if value} | _read(name, envelope.raw)


Convert = Callable[[int | bytes], Any]
Put = Callable[[Object, int | bytes], None]


def _read(name: str, data: bytes) -> Object:
    found: Object = {}
    _read_into(name, data, found)
    return found


def _read_into(name: str, data: bytes, found: Object) -> None:
    table = _table(name)
    for number, raw in fields(data):
        put = table.get(number)
        if put is not None:
            put(found, raw)


@cache
def _table(name: str) -> dict[int, Put]:
    """How to take each field of a message into the object; fields of an embedded struct go where its parent's go."""
    facts = definition(name)
    table = {field.number: _put(key, go_type(field.type)) for key, field in facts.fields.items() if field.number}
    for inlined in facts.inline:
        table[inlined.number] = _put_inlined(inlined.type)
    return table


def _put_inlined(name: str) -> Put:
    return lambda found, raw: _read_into(name, as_bytes(raw), found)


def _put(key: str, goes: GoType) -> Put:
    held = goes.of
    if goes.shape == "pointer" and held is not None:
        return _put(key, held)
    if goes.shape == "list" and held is not None and not goes.wrapped:
        return _put_item(key, held)
    if goes.shape == "map" and held is not None:
        return _put_entry(key, held)
    if goes.shape == "struct":

        def merge(found: Object, raw: int | bytes) -> None:
            _read_into(goes.name, as_bytes(raw), found.setdefault(key, {}))

        return merge
    convert = _convert(goes)

    def put(found: Object, raw: int | bytes) -> None:
        found[key] = convert(raw)

    return put


def _put_item(key: str, held: GoType) -> Put:
    convert = _convert(held)
    numeric = held.name in {"int32", "int64", "bool"}

    def put(found: Object, raw: int | bytes) -> None:
        items = found.setdefault(key, [])
        if numeric and isinstance(raw, bytes):
            # Packed: the numbers one after the other.
            at = 0
            while at < len(raw):
                number, at = varint(raw, at)
                items.append(convert(number))
            return
        items.append(convert(raw))

    return put


def _put_entry(key: str, held: GoType) -> Put:
    convert = _convert(held)

    def put(found: Object, raw: int | bytes) -> None:
        parts = dict(fields(as_bytes(raw)))
        value = convert(parts[2]) if 2 in parts else zero(held)
        found.setdefault(key, {})[as_bytes(parts.get(1, b"")).decode(errors="replace")] = value

    return put


def _convert(goes: GoType) -> Convert:
    """How to turn one raw value of this type into JSON."""
    if goes.shape == "pointer" and goes.of is not None:
        return _convert(goes.of)
    if goes.shape == "struct":
        return lambda raw: _read(goes.name, as_bytes(raw))
    if goes.wrapped and goes.of is not None:
        item = _convert(goes.of)
        return lambda raw: [item(each) for _, each in fields(as_bytes(raw))]
    return _CONVERT[goes.name]


def _time(raw: int | bytes) -> str | None:
    moment = as_moment(raw)
    return shown_time(moment) if moment else None


def _micro_time(raw: int | bytes) -> str | None:
    moment = as_moment(raw)
    return shown_micro_time(moment) if moment else None


def _int_or_string(raw: int | bytes) -> int | str:
    parts = parts_of(raw)
    return as_text(parts.get(3, b"")) if as_int(parts.get(1, 0)) == 1 else as_int32(parts.get(2, 0))


def _raw_json(raw: int | bytes) -> Any:
    """JSON inside a message; a whole protobuf body may stand there instead."""
    text = as_bytes(parts_of(raw).get(1, b""))
    if text.startswith(MAGIC):
        envelope = open_envelope(text)
        group, _, version = envelope.api_version.rpartition("/")
        name = builtin_kind(group, version, envelope.kind)
        if name is None:
            raise MalformedError(f'no kind "{envelope.kind}" is registered for version "{envelope.api_version}"')
        return _object(text, builtin_schema(name))
    return parse_json(text) if text else None


def _schema_or_bool(raw: int | bytes) -> Any:
    parts = parts_of(raw)
    return _read(JSON_SCHEMA, as_bytes(parts[2])) if 2 in parts else bool(parts.get(1))


def _schema_or_list(convert: Convert) -> Convert:
    def read(raw: int | bytes) -> Any:
        found = list(fields(as_bytes(raw)))
        several = [convert(value) for number, value in found if number == 2]
        alone = [_read(JSON_SCHEMA, as_bytes(value)) for number, value in found if number == 1]
        return several or (alone[0] if alone else None)

    return read


_CONVERT: dict[str, Convert] = {
    "string": as_text,
    "bytes": lambda raw: base64.b64encode(as_bytes(raw)).decode(),
    "bool": lambda raw: as_int(raw) != 0,
    "int32": as_int32,
    "int64": as_int,
    "float64": as_float,
    "Time": _time,
    "MicroTime": _micro_time,
    "Quantity": lambda raw: as_text(parts_of(raw).get(1, b"")) or "0",
    "IntOrString": _int_or_string,
    "Raw": _raw_json,
    "FieldsV1": _raw_json,
    "JSON": _raw_json,
    "SchemaOrBool": _schema_or_bool,
    "SchemaOrArray": _schema_or_list(lambda raw: _read(JSON_SCHEMA, as_bytes(raw))),
    "SchemaOrStrings": _schema_or_list(as_text),
}
