"""GET of a collection: pages, selectors, and lists of a past revision.

Stored values are JSON already, so a plain list is their concatenation: nothing is decoded that nobody asked to change.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import msgspec

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import decode, encode, partial, rendered_item, respond, table_of
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.choice import Choice, choice_of
from tidegate.local.apiserver.list_options import ListOptions, list_options
from tidegate.local.apiserver.negotiate import Shape, not_acceptable_kind, shape_of
from tidegate.local.errors import ApiError, bad_request, expired, invalid
from tidegate.local.store import CompactedError, Row

_CHUNK = 500
"""Rows read at a time while a selector passes over what it does not want."""


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Row]
    revision: int
    proceed: str = ""
    remaining: int | None = None
    spelled: bool = False
    """Whether an empty `continue` is written out, as lists of custom objects have it."""

    @property
    def meta(self) -> Object:
        meta: Object = {"resourceVersion": str(self.revision)}
        if self.proceed or self.spelled:
            meta["continue"] = self.proceed
        if self.remaining is not None:
            meta["remainingItemCount"] = self.remaining
        return meta


async def list_(api: Api, call: Call) -> Response:
    shape = shape_of(call.request.headers.get("accept", ""))
    if shape.transform == "PartialObjectMetadata":
        raise not_acceptable_kind(f"you requested {shape.transform}, but the requested object is a list")
    options = list_options(call)
    page = page_of(api, call, choice_of(call, options), options)
    return respond(call, 200, _body(call, page, shape), shape)


def _body(call: Call, page: Page, shape: Shape) -> bytes:
    served = call.served
    if shape.transform == "Table":
        return encode(table_of(call, [decode(served.shown(row)) for row in page.rows], page.meta, shape))
    if shape.transform:
        items = [partial(decode(served.shown(row)), shape) for row in page.rows]
        kind = {"kind": "PartialObjectMetadataList", "apiVersion": f"meta.k8s.io/{shape.version}"}
        return encode(kind | {"metadata": page.meta, "items": items})
    joined = b",".join([rendered_item(served, served.shown(row)) for row in page.rows])
    head = encode({"kind": served.list_kind, "apiVersion": served.api_version, "metadata": page.meta})
    return head[:-1] + b',"items":[' + joined + b"]}"


def page_of(api: Api, call: Call, choice: Choice, options: ListOptions) -> Page:
    """The rows a list request is about, in order of key."""
    limit, token = max(options.limit, 0), options.proceed
    at, after = 0, ""
    asked = asked_revision(api, call, options.version)
    if token:
        if options.version and options.version != "0":
            raise bad_request("specifying resource version is not allowed when using continue")
        at, after = _token(token)
    elif options.match == "Exact":
        at = asked
    revision = at if at > 0 else api.store.revision
    prefix = call.served.collection(call.namespace)
    if choice.name and (call.namespace or not call.served.namespaced) and not token and not at:
        row = api.store.get(call.served.key(call.namespace, choice.name))
        return Page([row] if row and choice.takes(row.value) else [], revision, spelled=call.served.custom)
    try:
        past = at if 0 < at < api.store.revision else 0
        rows, more = _chosen(api, prefix, choice, after=after, limit=limit, at=past)
    except CompactedError:
        raise _too_old(prefix, after, token) from None
    if not more:
        return Page(rows, revision, spelled=call.served.custom)
    last = rows[-1].key
    remaining = api.store.count(prefix, after=last) if choice.everything else None
    return Page(rows, revision, _make_token(revision, last[len(prefix) :], prefix), remaining)


def _chosen(api: Api, prefix: str, choice: Choice, *, after: str, limit: int, at: int) -> tuple[list[Row], bool]:
    """At most `limit` chosen rows (0: all), and whether there is a further one."""
    after = f"{prefix}{after}" if after else ""
    if choice.everything or not limit:
        rows = api.store.range(prefix, after=after, limit=limit + 1 if limit else -1, at=at)
        chosen = rows if choice.everything else [row for row in rows if choice.takes(row.value)]
        return (chosen[:limit], len(chosen) > limit) if limit else (chosen, False)
    found: list[Row] = []
    while True:
        rows = api.store.range(prefix, after=after, limit=_CHUNK, at=at)
        found += [row for row in rows if choice.takes(row.value)]
        if len(found) > limit:
            return found[:limit], True
        if len(rows) < _CHUNK:
            return found, False
        after = rows[-1].key


def asked_revision(api: Api, call: Call, text: str) -> int:
    """The resourceVersion of a read, checked: ours is one that has happened."""
    if text in ("", "0"):
        return 0
    if not (text.isascii() and text.isdigit()):
        raise _bad_version(call, text)
    revision = int(text)
    if revision > api.store.revision:
        message = f"Too large resource version: {revision}, current: {api.store.revision}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise ApiError(504, "Timeout", f"Timeout: {message}", {"causes": [cause], "retryAfterSeconds": 1})
    return revision


def _bad_version(call: Call, text: str) -> ApiError:
    if call.verb == "get":
        return ApiError(500, "", f'invalid resource version "{text}"')
    error = invalid("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": invalid syntax')
    return bad_request(f"invalid resource version: {error.message}")


def _make_token(revision: int, after: str, prefix: str) -> str:
    data = encode({"v": "meta.k8s.io/v1", "rv": revision, "start": f"{after}\0"})
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _token(token: str) -> tuple[int, str]:
    try:
        data = msgspec.json.decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return int(data["rv"]), str(data["start"]).rstrip("\0")
    except (ValueError, KeyError, TypeError, binascii.Error, msgspec.DecodeError):
        raise bad_request("continue key is not valid: the token cannot be read") from None


def _too_old(prefix: str, after: str, token: str) -> ApiError:
    if not token:
        return expired("The resourceVersion for the provided list is too old.")
    error = expired(
        "The provided continue parameter is too old to display a consistent list result. Start a new list without it, "
        "or use the continue token in this answer for the rest, which then is not of one moment."
    )
    status = error.status
    error.status = lambda: status() | {"metadata": {"continue": _make_token(-1, after, prefix)}}  # type: ignore[method-assign]
    return error


__all__ = ["Page", "asked_revision", "list_", "page_of"]
