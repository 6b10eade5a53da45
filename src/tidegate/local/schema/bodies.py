"""The text of a request body in JSON, parsed fast, with Go's words when it is none."""

from __future__ import annotations

import json
from typing import Any

import msgspec


class UnreadableError(ValueError):
    """The text is not JSON (or YAML) at all."""


class Pairs(list[tuple[str, Any]]):
    """The keys and values of an object as they stand in its text, repeated ones too."""


_decode = msgspec.json.Decoder().decode


def parse_json(body: bytes) -> Any:
    try:
        return _decode(body)
    except msgspec.DecodeError as error:
        return _parse_again(body, str(error))
    except RecursionError:
        raise UnreadableError("exceeded max depth") from None


def _parse_again(body: bytes, said: str) -> Any:
    """Go reads bytes that are not UTF-8 as the replacement character; all else that failed is put in its words."""
    text = body.decode(errors="replace")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(_go_words(text, error)) from None
    except RecursionError:
        raise UnreadableError("exceeded max depth") from None
    if "UTF-8" in said:
        return value
    raise UnreadableError(f"invalid character {said}")


def _go_words(text: str, error: json.JSONDecodeError) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "unexpected end of JSON input"
    letter = text[error.pos]
    shown = {"'": r"'\''", '"': "'\"'"}.get(letter) or f"'{letter.encode('unicode_escape').decode()}'"
    looking = {
        "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
        "Expecting ':' delimiter": "after object key",
        "Expecting ',' delimiter": "after object key:value pair",
        "Extra data": "after top-level value",
        "Invalid control character at": "in string literal",
        "Invalid \\escape": "in string escape code",
    }
    return f"invalid character {shown} {looking.get(error.msg, 'looking for beginning of value')}"


def key_count(body: bytes) -> int:
    """How many keys the text seems to have: quotes followed by a colon, but for quotes inside strings."""
    return body.count(b'":') - body.count(b'\\":')


def keys_in(value: Any) -> int:
    """How many keys all objects inside `value` have, counted as in a text."""
    return key_count(msgspec.json.encode(value)) if value.__class__ in {dict, list} else 0


def parse_json_pairs(body: bytes) -> Any:
    """The same value, with every object as the `Pairs` of its text. Slow, for when it matters."""
    return json.loads(body.decode(errors="replace"), object_pairs_hook=Pairs)
