"""The paths of a document: which operations a resource has, and their parameters.

kubectl looks here whether PATCH of a kind takes `fieldValidation` and strategic merge patches; generators of clients
look at everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidegate.local.schema.openapi.components import META, PATCH, Node, reference

_DELETE_OPTIONS = f"{META}.DeleteOptions"
_STATUS = f"{META}.Status"
_SCALE = "io.k8s.api.autoscaling.v1.Scale"

_JSON_TYPES = ("application/json", "application/yaml")
_PATCH_TYPES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
_STRATEGIC = "application/strategic-merge-patch+json"

_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_LIST = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
_DELETE = ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
_BOOLEANS = {"allowWatchBookmarks", "force", "orphanDependents", "sendInitialEvents", "watch"}
_INTEGERS = {"gracePeriodSeconds", "limit", "timeoutSeconds"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A subresource: what is read and written there."""

    name: str
    group: str
    version: str
    kind: str
    definition: str
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A resource with everything its paths are made of."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: tuple[str, ...]
    definition: str
    list_definition: str
    below: tuple[Below, ...] = ()
    strategic: bool = True
    """Whether it can be patched by strategic merge, which only built-in kinds can."""

    @property
    def definitions(self) -> Iterable[str]:
        """All that its operations refer to."""
        yield self.definition
        if "list" in self.verbs:
            yield self.list_definition
        for below in self.below:
            yield below.definition
        if "delete" in self.verbs:
            yield from (_DELETE_OPTIONS, _STATUS)
        if "patch" in self.verbs:
            yield PATCH


def scale_below() -> Below:
    verbs = ("get", "patch", "update")
    return Below(name="scale", group="autoscaling", version="v1", kind="Scale", definition=_SCALE, verbs=verbs)


def paths_of(served: Served) -> dict[str, Node]:
    """The paths of a resource and its subresources."""
    root = f"/apis/{served.group}/{served.version}" if served.group else f"/api/{served.version}"
    spaced = f"{root}/namespaces/{{namespace}}" if served.namespaced else root
    whole, one = f"{spaced}/{served.plural}", f"{spaced}/{served.plural}/{{name}}"
    found = {whole: _collection(served), one: _item(served)}
    if served.namespaced and "list" in served.verbs:
        everywhere = _operation(served, "list", "ForAllNamespaces", gives=served.list_definition, takes=_LIST)
        found[f"{root}/{served.plural}"] = {"get": everywhere}
    for below in served.below:
        found[f"{one}/{below.name}"] = _below(served, below)
    for path, item in found.items():
        if item:
            item["parameters"] = _path_parameters(path)
    return {path: item for path, item in found.items() if len(item) > 1}


def _collection(served: Served) -> Node:
    own, many = served.definition, served.list_definition
    item: Node = {}
    if "list" in served.verbs:
        item["get"] = _operation(served, "list", gives=many, takes=_LIST)
    if "create" in served.verbs:
        item["post"] = _operation(served, "post", gives=own, takes=_WRITE, body=own, codes=("200", "201", "202"))
    if "deletecollection" in served.verbs:
        takes = tuple(sorted({*_DELETE, *_LIST} - {"watch", "allowWatchBookmarks"}))
        item["delete"] = _operation(served, "deletecollection", gives=_STATUS, takes=takes, body=_DELETE_OPTIONS)
    return item


def _item(served: Served) -> Node:
    own = served.definition
    item = _read_and_write(served, "", own, served.verbs)
    if "delete" in served.verbs:
        codes = ("200", "202")
        item["delete"] = _operation(served, "delete", gives=_STATUS, takes=_DELETE, body=_DELETE_OPTIONS, codes=codes)
    return item


def _read_and_write(served: Served, suffix: str, own: str, verbs: tuple[str, ...]) -> Node:
    item: Node = {}
    if "get" in verbs:
        item["get"] = _operation(served, "get", suffix, gives=own)
    if "update" in verbs:
        item["put"] = _operation(served, "put", suffix, gives=own, takes=_WRITE, body=own, codes=("200", "201"))
    if "patch" in verbs:
        takes = (*_WRITE, "force")
        item["patch"] = _operation(served, "patch", suffix, gives=own, takes=takes, body=PATCH, codes=("200", "201"))
    return item


def _below(served: Served, below: Below) -> Node:
    suffix = below.name.capitalize()
    item = _read_and_write(served, suffix, below.definition, below.verbs)
    if "create" in below.verbs:
        own = below.definition
        codes = ("200", "201", "202")
        item["post"] = _operation(served, "post", suffix, gives=own, takes=_WRITE, body=own, codes=codes)
    for operation in item.values():
        operation["x-kubernetes-group-version-kind"] = _gvk(below.group, below.version, below.kind)
    return item


_WORDS = {
    "get": "read",
    "put": "replace",
    "post": "create",
    "list": "list",
    "patch": "patch",
    "delete": "delete",
    "deletecollection": "delete",
}


def _operation(
    served: Served,
    action: str,
    suffix: str = "",
    *,
    gives: str,
    takes: tuple[str, ...] = (),
    body: str = "",
    codes: tuple[str, ...] = ("200",),
) -> Node:
    answer = {"content": {kind: {"schema": reference(gives, "v3")} for kind in _JSON_TYPES}}
    found: Node = {
        "operationId": _operation_id(served, action, suffix),
        "tags": [f"{served.group.partition('.')[0] or 'core'}_{served.version}"],
        "parameters": [_query(name) for name in takes],
        "responses": {
            code: {"description": _ANSWERS[code]} | (answer if code != "401" else {}) for code in (*codes, "401")
        },
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": _gvk(served.group, served.version, served.kind),
    }
    if body:
        found["requestBody"] = {"content": _content(served, body)} | (
            {"required": True} if body != _DELETE_OPTIONS else {}
        )
    return found


_ANSWERS = {"200": "OK", "201": "Created", "202": "Accepted", "401": "Unauthorized"}


def _content(served: Served, body: str) -> Node:
    kinds: tuple[str, ...] = ("*/*",)
    if body == PATCH:
        kinds = (*_PATCH_TYPES, _STRATEGIC) if served.strategic else _PATCH_TYPES
    return {kind: {"schema": reference(body, "v3")} for kind in kinds}


def _operation_id(served: Served, action: str, suffix: str) -> str:
    group = served.group.removesuffix(".k8s.io") or "core"
    api = "".join(part.capitalize() for part in group.split(".")) + served.version.capitalize()
    many = "Collection" if action == "deletecollection" else ""
    spaced = "Namespaced" if served.namespaced and suffix != "ForAllNamespaces" else ""
    return f"{_WORDS[action]}{api}{many}{spaced}{served.kind}{suffix}"


def _gvk(group: str, version: str, kind: str) -> Node:
    return {"group": group, "kind": kind, "version": version}


def _query(name: str) -> Node:
    kind = "boolean" if name in _BOOLEANS else "integer" if name in _INTEGERS else "string"
    return {"in": "query", "name": name, "schema": {"type": kind, "uniqueItems": True}}


def _path_parameters(path: str) -> list[Any]:
    named = [name for name in ("name", "namespace") if f"{{{name}}}" in path]
    inside = [{"in": "path", "name": name, "required": True, "schema": {"type": "string"}} for name in named]
    return [*inside, _query("pretty")]
