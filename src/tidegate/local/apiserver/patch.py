"""PATCH as data to be merged: JSON patch, merge patch, strategic merge patch. Server-side apply is in `apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_object, encode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.apply import APPLY_PATCH, apply
from tidegate.local.apiserver.bodies import keep_reset, media_type, strictly, unknown_format, warn_of_all, whole_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.options import check_patch_options
from tidegate.local.apiserver.served import Decoded, Served
from tidegate.local.apiserver.write import update_object
from tidegate.local.crds.duplicates import duplicate_fields
from tidegate.local.errors import ApiError, bad_request, invalid, invalid_object, unsupported_media_type
from tidegate.local.patch import json_patch, merge_patch, strategic_patch
from tidegate.local.patch.overflow import has_large_number, wrapped
from tidegate.local.patch.refusal import go_text
from tidegate.local.schema.bodies import UnreadableError, parse_json

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
_OPERATION = frozenset(["op", "path", "from", "value"])

Patch = Callable[[Object], Object]


async def patch(api: Api, call: Call) -> Response:
    media = checked_media(call)
    whole_body(call.request)
    check_patch_options(call, applying=media == APPLY_PATCH)
    if media == APPLY_PATCH:
        return await apply(api, call)
    written = await update_object(api, call, patcher(call, media), patched=True)
    return answer_object(call, 200, written.value)


def checked_media(call: Call) -> str:
    """The sort of patch; 415 for what this kind does not take."""
    media, custom = media_type(call.request), call.served.custom
    strategic = () if custom else (STRATEGIC_PATCH,)
    supported = (JSON_PATCH, MERGE_PATCH, *strategic, APPLY_PATCH)
    if media not in supported:
        raise unknown_format(supported) if custom else unsupported_media_type("415: Unsupported Media Type", {})
    return media


def patcher(call: Call, media: str) -> Patch:
    """What turns the object that is there into the object that is wanted. The patch is read only when there is one."""
    read = {JSON_PATCH: _json_patched, MERGE_PATCH: _merged, STRATEGIC_PATCH: _strategic}[media]
    return lambda obj: read(call, obj)


def _parsed(call: Call, prefix: str = "error decoding patch: ") -> Any:
    try:
        return parse_json(call.request.body)
    except UnreadableError as error:
        raise bad_request(f"{prefix}{error}") from None


def _json_patched(call: Call, obj: Object) -> Object:
    operations = _parsed(call)
    patched = json_patch(obj, operations)
    complaints = [
        f'json patch unknown field "[{index}].{name}"'
        for index, operation in enumerate(operations or ())
        for name in operation
        if name not in _OPERATION
    ]
    return read_back(call, obj, patched, complaints, encode)


def _merged(call: Call, obj: Object) -> Object:
    parsed = _parsed(call)
    patched = merge_patch(obj, parsed)
    return read_back(call, obj, patched, _repeated(call, parsed), encode)


def _strategic(call: Call, obj: Object) -> Object:
    parsed = _parsed(call, "")
    kept = {"kind": obj["kind"], "apiVersion": obj["apiVersion"]}  # Here a patch cannot even try to change the type.
    patched = strategic_patch(obj, parsed, call.served.schema) | kept
    if has_large_number(parsed):
        patched = wrapped(patched, call.served.schema)
    return read_back(call, obj, patched, _repeated(call, parsed), lambda _: go_text(parsed).encode())


def _repeated(call: Call, parsed: Any) -> list[str]:
    return [f'duplicate field "{path}"' for path in duplicate_fields(call.request.body, parsed)]


Show = Callable[[Object], bytes]


def read_back(call: Call, live: Object, patched: Object, complaints: list[str], show: Show) -> Object:
    """The patched data as an object of the kind: a patch can say anything, the kind decides what it takes."""
    served = call.served
    if served.custom and patched.get("apiVersion") != served.api_version:
        warn_of_all(call, patched)
    check_patched_type(served, patched, show)
    try:
        decoded = _read(served, live, patched)
    except ApiError as error:
        raise _unfit(patched, _after_prefix(error.message), show) from None
    said = tuple(dict.fromkeys([*complaints, *decoded.complaints]))
    if said and call.validation == "Strict":
        raise _unfit(patched, strictly(said), show)
    if said and call.validation == "Warn":
        call.warnings += said
    keep_reset(decoded.obj, patched)
    decoded.obj["kind"], decoded.obj["apiVersion"] = served.kind, served.api_version
    return decoded.obj


def _read(served: Served, live: Object, patched: Object) -> Decoded:
    """Patches share what they do not touch, and what comes from the store was read once already: of a built-in kind
    only the parts that are new are read, which for a status is a small part of a pod."""
    if served.custom:
        return served.decode_value(patched)
    touched = {key: value for key, value in patched.items() if live.get(key) is not value}
    decoded = served.decode_value(dict(touched))
    kept = {key: value for key, value in patched.items() if key not in touched}
    # What was removed may be something no object of the kind is without: an empty spec.
    return Decoded(kept | {key: value for key, value in decoded.obj.items() if key not in kept}, decoded.complaints)


def check_patched_type(served: Served, patched: Object, show: Show) -> None:
    """A patch cannot make an object one of another kind; a built-in kind may leave out what the endpoint implies."""
    kind, version = patched.get("kind"), patched.get("apiVersion")
    if (kind, version) == (served.kind, served.api_version):
        return
    if served.custom:
        if not kind:
            raise _unfit(patched, f"Object 'Kind' is missing in '{show(patched).decode()}'", show)
        told, wanted = ("kind", served.kind) if kind != served.kind else ("apiVersion", served.api_version)
        name = patched.get("metadata", {}).get("name", "")
        error = invalid(told, patched.get(told) or "", f"must be {wanted}")
        raise invalid_object(served.group, str(kind), name, [error])
    if kind not in (None, "", served.kind) or version not in (None, "", served.api_version):
        words = f'no kind "{kind}" is registered for version "{version}"'
        raise _unfit(patched, f'{words} in scheme "pkg/api/legacyscheme/scheme.go:30"', show)


def _after_prefix(message: str) -> str:
    """What is wrong with the data, without who could not handle it."""
    return message.partition(" cannot be handled as a ")[2].partition(": ")[2] or message


def _unfit(patched: Object, why: str, show: Show) -> ApiError:
    return invalid_object("", "", "", [invalid("patch", show(patched).decode(), why)])
