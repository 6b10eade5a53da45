"""PATCH in its four kinds: JSON patch, merge patch, strategic merge patch, server-side apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_object, encode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import checked, media_type, yaml_to_json
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.front import MOST_BODY
from tidegate.local.apiserver.managed import applied
from tidegate.local.apiserver.routes import is_true
from tidegate.local.apiserver.write import create_object, update_object
from tidegate.local.errors import ApiError, bad_request, invalid_object, required, too_large, unsupported_media_type
from tidegate.local.patch import json_patch, merge_patch, strategic_patch

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
APPLY_PATCHES = (APPLY_PATCH, "application/apply-patch+json", "application/apply-patch+cbor")


async def patch(api: Api, call: Call) -> Response:
    if "x-too-large" in call.request.headers:
        raise too_large(f"Request entity too large: limit is {MOST_BODY}")
    media = media_type(call.request)
    if media in APPLY_PATCHES:
        return await _apply(api, call)
    if is_true(call.query.get("force", "")):
        raise _options_error("force", "may not be specified for non-apply patch")
    make = patcher(call, media)
    written = await update_object(api, call, make, patched=True)
    return answer_object(call, 200, written.value)


def patcher(call: Call, media: str) -> Callable[[Object], Object]:
    """What turns the object that is there into the object that is wanted."""
    served, body = call.served, call.request.body
    strategic = [] if served.custom else [STRATEGIC_PATCH]
    supported = [JSON_PATCH, MERGE_PATCH, *strategic, APPLY_PATCH]
    if media not in supported:
        listed = ", ".join(supported)
        message = f"the body of the request was in an unknown format - accepted media types include: {listed}"
        raise unsupported_media_type(message)
    parsed = _parsed(body)
    if media == JSON_PATCH:
        return lambda obj: _read_back(call, obj, json_patch(obj, parsed))
    if media == MERGE_PATCH:
        return lambda obj: _read_back(call, obj, merge_patch(obj, parsed))
    return lambda obj: _read_back(call, obj, strategic_patch(obj, parsed, served.schema))


def _parsed(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise bad_request(f"error decoding patch: {error}") from None


def _read_back(call: Call, live: Object, patched: Object) -> Object:
    """The patched data as an object of the kind: a patch can say anything, the kind decides what it takes.

    Patches share what they do not touch, and what comes from the store was read once already: of a built-in kind only
    the parts that are new are read, which for a status is a small part of a pod.
    """
    served = call.served
    if (patched.get("kind"), patched.get("apiVersion")) != (served.kind, served.api_version):
        shown = f"{patched.get('apiVersion')}, Kind={patched.get('kind')}"
        raise bad_request(f"the patch changes the type of the object to {shown}; it must stay {served.kind}")
    if served.custom:
        return checked(call, served.decode_value(patched))
    touched = {key: value for key, value in patched.items() if live.get(key) is not value}
    read = checked(call, served.decode_value(dict(touched)))
    kept = {key: value for key, value in patched.items() if key not in touched}
    return kept | {key: value for key, value in read.items() if key in touched}


def _options_error(field: str, why: str) -> ApiError:
    from tidegate.local.errors import forbidden_field

    return invalid_object("meta.k8s.io", "PatchOptions", "", [forbidden_field(field, why)])


async def _apply(api: Api, call: Call) -> Response:
    if not call.query.get("fieldManager"):
        error = required("fieldManager", "is required for apply patch")
        raise invalid_object("meta.k8s.io", "PatchOptions", "", [error])
    served = call.served
    config = _configuration(call)
    force = is_true(call.query.get("force", ""))

    def made(live: Object | None) -> Object:
        return checked(call, served.decode(encode(applied(call, live, config, force))))

    if api.store.newest(served.key(call.namespace, call.name)) is None and not call.subresource:
        return answer_object(call, 201, await create_object(api, call, made(None)))
    written = await update_object(api, call, made, patched=True)
    return answer_object(call, 200, written.value)


def _configuration(call: Call) -> Any:
    """The applied configuration, raw: what it does not say and what it says to be empty are different things."""
    body = yaml_to_json(call.request.body) if media_type(call.request) == APPLY_PATCH else call.request.body
    try:
        config = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    metadata = config.get("metadata") if isinstance(config, dict) else None
    if isinstance(metadata, dict):
        name = metadata.setdefault("name", call.name)
        if name != call.name:
            raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    elif isinstance(config, dict) and metadata is None:
        config["metadata"] = {"name": call.name}
    return config
