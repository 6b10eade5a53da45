"""A `Call` as the server makes it, for a request that is only its query, headers and body."""

from __future__ import annotations

from tidegate.kube.wire import Request
from tidegate.local.access.users import LOOPBACK
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.routes import Route

REGISTRY = Registry()
NOW = "2020-01-01T00:00:00Z"


def call(
    verb: str = "list",
    query: dict[str, str] | None = None,
    *,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    plural: str = "configmaps",
) -> Call:
    served = REGISTRY.find("", "v1", plural)
    assert served is not None
    request = Request("POST", f"/api/v1/namespaces/default/{plural}/x", query or {}, headers or {}, body)
    return Call(request, LOOPBACK, verb, Route("", "v1", plural, "default", "x"), served, NOW)
