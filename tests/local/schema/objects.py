"""Objects of Kubernetes' own kinds for Hypothesis, in the form Go would show them, and their protobuf."""

from __future__ import annotations

import base64
import json
import struct
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tidegate.local.schema.definitions import JSON_SCHEMA, GoType, definition, go_type
from tidegate.local.schema.readers import always_shown, zero

_MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1))
_LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=5),
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.sampled_from([0, 1, 2.5, -3]),
    "bytes": st.binary(max_size=4).map(lambda raw: base64.b64encode(raw).decode()),
    "Time": _MOMENTS.map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ")),
    "MicroTime": _MOMENTS.map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
    "Quantity": st.sampled_from(["0", "1", "500m", "1Gi", "1500Mi", "2e3", "3k"]),
    "IntOrString": st.one_of(st.integers(0, 99), st.text(max_size=4)),
    "Raw": st.just({"kind": "X", "n": [1, None, 2.5]}),
    "JSON": st.sampled_from([1, "x", [True], {"a": 1}]),
    "FieldsV1": st.just({"f:spec": {}}),
    "SchemaOrBool": st.sampled_from([True, False, {"type": "string"}]),
    "SchemaOrArray": st.sampled_from([{"type": "string"}, [{"type": "string"}, {"nullable": True}]]),
    "SchemaOrStrings": st.sampled_from([{"type": "string"}, ["a", "b"]]),
}


def values(goes: GoType, depth: int) -> st.SearchStrategy[Any]:
    if goes.shape == "struct":
        return structs(goes.name, depth - 1)
    if goes.of is None:
        return _LEAVES[goes.name]
    held = values(goes.of, depth)
    if goes.shape == "pointer":
        return held
    if goes.shape == "list":
        return st.lists(held, min_size=1, max_size=2)
    return st.dictionaries(st.text(max_size=3), held, min_size=1, max_size=2)


def structs(name: str, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of a definition with a few fields set; below `depth` only what is always shown."""
    return st.deferred(lambda: _structs(name, depth))


@st.composite
def _structs(draw: st.DrawFn, name: str, depth: int) -> dict[str, Any]:
    # A kind inside an object is not part of its protobuf, so no object here has one.
    fields = {key: field for key, field in definition(name).all_fields().items() if field.number}
    found = {key: zero(goes) for key, goes in always_shown(name)}
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True)) if fields and depth > 0 else []
    for key in chosen:
        goes = go_type(fields[key].type)
        value = draw(values(goes, depth))
        if value or goes.shape in {"pointer", "struct", "special"}:
            found[key] = value
    return found


def encoded(name: str, value: dict[str, Any]) -> bytes:
    """The message Go would write: fields by number, embedded structs as messages of their own."""
    facts = definition(name)
    out = b""
    for key, field in facts.fields.items():
        if field.number and value.get(key) is not None:
            out += _field(field.number, go_type(field.type), value[key])
    for inlined in facts.inline:
        out += _bytes(inlined.number, encoded(inlined.type, value))
    return out


def _field(number: int, goes: GoType, value: Any) -> bytes:
    held = goes.of
    if held is not None and goes.shape == "pointer":
        return _field(number, held, value)
    if held is not None and goes.shape == "list" and not goes.wrapped:
        return b"".join(_field(number, held, item) for item in value)
    if held is not None and goes.shape == "map":
        entries = [_bytes(1, key.encode()) + _field(2, held, item) for key, item in value.items()]
        return b"".join(_bytes(number, entry) for entry in entries)
    if goes.name in {"int32", "int64", "bool"}:
        return _varint(number << 3) + _varint(int(value) & 0xFFFFFFFFFFFFFFFF)
    if goes.name == "float64":
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    return _bytes(number, _payload(goes, value))


def _payload(goes: GoType, value: Any) -> bytes:
    if goes.shape == "struct":
        return encoded(goes.name, value)
    if goes.wrapped:
        return b"".join(_bytes(1, item.encode()) for item in value)
    if goes.name in {"string", "bytes"}:
        return base64.b64decode(value) if goes.name == "bytes" else value.encode()
    if goes.name in {"Time", "MicroTime"}:
        moment = datetime.fromisoformat(value).astimezone(UTC)
        return _varint(1 << 3) + _varint(int(moment.timestamp())) + _varint(2 << 3) + _varint(moment.microsecond * 1000)
    if goes.name == "IntOrString":
        as_text = isinstance(value, str)
        return (
            _varint(1 << 3)
            + _varint(int(as_text))
            + (_bytes(3, value.encode()) if as_text else _varint(2 << 3) + _varint(value))
        )
    if goes.name == "Quantity":
        return _bytes(1, value.encode())
    if not goes.name.startswith("Schema"):
        return _bytes(1, json.dumps(value).encode())
    return _schema_payload(goes, value)


def _schema_payload(goes: GoType, value: Any) -> bytes:
    schema = GoType("struct", JSON_SCHEMA)
    if goes.name == "SchemaOrBool":
        own = _bytes(2, _payload(schema, value)) if isinstance(value, dict) else b""
        return _varint(1 << 3) + _varint(int(bool(value))) + own
    if isinstance(value, dict):
        return _bytes(1, _payload(schema, value))
    return b"".join(_bytes(2, item.encode() if isinstance(item, str) else _payload(schema, item)) for item in value)


def _bytes(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
