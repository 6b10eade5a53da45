"""Paths: what a URL asks for, before anything is looked up."""

from __future__ import annotations

import msgspec

_NAMESPACE_SUBRESOURCES = {"status", "finalize"}


class Route(msgspec.Struct, frozen=True):
    """A resource path taken apart. Parts that are absent are empty."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows the subresource (proxy paths)."""
    watched: bool = False
    """The deprecated /watch/ form."""


def route_of(path: str) -> Route | None:
    """The resource a path names; None for anything that is not a resource (discovery, health, OpenAPI …)."""
    parts = path.split("/")
    if len(parts) > 3 and parts[1] == "api":
        group, version, rest = "", parts[2], parts[3:]
    elif len(parts) > 4 and parts[1] == "apis":
        group, version, rest = parts[2], parts[3], parts[4:]
    else:
        return None
    if rest and rest[-1] == "":
        rest = rest[:-1]
    if rest[:2] == ["namespaces", ""] and len(rest) > 2:
        rest = rest[2:]  # A namespace without a name is all of them.
    if not rest or "" in rest:
        return None
    watched = rest[0] == "watch" and len(rest) > 1
    if watched:
        rest = rest[1:]
    namespace = ""
    inside = rest[0] == "namespaces" and len(rest) > 2
    if inside and not (len(rest) == 3 and rest[2] in _NAMESPACE_SUBRESOURCES and not group):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource, *more = [*rest, "", "", ""]
    return Route(group, version, plural, namespace, name, subresource, "/".join(part for part in more if part), watched)


def verb_of(method: str, route: Route, query: dict[str, str]) -> str:
    """The verb that is authorised: what Kubernetes' RBAC calls it."""
    if method == "GET":
        if route.watched or (not route.name and is_true(query.get("watch"))):
            return "watch"
        return "get" if route.name else "list"
    if method == "DELETE":
        return "delete" if route.name else "deletecollection"
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(method, "")
    fits = bool(route.subresource) or (verb == "create") != bool(route.name)
    return verb if fits else f"{verb} elsewhere"  # A verb nothing serves: 405, once it is known who asks.


def is_true(text: str | None) -> bool:
    """Go's idea of a true query parameter: absent, "0" and "false" are false, an empty one is true."""
    return text is not None and text.lower() not in ("0", "false")
