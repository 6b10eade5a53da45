"""Columns for people, documents for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, the first of them the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def document(content: Any, form: str) -> str:
    """JSON or YAML; without who wrote which field, as kubectl shows it."""
    content = _readable(content)
    if form == "json":
        return json.dumps(content, indent=2)
    import yaml

    return str(yaml.safe_dump(content, sort_keys=False)).rstrip()


def _readable(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _readable(value) for key, value in content.items() if key != "managedFields"}
    return [_readable(each) for each in content] if isinstance(content, list) else content


def span(seconds: int) -> str:
    """A length of time in its two largest units: "1m 49s"."""
    parts = []
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


def amounts(by_flavor: dict[str, dict[str, str]] | None) -> str:
    """Amounts by flavor on one line: "4 cpu, 8Gi memory"; with the flavor's name unless it is the plain one or any."""
    parts = []
    for flavor, resources in (by_flavor or {}).items():
        plain = ", ".join(f"{text} {name}" for name, text in resources.items())
        parts.append(plain if flavor in ("default", "*") else f"{plain} ({flavor})")
    return "; ".join(parts) or "-"
