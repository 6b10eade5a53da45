"""Bodies in Kubernetes' protobuf (`application/vnd.kubernetes.protobuf`), turned into the object JSON would have given.

A body is four bytes of magic, then an envelope that names the kind, then the object's own message. Messages carry field
numbers only; names and types come from the definitions. Two things have no counterpart in JSON: structs that Go embeds
are messages of their own here, and a scalar that is not a pointer is sent even when it is zero. The second needs no
care: the object goes through the same walk as a JSON body, which leaves zeros out.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.schema.bodies import UnreadableError, parse_json
from tidegate.local.schema.builtin import builtin_kind, builtin_schema
from tidegate.local.schema.decode import Decoded, decode_value, unrecognized
from tidegate.local.schema.definitions import JSON_SCHEMA, GoType, definition, go_type
from tidegate.local.schema.node import Schema
from tidegate.local.schema.readers import zero
from tidegate.local.schema.values import shown_micro_time, shown_time

MAGIC = b"k8s\x00"


class MalformedError(ValueError):
    """The bytes are not a protobuf message."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What stands around the message: the kind it claims to be."""

    api_version: str
    kind: str
    raw: bytes


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


def open_envelope(body: bytes) -> Envelope:
    if not body:
        raise MalformedError("empty data")
    if not body.startswith(MAGIC):
        raise MalformedError(f"provided data does not appear to be a protobuf message, expected prefix {list(MAGIC)}")
    if len(body) == len(MAGIC):
        raise MalformedError("empty body")
    parts = dict(_fields(body[len(MAGIC) :]))
    names = dict(_fields(_bytes(parts.get(1, b""))))
    api_version, kind = (_bytes(names.get(number, b"")).decode(errors="replace") for number in (1, 2))
    return Envelope(api_version, kind, _bytes(parts.get(2, b"")))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise MalformedError("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift >= 64:
            raise MalformedError("proto: integer overflow")


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in order: a number and, by wire type, an int or bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise MalformedError(f"proto: illegal tag {number} (wire type {wire})")
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in {1, 5}:
            size = 8 if wire == 1 else 4
        else:
            raise MalformedError(f"proto: illegal wireType {wire}")
        if at + size > end:
            raise MalformedError("unexpected EOF")
        yield number, data[at : at + size]
        at += size


Convert = Callable[[int | bytes], Any]
Put = Callable[[Object, int | bytes], None]


def _bytes(raw: int | bytes) -> bytes:
    if isinstance(raw, int):
        raise MalformedError("proto: wrong wireType")
    return raw


def _int(raw: int | bytes) -> int:
    if isinstance(raw, bytes):
        raise MalformedError("proto: wrong wireType")
    return raw if raw < 2**63 else raw - 2**64


def _read(name: str, data: bytes) -> Object:
    found: Object = {}
    _read_into(name, data, found)
    return found


def _read_into(name: str, data: bytes, found: Object) -> None:
    table = _table(name)
    for number, raw in _fields(data):
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
    return lambda found, raw: _read_into(name, _bytes(raw), found)


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
            _read_into(goes.name, _bytes(raw), found.setdefault(key, {}))

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
                number, at = _varint(raw, at)
                items.append(convert(number))
            return
        items.append(convert(raw))

    return put


def _put_entry(key: str, held: GoType) -> Put:
    convert = _convert(held)

    def put(found: Object, raw: int | bytes) -> None:
        parts = dict(_fields(_bytes(raw)))
        value = convert(parts[2]) if 2 in parts else zero(held)
        found.setdefault(key, {})[_bytes(parts.get(1, b"")).decode(errors="replace")] = value

    return put


def _convert(goes: GoType) -> Convert:
    """How to turn one raw value of this type into JSON."""
    if goes.shape == "pointer" and goes.of is not None:
        return _convert(goes.of)
    if goes.shape == "struct":
        return lambda raw: _read(goes.name, _bytes(raw))
    if goes.wrapped and goes.of is not None:
        item = _convert(goes.of)
        return lambda raw: [item(each) for _, each in _fields(_bytes(raw))]
    return _CONVERT[goes.name]


def _string(raw: int | bytes) -> str:
    return _bytes(raw).decode(errors="replace")


def _int32(raw: int | bytes) -> int:
    low = _int(raw) & 0xFFFFFFFF
    return low if low < 2**31 else low - 2**32


def _float(raw: int | bytes) -> float:
    data = _bytes(raw)
    if len(data) != 8:
        raise MalformedError("proto: wrong wireType")
    return float(struct.unpack("<d", data)[0])


def _parts(raw: int | bytes) -> dict[int, int | bytes]:
    return dict(_fields(_bytes(raw)))


def _moment(raw: int | bytes) -> datetime | None:
    """A Timestamp. An empty one is Go's zero time; one that no calendar has is refused."""
    parts = _parts(raw)
    if not parts:
        return None
    microseconds = _int(parts.get(2, 0)) // 1000
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=_int(parts.get(1, 0)), microseconds=microseconds)
    except OverflowError:
        raise MalformedError("timestamp out of range") from None


def _time(raw: int | bytes) -> str | None:
    moment = _moment(raw)
    return shown_time(moment) if moment else None


def _micro_time(raw: int | bytes) -> str | None:
    moment = _moment(raw)
    return shown_micro_time(moment) if moment else None


def _int_or_string(raw: int | bytes) -> int | str:
    parts = _parts(raw)
    return _string(parts.get(3, b"")) if _int(parts.get(1, 0)) == 1 else _int32(parts.get(2, 0))


def _raw_json(raw: int | bytes) -> Any:
    """JSON inside a message; a whole protobuf body may stand there instead."""
    text = _bytes(_parts(raw).get(1, b""))
    if text.startswith(MAGIC):
        envelope = open_envelope(text)
        group, _, version = envelope.api_version.rpartition("/")
        name = builtin_kind(group, version, envelope.kind)
        if name is None:
            raise MalformedError(f'no kind "{envelope.kind}" is registered for version "{envelope.api_version}"')
        return _object(text, builtin_schema(name))
    return parse_json(text) if text else None


def _schema_or_bool(raw: int | bytes) -> Any:
    parts = _parts(raw)
    return _read(JSON_SCHEMA, _bytes(parts[2])) if 2 in parts else bool(parts.get(1))


def _schema_or_list(convert: Convert) -> Convert:
    def read(raw: int | bytes) -> Any:
        fields = list(_fields(_bytes(raw)))
        several = [convert(value) for number, value in fields if number == 2]
        alone = [_read(JSON_SCHEMA, _bytes(value)) for number, value in fields if number == 1]
        return several or (alone[0] if alone else None)

    return read


_CONVERT: dict[str, Convert] = {
    "string": _string,
    "bytes": lambda raw: base64.b64encode(_bytes(raw)).decode(),
    "bool": lambda raw: _int(raw) != 0,
    "int32": _int32,
    "int64": _int,
    "float64": _float,
    "Time": _time,
    "MicroTime": _micro_time,
    "Quantity": lambda raw: _string(_parts(raw).get(1, b"")) or "0",
    "IntOrString": _int_or_string,
    "Raw": _raw_json,
    "FieldsV1": _raw_json,
    "JSON": _raw_json,
    "SchemaOrBool": _schema_or_bool,
    "SchemaOrArray": _schema_or_list(lambda raw: _read(JSON_SCHEMA, _bytes(raw))),
    "SchemaOrStrings": _schema_or_list(_string),
}
