"""Columns, and the short way to write down those of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_DESCRIPTIONS = {
    "Name": "The name of the object, unique among its kind within its namespace.",
    "Age": "How long ago the object was created.",
    "Created At": "When the object was created.",
}


@dataclass(frozen=True, slots=True)
class Column:
    """`path` is set for a column of a CRD: where in an object its cell is found."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0
    """0: always shown; more: only when asked for wide output."""
    path: str = ""

    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description or _DESCRIPTIONS.get(self.name, f"{self.name} of the object."),
            "priority": self.priority,
        }


def columns(*written: str) -> tuple[Column, ...]:
    """Columns from words such as `Ready`, `Desired:integer` or, if only for wide output, `Node+`."""
    return tuple(_column(text) for text in written)


def _column(text: str) -> Column:
    name, _, kind = text.removesuffix("+").partition(":")
    return Column(
        name, type=kind or "string", format="name" if name == "Name" else "", priority=1 if text.endswith("+") else 0
    )
