"""`Schema`: the shape of a value, whether it came from Kubernetes' own kinds or from a user's CRD.

One tree of these serves every reader: pruning, defaults, validation, both merges (strategic and server-side apply) and
the published OpenAPI documents. Nodes are made once and are read-only; a node of a built-in kind may be
shared by many parents and the tree may be recursive (`JSONSchemaProps`), so nothing may walk it without a value in
hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


class Unset:
    """There is no default here (None would be a default of null)."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET = Unset()

ListType = Literal["atomic", "set", "map"]


@dataclass(slots=True, eq=False)
class Schema:
    """One node. `type` is "" for a value of any shape."""

    type: Literal["object", "array", "string", "integer", "number", "boolean", ""] = ""
    format: str = ""
    properties: dict[str, Schema] = field(default_factory=dict)
    values: Schema | None = None
    """Of a map: the shape of its values (`additionalProperties`)."""
    items: Schema | None = None
    """Of a list: the shape of its items."""
    required: tuple[str, ...] = ()
    default: Any = UNSET
    nullable: bool = False
    int_or_string: bool = False
    quantity: bool = False
    preserve_unknown: bool = False
    """Fields that are not named here stay (x-kubernetes-preserve-unknown-fields, RawExtension, JSON)."""
    embedded: bool = False
    """An embedded object: apiVersion, kind and metadata are part of it (x-kubernetes-embedded-resource)."""

    list_type: ListType = "atomic"
    """For server-side apply (x-kubernetes-list-type)."""
    map_keys: tuple[str, ...] = ()
    """Of a list of type "map": the fields that name an item."""
    map_type: Literal["granular", "atomic"] = "granular"
    patch_strategy: tuple[str, ...] = ()
    """For strategic merge: any of "merge", "replace", "retainKeys"."""
    patch_merge_key: str = ""

    constraints: dict[str, Any] = field(default_factory=dict)
    """The rest of the OpenAPI node (enum, pattern, minimum, maxLength, allOf, not, x-kubernetes-validations …)."""
    name: str = ""
    """Of a built-in object: its definition, e.g. "io.k8s.api.core.v1.PodSpec"."""

    @property
    def is_map(self) -> bool:
        """A map with keys of the user's choosing, not a record with named fields."""
        return self.type == "object" and self.values is not None and not self.properties

    def child(self, key: str) -> Schema | None:
        """The shape of field `key`, or None if it is not part of this shape (or the shape says nothing of it)."""
        return self.properties.get(key) or self.values
