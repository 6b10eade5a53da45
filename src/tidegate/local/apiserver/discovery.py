"""Discovery: what is served, in the old form (a document a group) and the new (all in one)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

from tidegate.kube.wire import Object, Request, Response
from tidegate.local.apiserver.answers import encode, to_yaml
from tidegate.local.apiserver.negotiate import YAML, Shape, shape_of, wants
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import NoPageError

_AGGREGATED = "APIGroupDiscoveryList"


def discover(registry: Registry, request: Request) -> Response:
    """The answer to /api, /apis, /api/v1, /apis/G and /apis/G/V."""
    parts = [part for part in request.path.split("/") if part]
    accept = request.headers.get("accept", "")
    match parts:
        case ["api" | "apis" as root]:
            if shape := wants(accept, _AGGREGATED, "v2"):
                content = f"application/json;g={shape.group or 'apidiscovery.k8s.io'};v=v2;as={_AGGREGATED}"
                return _tagged(request, encode(_aggregated(registry, "v2", core=root == "api")), content)
            host = request.headers.get("host", "")
            return _answer(accept, _versions(host) if root == "api" else _group_list(registry))
        case ["api", version]:
            return _answer(accept, _resources(registry, "", version))
        case ["apis", group]:
            return _answer(accept, _group(registry, group, top=True))
        case ["apis", group, version]:
            return _answer(accept, _resources(registry, group, version))
    raise NoPageError()


def _tagged(request: Request, body: bytes, content: str) -> Response:
    """An answer that a client need not read twice."""
    etag = f'"{hashlib.sha256(body).hexdigest().upper()}"'
    headers = {"content-type": content, "vary": "Accept", "etag": etag, "cache-control": "public"}
    if request.headers.get("if-none-match") == etag:
        return Response(304, b"", headers)
    return Response(200, body, headers)


def _answer(accept: str, data: Object) -> Response:
    shape = Shape(shape_of(accept).media)
    body = to_yaml(encode(data)) if shape.media == YAML else encode(data)
    return Response(200, body, {"content-type": shape.content_type, "vary": "Accept"})


def _versions(host: str) -> Object:
    served = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": served}


def versions_of(registry: Registry, group: str) -> list[str]:
    """The versions of a group, preferred first."""
    return sorted({served.version for served in registry.all() if served.group == group}, key=version_priority)


def version_priority(version: str) -> tuple[int, int, int, str]:
    """Kubernetes' order: v2, v1, v1beta2, v1beta1, v1alpha1, then everything else by name."""
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if not found:
        return (3, 0, 0, version)
    stage = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return (stage, -int(found[1]), -int(found[3] or 0), version)


def groups_of(registry: Registry) -> list[str]:
    """All groups but the core one: Kubernetes' own in their order, then the users' by name."""
    return list(dict.fromkeys(served.group for served in registry.all() if served.group))


def _group(registry: Registry, group: str, *, top: bool = False) -> Object:
    versions = versions_of(registry, group)
    if not versions:
        raise registry.missing(group)
    shown = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    kind = {"kind": "APIGroup", "apiVersion": "v1"} if top else {}
    return kind | {"name": group, "versions": shown, "preferredVersion": shown[0]}


def _group_list(registry: Registry) -> Object:
    groups = [_group(registry, group) for group in groups_of(registry)]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _resources(registry: Registry, group: str, version: str) -> Object:
    found = [served for served in registry.all() if (served.group, served.version) == (group, version)]
    if not found:
        raise registry.missing(group)
    entries: list[Object] = []
    for served in sorted(found, key=lambda served: served.plural):
        entries += _entries(served)
    name = f"{group}/{version}" if group else version
    kind = {"kind": "APIResourceList", "apiVersion": "v1"} if group else {"kind": "APIResourceList"}
    return kind | {"groupVersion": name, "resources": entries}


def _entries(served: Served) -> Iterable[Object]:
    entry: Object = {"name": served.plural, "singularName": served.singular, "namespaced": served.namespaced}
    entry |= {"kind": served.kind, "verbs": list(served.verbs)}
    if served.short_names:
        entry["shortNames"] = list(served.short_names)
    if served.categories:
        entry["categories"] = list(served.categories)
    if {"create", "get"} <= set(served.verbs):  # Questions are not stored.
        entry["storageVersionHash"] = _hash(served)
    yield entry
    for sub in served.subresources.values():
        more: Object = {"name": f"{served.plural}/{sub.name}", "singularName": "", "namespaced": served.namespaced}
        if sub.group != served.group or sub.version != served.version:
            more |= {"group": sub.group, "version": sub.version}
        yield more | {"kind": sub.kind, "verbs": list(sub.verbs)}


def _hash(served: Served) -> str:
    text = f"{served.group}/{served.version}/{served.kind}".encode()
    return base64.b64encode(hashlib.sha256(text).digest()[:8]).decode()


def _aggregated(registry: Registry, version: str, *, core: bool) -> Object:
    groups = [""] if core else groups_of(registry)
    items = []
    for group in groups:
        shown = []
        for name in versions_of(registry, group):
            found = [served for served in registry.all() if (served.group, served.version) == (group, name)]
            entries = [_aggregated_entry(served) for served in sorted(found, key=lambda served: served.plural)]
            shown.append({"version": name, "resources": entries, "freshness": "Current"})
        items.append({"metadata": {"name": group} if group else {}, "versions": shown})
    kind = {"kind": _AGGREGATED, "apiVersion": f"apidiscovery.k8s.io/{version}"}
    return kind | {"metadata": {}, "items": items}


def _aggregated_entry(served: Served) -> Object:
    own = (served.group, served.version, served.kind)
    entry: Object = {"resource": served.plural, "responseKind": _kind(served, *own)}
    entry |= {"scope": "Namespaced" if served.namespaced else "Cluster", "singularResource": served.singular}
    entry["verbs"] = list(served.verbs)
    if served.short_names:
        entry["shortNames"] = list(served.short_names)
    if served.categories:
        entry["categories"] = list(served.categories)
    if served.subresources:
        entry["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": _kind(served, sub.group, sub.version, sub.kind),
                "verbs": list(sub.verbs),
            }
            for sub in served.subresources.values()
        ]
    return entry


def _kind(served: Served, group: str, version: str, kind: str) -> Object:
    """What an endpoint answers with. Of built-in kinds Kubernetes tells only a group and version one cannot know."""
    if not served.custom and (group, version) == (served.group, served.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}


__all__ = ["discover", "groups_of", "version_priority", "versions_of"]
