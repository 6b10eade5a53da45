"""The Table object: columns once, a row for each object."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from tidegate.kube.wire import Object, Resource
from tidegate.local.tables.columns import Column
from tidegate.local.tables.custom import custom_layout
from tidegate.local.tables.kinds import PLAIN, Layout, layout
from tidegate.local.tables.pods import pod_cells, row_conditions
from tidegate.local.tables.times import Since, since

IncludeObject = Literal["None", "Metadata", "Object"]

_META_V1 = "meta.k8s.io/v1"


def table(
    resource: Resource[Any],
    objects: Iterable[Object],
    *,
    now: datetime,
    include_object: IncludeObject = "Metadata",
    columns: tuple[Column, ...] | None = None,
    metadata: Object | None = None,
    headers: bool = True,
    api_version: str = _META_V1,
) -> Object:
    """A Table of `objects`, in their order.

    `columns` are those of a CRD (`custom_columns`); None for Kubernetes' own kinds. `metadata` is that of the list, or
    of the one object. Without `headers` the rows are to be read with those of an earlier Table of the same watch.
    """
    drawn = custom_layout(columns) if columns is not None else layout(resource.group, resource.kind)
    ago = since(now)
    listed = sorted(objects, key=drawn.order) if drawn.order else objects
    rows = [_row(obj, drawn, ago, include_object, api_version) for obj in listed]
    return {
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": _list_metadata(metadata or {}),
        "columnDefinitions": [column.definition() for column in drawn.columns] if headers else None,
        # Kubernetes says null for an empty table of a kind without columns of its own.
        "rows": rows or (None if drawn is PLAIN else []),
    }


def table_row(
    resource: Resource[Any],
    obj: Object,
    *,
    now: datetime,
    include_object: IncludeObject = "Metadata",
    columns: tuple[Column, ...] | None = None,
    api_version: str = _META_V1,
) -> Object:
    """The row of one object."""
    drawn = custom_layout(columns) if columns is not None else layout(resource.group, resource.kind)
    return _row(obj, drawn, since(now), include_object, api_version)


def _list_metadata(metadata: Object) -> Object:
    kept = ("resourceVersion", "continue", "remainingItemCount")
    return {key: metadata[key] for key in kept if metadata.get(key) is not None}


def _row(obj: Object, drawn: Layout, ago: Since, include_object: IncludeObject, api_version: str) -> Object:
    row: Object = {"cells": drawn.cells(obj, ago)}
    if drawn.cells is pod_cells and (conditions := row_conditions(obj)):
        row["conditions"] = conditions
    match include_object:
        case "Object":
            row["object"] = obj
        case "Metadata":
            row["object"] = {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": obj["metadata"]}
        case "None":
            row["object"] = None
    return row
