"""A kind's CustomResourceDefinition."""

from __future__ import annotations

from typing import Any

from tidegate.model.kinds import GROUP, SERVED, VERSION, Kind
from tidegate.model.kinds.shape import Column
from tidegate.model.schema.structural import schema_of

Json = dict[str, Any]


def definitions() -> list[Json]:
    """The CustomResourceDefinitions of all kinds an API server keeps."""
    return [definition_of(kind) for kind in SERVED]


def definition_of(kind: type[Kind]) -> Json:
    """One kind's CustomResourceDefinition."""
    served = kind.definition
    names: Json = {
        "kind": kind.__name__,
        "listKind": f"{kind.__name__}List",
        "plural": served.plural,
        "singular": kind.__name__.lower(),
        "categories": ["tidegate"],
    }
    if served.short:
        names["shortNames"] = list(served.short)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{served.plural}.{GROUP}", "labels": {"app.kubernetes.io/part-of": "tidegate"}},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced" if served.namespaced else "Cluster",
            "versions": [_version(kind)],
        },
    }


def _version(kind: type[Kind]) -> Json:
    version: Json = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [_column(column) for column in kind.definition.columns],
        "schema": {"openAPIV3Schema": schema_of(kind)},
    }
    subresources: Json = {"status": {}} if "status" in kind.__struct_fields__ else {}
    if kind.definition.scale:
        written, read = kind.definition.scale
        subresources["scale"] = {"specReplicasPath": written, "statusReplicasPath": read}
    return version | ({"subresources": subresources} if subresources else {})


def _column(column: Column) -> Json:
    shown = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return shown | ({"priority": 1} if column.wide else {})
