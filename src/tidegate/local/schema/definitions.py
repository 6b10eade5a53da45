"""The facts of `kubernetes.json`, read when first asked for.

The file stays in memory as the bytes it is (a fifth of a megabyte) and each definition is decoded on demand: a server
that never sees an Ingress never pays for one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

Shape = Literal["pointer", "list", "map", "struct", "scalar", "special"]

SCALARS = frozenset({"string", "bool", "int32", "int64", "float64", "bytes"})
# Types whose JSON is not that of a struct, by the name Go prints for them.
SPECIAL = {
    "Time": "v1.Time",
    "MicroTime": "v1.MicroTime",
    "FieldsV1": "v1.FieldsV1",
    "Quantity": "resource.Quantity",
    "IntOrString": "intstr.IntOrString",
    "Raw": "runtime.RawExtension",
    "JSON": "v1.JSON",
    "SchemaOrBool": "v1.JSONSchemaPropsOrBool",
    "SchemaOrArray": "v1.JSONSchemaPropsOrArray",
    "SchemaOrStrings": "v1.JSONSchemaPropsOrStringArray",
}
JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class Field(msgspec.Struct, frozen=True, gc=False):
    """One field of a Go struct, under its JSON name."""

    type: str
    number: int = msgspec.field(name="n")
    go: str = ""
    """Its name in Go, where that is not just the JSON name with a capital."""
    omit: Literal["empty", "zero", "never"] = "empty"
    required: bool = False
    default: Any = msgspec.UNSET
    enum: tuple[str, ...] = ()
    list_type: str = msgspec.field(default="", name="list")
    map_keys: tuple[str, ...] = msgspec.field(default=(), name="keys")
    map_type: str = msgspec.field(default="", name="map")
    patch: str = ""
    merge_key: str = msgspec.field(default="", name="mergeKey")


class Inlined(msgspec.Struct, frozen=True, gc=False):
    """A struct whose fields JSON has among its parent's, and protobuf in a message of its own."""

    type: str
    number: int = msgspec.field(name="n")


class Definition(msgspec.Struct, frozen=True, gc=False):
    fields: dict[str, Field]
    inline: tuple[Inlined, ...] = ()
    map_type: str = msgspec.field(default="", name="map")

    def all_fields(self) -> dict[str, Field]:
        """Every field by its JSON name, those of inlined structs too."""
        found: dict[str, Field] = {}
        for inlined in self.inline:
            found |= definition(inlined.type).all_fields()
        return found | self.fields


class Subresource(msgspec.Struct, frozen=True):
    name: str
    kind: str
    group: str
    version: str
    verbs: tuple[str, ...] = ()


class BuiltinResource(msgspec.Struct, frozen=True):
    """One of Kubernetes' own resources, as discovery shows it."""

    group: str
    version: str
    kind: str
    plural: str = msgspec.field(name="name")
    singular: str = msgspec.field(name="singularName")
    verbs: tuple[str, ...]
    namespaced: bool = False
    short_names: tuple[str, ...] = msgspec.field(default=(), name="shortNames")
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


class _File(msgspec.Struct):
    kubernetes: str
    resources: tuple[BuiltinResource, ...]
    kinds: dict[str, str]
    definitions: dict[str, msgspec.Raw]


def _bytes() -> bytes:
    return Path(__file__).with_name("kubernetes.json").read_bytes()


@cache
def _file() -> _File:
    return msgspec.json.decode(_bytes(), type=_File)


@cache
def digest() -> bytes:
    """Another digest means that something is known otherwise."""
    return hashlib.sha256(_bytes()).digest()


_DEFINITION = msgspec.json.Decoder(Definition)


def definition(name: str) -> Definition:
    """The definition called `name` ("io.k8s.api.core.v1.PodSpec"). Not kept: whoever builds on it keeps the result."""
    return _DEFINITION.decode(_file().definitions[name])


def kinds() -> dict[str, str]:
    """Every kind ("apps/v1/Deployment", "v1/Pod") and the name of its definition."""
    return _file().kinds


def resources() -> tuple[BuiltinResource, ...]:
    return _file().resources


def version() -> str:
    """The version of Kubernetes these facts are of."""
    return _file().kubernetes


@dataclass(frozen=True, slots=True)
class GoType:
    """The Go type of a field."""

    shape: Shape
    name: str
    """Of a struct: its definition. Of a scalar or special type: which one."""
    of: GoType | None = None
    """What a pointer points to, what a list or map holds."""
    alias: str = ""
    wrapped: bool = False
    """Of a list: protobuf has it in a message of its own."""

    def __str__(self) -> str:
        """As Go prints it in errors (a pointer as what it points to)."""
        if self.alias:
            return self.alias
        if self.shape == "struct":
            return ".".join(self.name.split(".")[-2:])
        if self.of is None:
            return SPECIAL.get(self.name) or {"bytes": "[]uint8"}.get(self.name, self.name)
        return {"list": "[]", "map": "map[string]", "pointer": ""}[self.shape] + str(self.of)


_PREFIXES: tuple[tuple[str, Shape], ...] = (("*", "pointer"), ("[]", "list"), ("~[]", "list"), ("{}", "map"))


@cache
def go_type(text: str) -> GoType:
    """Reads the notation of the file: `*` pointer, `[]` list, `~[]` wrapped list, `{}` map, `Name=` a named type."""
    for prefix, shape in _PREFIXES:
        if text.startswith(prefix):
            return GoType(shape, "", go_type(text.removeprefix(prefix)), wrapped=prefix == "~[]")
    alias, equals, rest = text.partition("=")
    if equals:
        named = go_type(rest)
        return GoType(named.shape, named.name, named.of, alias, named.wrapped)
    if text in SCALARS:
        return GoType("scalar", text)
    return GoType("special" if text in SPECIAL else "struct", text)
