"""The text of a request body in YAML, read by the rules of Go's library: unlike PyYAML's, no times and no base 60.

PyYAML only tells the events; values are built here, with bounds: a text of a kilobyte can unfold, by aliases, to more
than any machine holds, and one that is all brackets can be deeper than the stack.
"""

from __future__ import annotations

import copy
import math
import re
from typing import Any

from tidegate.local.schema.bodies import UnreadableError, key_count, keys_in, parse_json

_TRUE = frozenset(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE = frozenset(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
_INT = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0(?:[oO][0-7]+|[0-7]*)|0[bB][01]+|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_ENDLESS = re.compile(r"[+-]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MOST_ALIASED = 100_000
_DEEPEST = 200


def parse_yaml(body: bytes) -> tuple[Any, list[str]]:
    """The value of a YAML text, and Go's words for each key that stands more than once in its map."""
    if body.lstrip()[:1] == b"{":
        # JSON is YAML, and is what clients mostly send as such.
        try:
            value = parse_json(body)
        except UnreadableError:
            return _parse_events(body)
        if keys_in(value) == key_count(body):
            return value, []
    return _parse_events(body)


def _parse_events(body: bytes) -> tuple[Any, list[str]]:
    import yaml

    base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        loader = base(body.decode(errors="replace"))
        try:
            builder = _Builder(loader)
            return builder.document(), builder.repeats
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise UnreadableError(f"yaml: {where}{getattr(error, 'problem', None) or error}") from None


class _Builder:
    """The value of the first document in a stream of events."""

    def __init__(self, loader: Any) -> None:
        self._next = loader.get_event
        self._anchors: dict[str, Any] = {}
        self._aliases = 0
        self.repeats: list[str] = []

    def document(self) -> Any:
        """The stream and its document have begun when their first value comes; an empty stream is null."""
        self._next()
        event = self._next()
        return self._value(self._next(), 0) if type(event).__name__ == "DocumentStartEvent" else None

    def _value(self, event: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            raise UnreadableError("yaml: exceeded max depth")
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self._aliased(event.anchor)
        if kind == "ScalarEvent":
            value = yaml_word(event.value) if event.implicit[0] else event.value
        elif kind == "SequenceStartEvent":
            value = self._sequence(depth + 1)
        else:
            value = self._mapping(depth + 1)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _aliased(self, anchor: str) -> Any:
        if anchor not in self._anchors:
            raise UnreadableError(f"yaml: unknown anchor '{anchor}' referenced")
        value = self._anchors[anchor]
        self._aliases += _size(value)
        if self._aliases > _MOST_ALIASED:
            raise UnreadableError("yaml: document contains excessive aliasing")
        return copy.deepcopy(value)

    def _sequence(self, depth: int) -> list[Any]:
        found = []
        while type(event := self._next()).__name__ != "SequenceEndEvent":
            found.append(self._value(event, depth))
        return found

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while type(event := self._next()).__name__ != "MappingEndEvent":
            named = self._value(event, depth)
            merges = named == "<<" and event.implicit[0]
            value = self._value(self._next(), depth)
            if merges:
                for part in value if isinstance(value, list) else [value]:
                    merged = _mergeable(part) | merged
                continue
            key = _key(named)
            if key in found:
                shown = f'"{key}"' if isinstance(named, str) else key
                self.repeats.append(f"line {event.start_mark.line + 1}: key {shown} already set in map")
            found[key] = value
        return merged | found


def _mergeable(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        raise UnreadableError("yaml: map merge requires map or sequence of maps as the value")
    return part


def _size(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(_size(item) for item in inner)


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
    plain = word if word[0] == "." else word.replace("_", "")
    if _INT.fullmatch(plain):
        digits = plain.lstrip("+-")
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
        number = int(digits, 8) if octal else int(digits, 0)
        return -number if plain[0] == "-" else number
    # What is too large for a number is a word again.
    return float(plain) if _FLOAT.fullmatch(plain) and math.isfinite(float(plain)) else word
