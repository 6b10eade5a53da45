"""OpenAPI documents, made when asked for and kept until what is served changes."""

from __future__ import annotations

from tidegate.kube.wire import Request, Response
from tidegate.local.apiserver.answers import encode
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import ApiError, NoPageError
from tidegate.local.schema.openapi import (
    ASKED_AS,
    MEDIA_TYPE,
    PublishedKind,
    openapi_hash,
    openapi_v2,
    openapi_v2_protobuf,
    openapi_v3,
    openapi_v3_index,
    openapi_v3_paths,
)

_FOREVER = "public, immutable"
_KEPT = 8
"""Documents kept in memory: clients ask for a few again and again, and for most never."""


class OpenApi:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[str, bytes] = {}
        self._of = -1

    def answer(self, request: Request) -> Response:
        """/openapi/v3, /openapi/v3/<path> and /openapi/v2."""
        if self._of != self._registry.changes:
            self._made.clear()
            self._of = self._registry.changes
        kinds = [_published(served) for served in self._registry.all() if served.custom]
        path = request.path.strip("/").removeprefix("openapi/")
        if path == "v3":
            return Response(200, encode(openapi_v3_index(kinds)))
        if path == "v2":
            return self._kept(request, path, kinds)
        name = path.removeprefix("v3/")
        if name not in openapi_v3_paths(kinds):
            raise NoPageError()
        return self._kept(request, name, kinds)

    def _kept(self, request: Request, name: str, kinds: list[PublishedKind]) -> Response:
        accept = request.headers.get("accept", "")
        kept, content_type = name, "application/json"
        if name == "v2" and accept and "json" not in accept and "*/*" not in accept:
            if not any(each in accept for each in ASKED_AS):
                raise ApiError(406, "NotAcceptable", f"only application/json and {MEDIA_TYPE} are available here", {})
            kept, content_type = "v2 as protobuf", MEDIA_TYPE
        etag = f'"{openapi_hash(kinds, "" if name == "v2" else name)}"'
        headers = {"content-type": content_type, "etag": etag, "vary": "Accept-Encoding, Accept"}
        if "hash" in request.query:
            headers["cache-control"] = _FOREVER
        if request.headers.get("if-none-match") == etag:
            return Response(304, b"", headers)
        if kept not in self._made:
            if len(self._made) >= _KEPT:
                self._made.pop(next(iter(self._made)))
            document = openapi_v2(kinds) if name == "v2" else openapi_v3(name, kinds)
            self._made[kept] = encode(document) if kept == name else openapi_v2_protobuf(document)
        return Response(200, self._made[kept], headers)


def _published(served: Served) -> PublishedKind:
    paths = tuple(f".{path}" for path in served.selectable if not path.startswith("metadata."))
    return PublishedKind(
        group=served.group, version=served.version, kind=served.kind, plural=served.plural, list_kind=served.list_kind,
        namespaced=served.namespaced, schema=served.raw_schema, has_status="status" in served.subresources,
        has_scale="scale" in served.subresources, selectable_fields=paths,
    )  # fmt: skip
