"""The words of the wire: what a request, an answer and a resource are, for clients and servers alike.

A `Transport` turns a Request into a Response. Over the network that is HTTP (`kube.transport`); in the process of
the embedded server it is the server's own `handle`, so nothing is encoded for a socket that nobody needs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")

Object = dict[str, Any]
"""A Kubernetes object as plain JSON data."""

_PLAIN: Any = dict


@dataclass(slots=True)
class Request:
    """One HTTP request: `path` and `query` are decoded, header names are lower case."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    still: Callable[[], bool] | None = None
    """Asked in the moment when its body is sent, which may be long after it was made: whether it still may be."""


@dataclass(slots=True)
class Response:
    """One answer: `body` is whole, or a stream of pieces (watches, logs) that ends when it ends."""

    status: int
    body: bytes | AsyncIterator[bytes] = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class Transport(Protocol):
    """Carries requests to one API server."""

    async def send(self, request: Request) -> Response:
        """The answer; a connection that fails raises OSError or asyncio.TimeoutError."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One served resource and the type its objects are decoded to (plain dicts unless told otherwise)."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    type: type[T] = _PLAIN

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The URL path of the collection, one object, or a subresource of it."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace is not None and self.namespaced:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part is not None]
        return "/".join(parts)
