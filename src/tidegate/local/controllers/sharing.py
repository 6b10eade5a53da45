"""Keeping one of many equal values: the pods of one owner differ in little, and ten thousand of them fill memory."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

T = TypeVar("T")

_KEPT_MOST = 2048
_kept: dict[tuple[object, bytes], Any] = {}
_encode = msgspec.json.Encoder().encode


def share(owner: msgspec.Struct, *fields: str) -> None:
    """Replaces the value of each field by an equal one met before. For `__post_init__` of frozen structs."""
    for field in fields:
        value = getattr(owner, field)
        if value:
            force_setattr(owner, field, met_before(value, field))


def met_before(value: T, kind: object) -> T:
    """An equal value of that kind, perhaps met before. All are read-only from then on.

    The kind tells apart what looks alike as JSON: a container and the status of one.
    """
    key = (kind, _encode(value))
    kept: T | None = _kept.get(key)
    if kept is not None:
        return kept
    if len(_kept) >= _KEPT_MOST:
        # Forgetting costs only memory, and what is still common comes back at once.
        _kept.clear()
    _kept[key] = value
    return value
