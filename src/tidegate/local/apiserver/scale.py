"""`/scale`: the size of anything that has one, in one shape."""

from __future__ import annotations

import msgspec

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_data, decode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import media_type, raw_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.patch import JSON_PATCH
from tidegate.local.apiserver.selectors import selector_text
from tidegate.local.apiserver.write import update_object
from tidegate.local.crds.scale import Scale
from tidegate.local.errors import bad_request, conflict, invalid, invalid_object, not_found
from tidegate.local.patch import json_patch, merge_patch
from tidegate.local.schema.builtin import builtin_schema


async def scale(api: Api, call: Call) -> Response:
    served = call.served
    row = api.store.newest(served.key(call.namespace, call.name))
    if row is None:
        raise not_found(served.group, served.plural, call.name)
    current = scale_of(call, decode(row.value))
    if call.verb == "get":
        return answer_data(call, 200, current)
    wanted = _wanted(call, current)
    _check(call, wanted, current)
    count = wanted.get("spec", {}).get("replicas", 0)

    def resized(obj: Object) -> Object:
        _where(call).write(obj, count)
        return served.decode(msgspec.json.encode(obj)).obj

    written = await update_object(api, call, resized, patched=True)
    return answer_data(call, 200, scale_of(call, decode(written.value)))


def _wanted(call: Call, current: Object) -> Object:
    if call.verb == "update":
        obj = decode(raw_body(call.request, builtin_schema("io.k8s.api.autoscaling.v1.Scale")))
        if not obj.get("metadata", {}).get("name"):
            raise bad_request("name must be provided in a Scale")
        return obj
    try:
        body = msgspec.json.decode(call.request.body)
    except msgspec.DecodeError as error:
        raise bad_request(f"error decoding patch: {error}") from None
    if media_type(call.request) == JSON_PATCH:
        return json_patch(current, body)
    return merge_patch(current, body)


def _check(call: Call, wanted: Object, current: Object) -> None:
    metadata, known = wanted.get("metadata", {}), current["metadata"]
    version = metadata.get("resourceVersion")
    if version and version != known["resourceVersion"]:
        raise conflict(call.served.group, call.served.plural, call.name)
    count = wanted.get("spec", {}).get("replicas", 0)
    if not isinstance(count, int) or isinstance(count, bool):
        raise bad_request(f"spec.replicas must be a whole number, not {count!r}")
    if count < 0:
        error = invalid("spec.replicas", count, "must be greater than or equal to 0")
        raise invalid_object("autoscaling", "Scale", call.name, [error])


def scale_of(call: Call, obj: Object) -> Object:
    view = _where(call).view(obj)
    if not call.served.custom:
        raw = obj.get("spec", {}).get("selector") or {}
        plain = call.served.plural == "replicationcontrollers"
        if selector := selector_text({"matchLabels": raw} if plain else raw):
            view["status"]["selector"] = selector
    return view


def _where(call: Call) -> Scale:
    return call.served.scale or Scale(".spec.replicas", ".status.replicas")
