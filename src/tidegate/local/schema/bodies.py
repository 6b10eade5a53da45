"""The text of a request body, parsed: JSON fast, with Go's words when it is none; YAML by the rules of Go's library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec


class UnreadableError(ValueError):
    """The text is not JSON (or YAML) at all."""


class Repeated(dict[str, Any]):
    """An object in whose text some keys stand more than once; the last of each is kept."""

    repeated: list[str]


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


def parse_json_repeats(body: bytes) -> Any:
    """The same value, with every object that has a key more than once as `Repeated`. Slow, for when it matters."""
    return json.loads(body.decode(errors="replace"), object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    kept = Repeated(plain)
    names = [name for name, _ in pairs]
    kept.repeated = [name for name in plain if names.count(name) > 1]
    return kept


_TRUE = frozenset(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE = frozenset(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
_INT = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0(?:[oO][0-7]+|[0-7]*)|0[bB][01]+|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_ENDLESS = re.compile(r"[+-]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# A document that names things by alias may unfold to more than any machine holds.
_MOST_VALUES = 1_000_000


def parse_yaml(body: bytes) -> tuple[Any, list[str]]:
    """The value of a YAML text, and Go's words for each key that stands more than once in its map."""
    import yaml

    base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        loader = base(body.decode(errors="replace"))
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise UnreadableError(f"yaml: {where}{getattr(error, 'problem', None) or error}") from None
    builder = _YamlBuilder()
    return builder.value(node), builder.repeats


class _YamlBuilder:
    """Values from PyYAML's nodes, with Go's idea of what a plain word means (PyYAML has times and base 60)."""

    def __init__(self) -> None:
        self.repeats: list[str] = []
        self.values = 0

    def value(self, node: Any) -> Any:
        self.values += 1
        if self.values > _MOST_VALUES:
            raise UnreadableError("yaml: document contains excessive aliasing")
        if node is None:
            return None
        if node.id == "scalar":
            return yaml_word(node.value) if not node.style else node.value
        if node.id == "sequence":
            return [self.value(item) for item in node.value]
        return self.mapping(node)

    def mapping(self, node: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.id == "scalar" and key_node.value == "<<" and not key_node.style:
                for part in self._merged(value_node):
                    merged = part | merged
                continue
            named = self.value(key_node)
            key = _key(named)
            if key in found:
                shown = f'"{key}"' if isinstance(named, str) else key
                self.repeats.append(f"line {key_node.start_mark.line + 1}: key {shown} already set in map")
            found[key] = self.value(value_node)
        return merged | found

    def _merged(self, node: Any) -> Iterable[dict[str, Any]]:
        parts = node.value if node.id == "sequence" else [node]
        for part in parts:
            if part.id != "mapping":
                raise UnreadableError("yaml: map merge requires map or sequence of maps as the value")
            yield self.mapping(part)


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, dict | list):
        raise UnreadableError("error converting YAML to JSON: unsupported map key")
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def yaml_word(word: str) -> Any:
    """What a word without quotes stands for."""
    if word in _NULL:
        return None
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    if word[0] not in "+-.0123456789":
        return word
    if _ENDLESS.fullmatch(word):
        raise UnreadableError(f"json: unsupported value: {word}")
    plain = word.replace("_", "")
    if _INT.fullmatch(plain):
        digits = plain.lstrip("+-")
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
        number = int(digits, 8) if octal else int(digits, 0)
        return -number if plain[0] == "-" else number
    if _FLOAT.fullmatch(plain):
        return float(plain)
    return word
