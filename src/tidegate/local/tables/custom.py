"""Columns of a CRD: what its author asked for, each a path into the object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.paths import column_value
from tidegate.local.tables.columns import Column
from tidegate.local.tables.kinds import Layout
from tidegate.local.tables.times import Since
from tidegate.local.tables.words import name_of

_NAME = Column("Name", format="name")
_AGE = Column("Age", type="date", path=".metadata.creationTimestamp")


def custom_columns(printer_columns: Iterable[Object] | None) -> tuple[Column, ...]:
    """The columns of a CRD version's `additionalPrinterColumns`; without any, the age."""
    made = [
        Column(
            name=column["name"],
            type=column["type"],
            format=column.get("format", ""),
            description=column.get("description")
            or f"Custom resource definition column (in JSONPath format): {column['jsonPath']}",
            priority=column.get("priority", 0),
            path=column["jsonPath"],
        )
        for column in printer_columns or ()
    ]
    return (_NAME, *(made or [_AGE]))


def custom_layout(columns: tuple[Column, ...]) -> Layout:
    """`columns` as `custom_columns` made them."""

    def cells(obj: Object, since: Since) -> list[Any]:
        return [name_of(obj), *[_cell(obj, column, since) for column in columns[1:]]]

    return Layout(columns, cells)


def _cell(obj: Object, column: Column, since: Since) -> Any:
    value = column_value(obj, column.path, column.type)
    if column.type == "date" and value is not None:
        return since(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
