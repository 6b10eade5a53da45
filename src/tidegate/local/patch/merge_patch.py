"""JSON Merge Patch (RFC 7386): a partial object laid over the live one, where null takes a field away."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import bad_request
from tidegate.local.patch.refusal import not_an_object


def merge_patch(obj: Object, patch: Any) -> Object:
    """`obj` with `patch` laid over it. `obj` is left as it is, and shared where nothing changes."""
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise bad_request(f"error decoding patch: {not_an_object(patch)}")
    return _merged(obj, patch)


def _merged(current: Object, patch: Object) -> Object:
    merged = current.copy()
    for key, value in patch.items():
        live = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(live, dict):
            merged[key] = _merged(live, value)
        else:
            merged[key] = without_nulls(value)
    return merged


def without_nulls(value: Any) -> Any:
    """`value` without the null fields of its objects, at any depth; null items of lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(field) for key, field in value.items() if field is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
