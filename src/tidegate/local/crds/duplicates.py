"""Fields that a JSON body says twice, which an ordinary reader does not notice."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written: every field in its place, also one said again."""


def duplicate_fields(body: bytes, obj: Any) -> list[str]:
    """Paths of fields said twice in `body`, whose parsed form is `obj`, in the order in which they are said again."""
    # A key said again would have quotes that the parsed form has not, unless an escape there makes up for them.
    if body.count(b'"') == _encode(obj).count(b'"') and rb"\u0022" not in body:
        return []
    found: list[str] = []
    _collect(json.loads(body, object_pairs_hook=_Pairs), "", found)
    return found


def _collect(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, child in value:
            place = f"{path}.{key}" if path else key
            if key in seen and place not in found:
                found.append(place)
            seen.add(key)
            _collect(child, place, found)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            _collect(child, f"{path}[{index}]", found)
