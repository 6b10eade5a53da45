"""The document of version 2 as protobuf: the one form in which kubectl asks for it, before it takes a `kind: List`.

The numbers are those of gnostic's OpenAPIv2.proto. What a schema has beside its fields are its extensions, as YAML.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tidegate.local.schema.openapi.components import Node

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ASKED_AS = (MEDIA_TYPE, MEDIA_TYPE.replace("v2.v1", "v2@v1"))
"""The name that clients ask by is none that they could read in an answer."""

_TEXTS = {"$ref": 1, "format": 2, "title": 3, "description": 4, "pattern": 13, "discriminator": 26}
_REALS = {"multipleOf": 6, "maximum": 7, "minimum": 9}
_WHOLE = {
    "exclusiveMaximum": 8, "exclusiveMinimum": 10, "maxLength": 11, "minLength": 12, "maxItems": 14, "minItems": 15,
    "uniqueItems": 16, "maxProperties": 17, "minProperties": 18, "readOnly": 27,
}  # fmt: skip
_EXTENSION = 31


def openapi_v2_protobuf(document: Node) -> bytes:
    """A document with definitions, encoded."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    return _text(1, document["swagger"]) + _part(2, info) + _part(8, b"") + _part(9, _named(document["definitions"]))


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    done = bytearray()
    while number > 0x7F:
        done.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*done, number))


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())


def _any(field: int, value: Any) -> bytes:
    return _part(field, _part(2, msgspec.json.encode(value)))


def _named(schemas: Mapping[str, Node]) -> bytes:
    return b"".join(_part(1, _text(1, name) + _part(2, _schema(node))) for name, node in schemas.items())


def _more(value: Any) -> bytes:
    """What additional properties are: of a schema, or any or none."""
    return _varint(2 << 3) + _varint(value) if isinstance(value, bool) else _part(1, _schema(value))


_NESTED: dict[str, tuple[int, Callable[[Any], bytes]]] = {
    "additionalProperties": (21, _more),
    "type": (22, lambda value: b"".join(_text(1, each) for each in ([value] if isinstance(value, str) else value))),
    "items": (23, lambda value: _part(1, _schema(value))),
    "properties": (25, _named),
}


def _schema(node: Node) -> bytes:
    done = []
    for key, value in node.items():
        if key in _TEXTS:
            done.append(_text(_TEXTS[key], value))
        elif key in _REALS:
            done.append(_varint(_REALS[key] << 3 | 1) + struct.pack("<d", value))
        elif key in _WHOLE:
            done.append(_varint(_WHOLE[key] << 3) + _varint(int(value)))
        elif key in _NESTED:
            field, content = _NESTED[key]
            done.append(_part(field, content(value)))
        elif key == "required":
            done += [_text(19, each) for each in value]
        elif key == "enum":
            done += [_any(20, each) for each in value]
        elif key == "allOf":
            done += [_part(24, _schema(each)) for each in value]
        elif key == "default":
            done.append(_any(5, value))
        else:
            done.append(_part(_EXTENSION, _text(1, key) + _any(2, value)))
    return b"".join(done)
