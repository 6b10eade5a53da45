"""Types that are one value in a manifest although they are more than a number or a string in Python."""

from __future__ import annotations

from typing import Any

from tidegate.model.quantity import Quantity
from tidegate.model.resources import AMOUNT_SCHEMA, parse_amount


def parse_value(wanted: type, raw: object) -> Any:
    """The value a manifest means; ValueError says what is wrong with it and what to write instead."""
    if wanted is Quantity:
        return parse_amount(raw)
    return wanted.parse(raw)  # type: ignore[attr-defined]


def wire_value(value: Any) -> Any:
    """The same value as a manifest has it."""
    return str(value) if isinstance(value, Quantity) else value.wire()


def value_schema(wanted: type) -> dict[str, Any]:
    """What may stand in a manifest for such a value."""
    schema: dict[str, Any] = AMOUNT_SCHEMA if wanted is Quantity else wanted.SCHEMA  # type: ignore[attr-defined]
    return schema
