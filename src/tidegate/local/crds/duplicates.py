"""Fields that a JSON body says twice, which an ordinary reader does not notice."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


class _Twice(dict[str, Any]):
    """An object that remembers which of its fields were said more than once."""

    twice: tuple[str, ...] = ()


def duplicate_fields(body: bytes, obj: Any) -> list[str]:
    """Paths of fields said twice in `body`, whose parsed form is `obj`, in order of appearance."""
    # A body as long as its own shortest form can hold nothing twice; clients send that form nearly always.
    if len(body.rstrip()) <= len(_encode(obj)):
        return []
    found: list[str] = []
    _collect(json.loads(body, object_pairs_hook=_noted), "", found)
    return found


def _noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = _Twice(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        made.twice = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return made


def _collect(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, _Twice):
        found += [f"{path}.{key}" if path else key for key in value.twice]
        for key, child in value.items():
            _collect(child, f"{path}.{key}" if path else key, found)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            _collect(child, f"{path}[{index}]", found)
