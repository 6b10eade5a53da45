"""Whole documents: one of version 3 per group and version, one of version 2 for everything."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from tidegate.local.schema.definitions import BuiltinResource, kinds, resources
from tidegate.local.schema.openapi.components import META, PATCH, Node, components
from tidegate.local.schema.openapi.custom import custom_components
from tidegate.local.schema.openapi.kinds import PublishedKind
from tidegate.local.schema.openapi.operations import Below, Served, paths_of, scale_below

_INFO = {"title": "Kubernetes", "version": "unversioned"}
_TOKEN = {"type": "apiKey", "in": "header", "name": "authorization"}
_EVERYWHERE = (f"{META}.DeleteOptions", f"{META}.Status", PATCH)
_OF_CUSTOM = (f"{META}.ObjectMeta", f"{META}.ListMeta")
_SCALE = "io.k8s.api.autoscaling.v1.Scale"

_CUSTOM_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def content_hash(document: bytes) -> str:
    """What the index and ETags call a document by: another hash is another document."""
    return hashlib.sha256(document).hexdigest().upper()


def openapi_v3_paths(custom: Iterable[PublishedKind] = ()) -> list[str]:
    """Every document of version 3 there is, by its path below /openapi/v3: "api/v1", "apis/apps/v1"."""
    served = {(resource.group, resource.version) for resource in resources()}
    served |= {(kind.group, kind.version) for kind in custom}
    return sorted(f"apis/{group}/{version}" if group else f"api/{version}" for group, version in served)


def openapi_v3_index(hashes: Mapping[str, str]) -> Node:
    """The answer to /openapi/v3: where each document is, with its hash so that it may be kept for ever."""
    return {
        "paths": {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"} for path, digest in sorted(hashes.items())
        }
    }


def openapi_v3(path: str, custom: Iterable[PublishedKind] = ()) -> Node:
    """The document at `path`, with those of `custom` that belong in it."""
    _, _, rest = path.partition("/")
    group, _, version = rest.rpartition("/")
    ours = [_served(resource) for resource in resources() if (resource.group, resource.version) == (group, version)]
    theirs = [kind for kind in custom if (kind.group, kind.version) == (group, version)]
    names = {name for served in ours for name in served.definitions} & _known() | set(_EVERYWHERE)
    if theirs:
        names |= set(_OF_CUSTOM) | ({_SCALE} if any(kind.has_scale for kind in theirs) else set())
    schemas = components(names, "v3")
    paths: dict[str, Node] = {}
    for served in ours:
        paths |= paths_of(served)
    for kind in theirs:
        schemas |= custom_components(kind, "v3")
        paths |= paths_of(_served_custom(kind))
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": {path: paths[path] for path in sorted(paths)},
        "components": {"schemas": schemas, "securitySchemes": {"BearerToken": _TOKEN}},
    }


def openapi_v2(custom: Iterable[PublishedKind] = ()) -> Node:
    """The one document of version 2. It has definitions only: who asks for this old form asks for those."""
    definitions = components({*kinds().values(), *_EVERYWHERE}, "v2")
    for kind in custom:
        definitions |= custom_components(kind, "v2")
    return {
        "swagger": "2.0",
        "info": _INFO,
        "paths": {},
        "definitions": definitions,
        "securityDefinitions": {"BearerToken": _TOKEN},
    }


def _known() -> set[str]:
    return set(kinds().values())


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
