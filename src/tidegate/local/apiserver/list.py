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
from tidegate.local.apiserver.negotiate import Shape, shape_of
from tidegate.local.errors import (
    ApiError,
    bad_request,
    expired,
    forbidden_field,
    invalid,
    invalid_object,
    not_supported,
)
from tidegate.local.store import CompactedError, Row

_CHUNK = 500
"""Rows read at a time while a selector passes over what it does not want."""


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Row]
    revision: int
    proceed: str = ""
    remaining: int | None = None

    @property
    def meta(self) -> Object:
        meta: Object = {"resourceVersion": str(self.revision)}
        if self.proceed:
            meta["continue"] = self.proceed
        if self.remaining is not None:
            meta["remainingItemCount"] = self.remaining
        return meta


async def list_(api: Api, call: Call) -> Response:
    choice = choice_of(call)
    shape = shape_of(call.request.headers.get("accept", ""))
    page = page_of(api, call, choice)
    return respond(call, 200, _body(call, page, shape), shape)


def _body(call: Call, page: Page, shape: Shape) -> bytes:
    served = call.served
    if shape.transform == "Table":
        return encode(table_of(call, [decode(row.value) for row in page.rows], page.meta, shape))
    if shape.transform:
        items = [partial(decode(row.value), shape) for row in page.rows]
        kind = {"kind": "PartialObjectMetadataList", "apiVersion": f"meta.k8s.io/{shape.version}"}
        return encode(kind | {"metadata": page.meta, "items": items})
    joined = b",".join([rendered_item(served, row.value) for row in page.rows])
    head = encode({"kind": served.list_kind, "apiVersion": served.api_version, "metadata": page.meta})
    return head[:-1] + b',"items":[' + joined + b"]}"


def page_of(api: Api, call: Call, choice: Choice) -> Page:
    """The rows a list request is about, in order of key."""
    limit, token = _limit(call), call.query.get("continue", "")
    at, after = 0, ""
    asked = asked_revision(api, call)
    if token:
        if asked:
            raise bad_request("specifying resource version is not allowed when using continue")
        at, after = _token(token)
    elif call.query.get("resourceVersionMatch") == "Exact":
        at = asked
    revision = at if at > 0 else api.store.revision
    prefix = call.served.collection(call.namespace)
    if choice.name and call.namespace and not token:
        row = api.store.get(call.served.key(call.namespace, choice.name)) if not at else None
        if not at:
            return Page([row] if row and choice.takes(row.value) else [], revision)
    try:
        past = at if 0 < at < api.store.revision else 0
        rows, more = _chosen(api, prefix, choice, after=after, limit=limit, at=past)
    except CompactedError:
        raise _too_old(prefix, after, token) from None
    if not more:
        return Page(rows, revision)
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


def _limit(call: Call) -> int:
    text = call.query.get("limit", "")
    if not text:
        return 0
    try:
        return max(int(text), 0)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def asked_revision(api: Api, call: Call) -> int:
    """The resourceVersion of a read, checked: ours is one that has happened."""
    text, match = call.query.get("resourceVersion", ""), call.query.get("resourceVersionMatch", "")
    if match and call.verb in ("list", "deletecollection"):
        _check_match(call, text, match)
    if text in ("", "0"):
        return 0
    try:
        revision = int(text)
    except ValueError:
        revision = -1
    if revision < 0:
        raise _bad_version(call, text)
    if revision > api.store.revision:
        message = f"Too large resource version: {revision}, current: {api.store.revision}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise ApiError(504, "Timeout", f"Timeout: {message}", {"causes": [cause], "retryAfterSeconds": 1})
    return revision


def _bad_version(call: Call, text: str) -> ApiError:
    if call.verb == "get":
        return ApiError(500, "", f'invalid resource version "{text}"')
    error = invalid("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": invalid syntax')
    return invalid_object("", "", "", [error])


def _check_match(call: Call, version: str, match: str) -> None:
    errors = []
    field = "resourceVersionMatch"
    if call.query.get("continue"):
        errors.append(forbidden_field(field, f"{field} is forbidden when continue is provided"))
    if not version:
        errors.append(forbidden_field(field, f"{field} is forbidden unless resourceVersion is provided"))
    if match not in ("Exact", "NotOlderThan"):
        errors.append(not_supported(field, match, ["Exact", "NotOlderThan", ""]))
    if match == "Exact" and version == "0":
        errors.append(forbidden_field(field, f'{field} "exact" is forbidden for resourceVersion "0"'))
    if errors:
        raise invalid_object("meta.k8s.io", "ListOptions", "", errors)


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
