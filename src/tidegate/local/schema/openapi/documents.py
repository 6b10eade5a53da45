"""Whole documents: one of version 3 per group and version, one of version 2 for everything."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from tidegate.local.schema.definitions import BuiltinResource, digest, kinds, resources
from tidegate.local.schema.openapi.components import META, PATCH, Node, components
from tidegate.local.schema.openapi.custom import custom_components
from tidegate.local.schema.openapi.kinds import PublishedKind
from tidegate.local.schema.openapi.operations import Below, Served, paths_of, scale_below

_INFO = {"title": "Kubernetes", "version": "unversioned"}
_TOKEN = {"type": "apiKey", "in": "header", "name": "authorization"}
_OF_CUSTOM = (f"{META}.ObjectMeta", f"{META}.ListMeta")

# Clients keep documents for ever by their hash: raise this when the same facts come to be written otherwise.
_FORM = 1

_CUSTOM_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def openapi_hash(custom: Iterable[PublishedKind] = (), path: str = "") -> str:
    """What the index and ETags call a document by; without `path` the document of version 2.

    It is made of what the document is made of, so that nobody has to build a document to know that it is unchanged.
    """
    mixed = hashlib.sha256(digest())
    mixed.update(f"{_FORM} {path}".encode())
    for kind in custom:
        if not path or path == kind.path:
            mixed.update(msgspec.json.encode(kind))
    return mixed.hexdigest().upper()


def openapi_v3_paths(custom: Iterable[PublishedKind] = ()) -> list[str]:
    """Every document of version 3 there is, by its path below /openapi/v3: "api/v1", "apis/apps/v1"."""
    served = {(resource.group, resource.version) for resource in resources()}
    paths = {f"apis/{group}/{version}" if group else f"api/{version}" for group, version in served}
    return sorted(paths | {kind.path for kind in custom})


def openapi_v3_index(custom: Sequence[PublishedKind] = ()) -> Node:
    """The answer to /openapi/v3: where each document is, with its hash so that it may be kept for ever."""
    return {
        "paths": {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={openapi_hash(custom, path)}"}
            for path in openapi_v3_paths(custom)
        }
    }


def openapi_v3(path: str, custom: Iterable[PublishedKind] = ()) -> Node:
    """The document at `path`, with those of `custom` that belong in it."""
    _, _, rest = path.partition("/")
    group, _, version = rest.rpartition("/")
    ours = [_served(resource) for resource in resources() if (resource.group, resource.version) == (group, version)]
    theirs = [kind for kind in custom if kind.path == path]
    served = [*ours, *(_served_custom(kind) for kind in theirs)]
    custom_names = {name for kind in theirs for name in (kind.definition, kind.list_definition)}
    names = {name for each in served for name in each.definitions} - custom_names
    if theirs:
        names |= set(_OF_CUSTOM)
    schemas = components(names, "v3")
    paths: dict[str, Node] = {}
    for each in served:
        paths |= paths_of(each)
    for kind in theirs:
        schemas |= custom_components(kind, "v3")
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": {path: paths[path] for path in sorted(paths)},
        "components": {"schemas": schemas, "securitySchemes": {"BearerToken": _TOKEN}},
    }


def openapi_v2(custom: Iterable[PublishedKind] = ()) -> Node:
    """The one document of version 2. It has definitions only: who asks for this old form asks for those."""
    definitions = components([*kinds().values(), PATCH], "v2")
    for kind in custom:
        definitions |= custom_components(kind, "v2")
    return {
        "swagger": "2.0",
        "info": _INFO,
        "paths": {},
        "definitions": definitions,
        "securityDefinitions": {"BearerToken": _TOKEN},
    }


def _definition(group: str, version: str, kind: str) -> str:
    return kinds().get("/".join(part for part in (group, version, kind) if part), "")


def _served(resource: BuiltinResource) -> Served:
    below = [
        Below(
            name=sub.name,
            group=sub.group,
            version=sub.version,
            kind=sub.kind,
            definition=_definition(sub.group, sub.version, sub.kind),
            verbs=sub.verbs,
        )
        for sub in resource.subresources
    ]
    return Served(
        group=resource.group,
        version=resource.version,
        kind=resource.kind,
        plural=resource.plural,
        namespaced=resource.namespaced,
        verbs=resource.verbs,
        definition=_definition(resource.group, resource.version, resource.kind),
        list_definition=_definition(resource.group, resource.version, f"{resource.kind}List"),
        # What is streamed (logs, exec, proxies) has no definition and no place in a document.
        below=tuple(each for each in below if each.definition),
    )


def _served_custom(kind: PublishedKind) -> Served:
    status = Below(
        name="status",
        group=kind.group,
        version=kind.version,
        kind=kind.kind,
        definition=kind.definition,
        verbs=("get", "patch", "update"),
    )
    return Served(
        group=kind.group,
        version=kind.version,
        kind=kind.kind,
        plural=kind.plural,
        namespaced=kind.namespaced,
        verbs=_CUSTOM_VERBS,
        definition=kind.definition,
        list_definition=kind.list_definition,
        below=((status,) if kind.has_status else ()) + ((scale_below(),) if kind.has_scale else ()),
        strategic=False,
    )
