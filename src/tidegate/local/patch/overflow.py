"""Numbers too large for their field, as a strategic merge leaves them.

Every other way into the server refuses them. A strategic merge converts numbers as Go does, which keeps their low bits:
what was meant as a very large size becomes a small or negative one, for validation to judge.
"""

from __future__ import annotations

from typing import Any

from tidegate.local.schema.node import Schema

_LARGEST = 2**31 - 1
_BITS = {"int32": 32, "int64": 64}


def has_large_number(value: Any) -> bool:
    """Whether there is a number that not every field can hold."""
    if isinstance(value, dict):
        return any(map(has_large_number, value.values()))
    if isinstance(value, list):
        return any(map(has_large_number, value))
    return isinstance(value, int) and not -_LARGEST - 1 <= value <= _LARGEST


def wrapped(value: Any, schema: Schema | None) -> Any:
    """`value` with each number cut to what its field holds."""
    if schema is None:
        return value
    if isinstance(value, dict):
        return {key: wrapped(item, schema.child(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [wrapped(item, schema.items) for item in value]
    if schema.type == "integer" and isinstance(value, int) and not isinstance(value, bool):
        return _cut(value, _BITS.get(schema.format, 64))
    return value


def _cut(number: int, bits: int) -> int:
    if not -(2**63) <= number < 2**63:
        number = -(2**63)  # Too large even to be read as a whole number.
    half = 1 << (bits - 1)
    return (number + half) % (half * 2) - half
