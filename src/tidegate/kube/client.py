"""The client: one thin, typed interface to any API server, over the network or in its own process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Literal, TypeVar, cast

from tidegate.kube.answers import Event, Page, StatusError, refusal
from tidegate.kube.codec import as_manifest, codec_for, decode, encode
from tidegate.kube.metadata import identity
from tidegate.kube.watch import events_of
from tidegate.kube.wire import Object, Request, Resource, Transport

__all__ = ["Client", "Event", "Page", "PatchType", "Propagation", "StatusError"]

T = TypeVar("T")

PatchType = Literal["merge", "json", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]
Query = Mapping[str, str] | None
"""Further query parameters: dryRun, fieldManager, fieldValidation, …"""

_PATCH_CONTENT = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",  # JSON is YAML; servers before 1.35 know no other name for it
}


class Client:
    """Reads and writes objects. Bodies may be plain dicts or the Resource's own type.

    A Struct that declares only some fields encodes only those: write with `patch` or `apply`, never `update`, from one.
    """

    def __init__(self, transport: Transport, *, user_agent: str = "tidegate") -> None:
        self._transport = transport
        self._read = {"accept": "application/json", "user-agent": user_agent}
        self._write = {**self._read, "content-type": "application/json"}
        self._patch = {name: {**self._read, "content-type": content} for name, content in _PATCH_CONTENT.items()}

    def over(self, wire: Callable[[Transport], Transport]) -> Client:
        """The same client, with something between it and its server."""
        return Client(wire(self._transport), user_agent=self._read["user-agent"])

    async def get(self, resource: Resource[T], name: str, namespace: str | None = None) -> T:
        body = await self._send(Request("GET", _path(resource, namespace, name), {}, self._read))
        return codec_for(resource.type).object(body)

    async def list(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        limit: int = 0,
        proceed: str = "",
        resource_version: str = "",
    ) -> Page[T]:
        """One page (all, without `limit`)."""
        query = _selection(labels, fields)
        if limit:
            query["limit"] = str(limit)
        if proceed:
            query["continue"] = proceed
        if resource_version:
            query["resourceVersion"] = resource_version
        body = await self._send(Request("GET", resource.path(namespace), query, self._read))
        page = codec_for(resource.type).page(body)
        if issubclass(resource.type, dict):
            # Servers leave these out of the items of built-in lists, and only there.
            for item in cast("list[Object]", page.items):
                item.setdefault("apiVersion", resource.api_version)
                item.setdefault("kind", resource.kind)
        return page

    async def create(
        self,
        resource: Resource[T],
        body: Any,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        dry_run: bool = False,
        query: Query = None,
    ) -> T:
        """POST. The namespace defaults to the body's. `subresource` needs the body's metadata.name, and what it answers
        is another kind, so that comes back as plain data."""
        who = identity(body)
        path = _path(resource, namespace or who.namespace or None, who.name if subresource else None, subresource)
        query = {**(query or {}), **({"dryRun": "All"} if dry_run else {})}
        # A subresource takes a kind of its own (Binding, TokenRequest …), which only the caller knows.
        content = encode(body if subresource else _manifest(resource, body))
        answer = await self._send(Request("POST", path, query, self._write, content))
        return cast("T", decode(answer)) if subresource else codec_for(resource.type).object(answer)

    async def update(
        self, resource: Resource[T], body: Any, *, subresource: str | None = None, query: Query = None
    ) -> T:
        """PUT. Name, namespace and resourceVersion are the body's."""
        who = identity(body)
        path = _path(resource, who.namespace or None, who.name, subresource)
        content = encode(_manifest(resource, body))
        answer = await self._send(Request("PUT", path, dict(query or {}), self._write, content))
        return codec_for(resource.type).object(answer)

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Any,
        namespace: str | None = None,
        *,
        type: PatchType = "merge",  # noqa: A002 — the word that Kubernetes has for it
        subresource: str | None = None,
        query: Query = None,
    ) -> T:
        path = _path(resource, namespace, name, subresource)
        request = Request("PATCH", path, dict(query or {}), self._patch[type], encode(patch))
        return codec_for(resource.type).object(await self._send(request))

    async def apply(
        self,
        resource: Resource[T],
        body: Any,
        *,
        field_manager: str,
        force: bool = False,
        subresource: str | None = None,
        query: Query = None,
    ) -> T:
        """Server-side apply."""
        who = identity(body)
        path = _path(resource, who.namespace or None, who.name, subresource)
        query = {**(query or {}), "fieldManager": field_manager, "force": "true" if force else "false"}
        content = encode(_manifest(resource, body))
        return codec_for(resource.type).object(
            await self._send(Request("PATCH", path, query, self._patch["apply"], content))
        )

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        namespace: str | None = None,
        *,
        propagation: Propagation | None = "Background",
        grace_period_s: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        query: Query = None,
    ) -> None:
        """DELETE. 404 is StatusError like any other refusal."""
        options = _delete_options(propagation, grace_period_s, uid, resource_version)
        path = _path(resource, namespace, name)
        await self._send(Request("DELETE", path, dict(query or {}), self._write, encode(options)))

    async def delete_collection(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        propagation: Propagation | None = "Background",
    ) -> None:
        options = encode(_delete_options(propagation, None, None, None))
        request = Request("DELETE", resource.path(namespace), _selection(labels, fields), self._write, options)
        await self._send(request)

    def watch(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        timeout_s: int = 0,
        initial: bool = False,
        idle_s: float | None = None,
    ) -> AsyncGenerator[Event[T], None]:
        """Events until the server closes the stream; an in-stream ERROR raises StatusError. `initial`: WatchList.

        A stream that breaks, or says nothing for `idle_s`, raises OSError (TimeoutError is one)."""
        query = _selection(labels, fields) | {"watch": "true", "allowWatchBookmarks": "true"}
        if resource_version:
            query["resourceVersion"] = resource_version
        if timeout_s:
            query["timeoutSeconds"] = str(timeout_s)
        if initial:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        pieces = self._stream(Request("GET", resource.path(namespace), query, self._read))
        return events_of(pieces, codec_for(resource.type), idle_s=idle_s)

    async def raw(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Any:
        """Any other call: the decoded JSON answer, or StatusError."""
        headers = {**self._read, "accept": accept}
        if body is not None:
            headers["content-type"] = content_type
        content = b"" if body is None else encode(body)
        return decode(await self._send(Request(method, path, query or {}, headers, content)))

    def stream(self, path: str, *, query: dict[str, str] | None = None) -> AsyncGenerator[bytes, None]:
        """The pieces of an answer that may go on for ever (a pod's log with `follow`)."""
        return self._stream(Request("GET", path, query or {}, {**self._read, "accept": "*/*"}))

    async def close(self) -> None:
        await self._transport.close()

    async def _send(self, request: Request) -> bytes:
        response = await self._transport.send(request)
        body = response.body
        if not isinstance(body, bytes):
            body = b"".join([piece async for piece in body])
        if response.status >= 400:
            raise refusal(response.status, body, response.headers)
        return body

    async def _stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        response = await self._transport.send(request)
        body = response.body
        if response.status >= 400:
            whole = body if isinstance(body, bytes) else b"".join([piece async for piece in body])
            raise refusal(response.status, whole, response.headers)
        if isinstance(body, bytes):
            yield body
            return
        try:
            async for piece in body:
                yield piece
        finally:
            close = getattr(body, "aclose", None)
            if close is not None:
                await close()


def _path(resource: Resource[T], namespace: str | None, name: str | None, subresource: str | None = None) -> str:
    # An empty name would silently address the whole collection: a DELETE of it must never be a slip.
    if name == "" or (name is None and subresource is not None):
        raise ValueError(f"A {resource.kind} needs a name to be addressed. Set metadata.name.")
    return resource.path(namespace, name, subresource)


def _manifest(resource: Resource[T], body: Any) -> Any:
    return as_manifest(body, api_version=resource.api_version, kind=resource.kind)


def _selection(labels: str, fields: str) -> dict[str, str]:
    query: dict[str, str] = {}
    if labels:
        query["labelSelector"] = labels
    if fields:
        query["fieldSelector"] = fields
    return query


def _delete_options(
    propagation: Propagation | None, grace_period_s: int | None, uid: str | None, resource_version: str | None
) -> dict[str, Any]:
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if propagation is not None:
        options["propagationPolicy"] = propagation
    if grace_period_s is not None:
        options["gracePeriodSeconds"] = grace_period_s
    preconditions = {"uid": uid, "resourceVersion": resource_version}
    if present := {name: value for name, value in preconditions.items() if value is not None}:
        options["preconditions"] = present
    return options
