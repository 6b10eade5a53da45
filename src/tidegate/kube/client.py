"""The client: one thin, typed interface to any API server, over the network or in its own process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from tidegate.kube.wire import Object, Resource, Transport

T = TypeVar("T")

PatchType = Literal["merge", "json", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One answer of a list: `resource_version` is where a watch goes on."""

    items: list[T]
    resource_version: str
    proceed: str = ""
    """The token for the next page; empty on the last."""


@dataclass(frozen=True, slots=True)
class Event(Generic[T]):
    """One watch event. A BOOKMARK has no object, only a resource version."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: T
    resource_version: str


class StatusError(Exception):
    """The server refused: its `Status`, with the fields that programs branch on."""

    def __init__(self, code: int, reason: str, message: str, status: Object | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.status = status or {}


class Client:
    """Reads and writes objects. Bodies may be plain dicts or the Resource's own type."""

    def __init__(self, transport: Transport, *, user_agent: str = "tidegate") -> None:
        raise NotImplementedError

    async def get(self, resource: Resource[T], name: str, namespace: str | None = None) -> T:
        raise NotImplementedError

    async def list(
        self, resource: Resource[T], namespace: str | None = None, *, labels: str = "", fields: str = "",
        limit: int = 0, proceed: str = "", resource_version: str = "",
    ) -> Page[T]:
        """One page (all, without `limit`)."""
        raise NotImplementedError

    async def create(self, resource: Resource[T], body: Any, namespace: str | None = None, *,
                     subresource: str | None = None, dry_run: bool = False) -> T:
        """POST. The namespace defaults to the body's. `subresource` needs the body's metadata.name."""
        raise NotImplementedError

    async def update(self, resource: Resource[T], body: Any, *, subresource: str | None = None) -> T:
        """PUT. Name, namespace and resourceVersion are the body's."""
        raise NotImplementedError

    async def patch(self, resource: Resource[T], name: str, patch: Any, namespace: str | None = None, *,
                    type: PatchType = "merge", subresource: str | None = None) -> T:
        raise NotImplementedError

    async def apply(self, resource: Resource[T], body: Any, *, field_manager: str, force: bool = False,
                    subresource: str | None = None) -> T:
        """Server-side apply."""
        raise NotImplementedError

    async def delete(self, resource: Resource[T], name: str, namespace: str | None = None, *,
                     propagation: Propagation | None = "Background", grace_period_s: int | None = None,
                     uid: str | None = None, resource_version: str | None = None) -> None:
        """DELETE. 404 is StatusError like any other refusal."""
        raise NotImplementedError

    async def delete_collection(self, resource: Resource[T], namespace: str | None = None, *, labels: str = "",
                                fields: str = "", propagation: Propagation | None = "Background") -> None:
        raise NotImplementedError

    def watch(self, resource: Resource[T], namespace: str | None = None, *, labels: str = "", fields: str = "",
              resource_version: str = "", timeout_s: int = 0, initial: bool = False) -> AsyncIterator[Event[T]]:
        """Events until the server closes the stream; an in-stream ERROR raises StatusError. `initial`: WatchList."""
        raise NotImplementedError

    async def raw(self, method: str, path: str, *, query: dict[str, str] | None = None, body: Any = None,
                  content_type: str = "application/json") -> Any:
        """Any other call: the decoded JSON answer, or StatusError."""
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError
