"""What turns one JSON value into another, as operations of JSON Patch (RFC 6902)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def changes(old: Any, new: Any, at: str = "") -> Iterator[dict[str, Any]]:
    """Operations that make `new` of `old`, in order. Lists of another length are replaced whole."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old:
            if key not in new:
                yield {"op": "remove", "path": f"{at}/{_escaped(key)}"}
        for key, value in new.items():
            path = f"{at}/{_escaped(key)}"
            if key not in old:
                yield {"op": "add", "path": path, "value": value}
            else:
                yield from changes(old[key], value, path)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changes(one, other, f"{at}/{index}")
    elif old != new or type(old) is not type(new):
        yield {"op": "replace", "path": at, "value": new}


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
