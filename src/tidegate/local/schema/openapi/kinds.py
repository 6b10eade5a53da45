"""`PublishedKind`: a kind of somebody's CRD, as far as OpenAPI cares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKind:
    """One served version of a CRD. `schema` is its openAPIV3Schema as the user wrote it, None if it has none."""

    group: str
    version: str
    kind: str
    plural: str
    list_kind: str
    namespaced: bool
    schema: dict[str, Any] | None = field(default=None, hash=False)
    has_status: bool = False
    has_scale: bool = False
    selectable_fields: tuple[str, ...] = ()
    """The paths of spec.versions[].selectableFields, e.g. ".spec.color"."""

    @property
    def path(self) -> str:
        """The document of version 3 it belongs in."""
        return f"apis/{self.group}/{self.version}"

    @property
    def definition(self) -> str:
        """The name of its definition: the group's parts reversed, then version and kind."""
        return definition_name(self.group, self.version, self.kind)

    @property
    def list_definition(self) -> str:
        return definition_name(self.group, self.version, self.list_kind)


def definition_name(group: str, version: str, kind: str) -> str:
    return ".".join([*reversed(group.split(".")), version, kind])
