"""`/scale`: the size of anything that has one, in one shape."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_data, decode, encode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.apply import APPLY_PATCH, configuration, told_repeats
from tidegate.local.apiserver.bodies import decoded_body, whole_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.identity import check_name, put_in_namespace
from tidegate.local.apiserver.managed import applied
from tidegate.local.apiserver.options import check_options, check_patch_options
from tidegate.local.apiserver.patch import checked_media, patcher
from tidegate.local.apiserver.routes import is_true
from tidegate.local.apiserver.selectors import selector_text
from tidegate.local.apiserver.served import Decoded, Served
from tidegate.local.apiserver.write import update_object
from tidegate.local.crds.scale import Scale
from tidegate.local.errors import ApiError, bad_request, conflict, invalid, invalid_object, not_found
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import decode_builtin, decode_value

_SCALE = "io.k8s.api.autoscaling.v1.Scale"


async def scale(api: Api, call: Call) -> Response:
    served = call.served
    if call.verb != "get":
        return await _resize(api, call)
    row = api.store.newest(served.key(call.namespace, call.name))
    if row is None:
        raise not_found(served.group, served.plural, call.name)
    return answer_data(call, 200, scale_of(call, decode(row.value)))


async def _resize(api: Api, call: Call) -> Response:
    """Writes a size through the object it belongs to."""
    media = ""
    if call.verb == "patch":
        media = checked_media(call)
        whole_body(call.request)
        check_patch_options(call, applying=media == APPLY_PATCH)
    else:
        check_options(call, "UpdateOptions")
    seen = replace(call, served=_scale_kind())
    given = decoded_body(seen) if call.verb == "update" else {}
    if given:
        put_in_namespace(call, given.setdefault("metadata", {}))
        check_name(call, given["metadata"])

    def resized(obj: Object) -> Object:
        if media == APPLY_PATCH:
            return _applied(call, obj)
        wanted = given or patcher(seen, media)(_present(call, obj))
        _check(call, wanted, obj)
        _where(call).write(obj, wanted.get("spec", {}).get("replicas", 0))
        return call.served.decode(encode(obj), False).obj

    written = await update_object(api, call, resized, patched=True)
    return answer_data(call, 200, scale_of(call, decode(written.value)))


def _applied(call: Call, obj: Object) -> Object:
    """The object after an apply of its Scale: the same as an apply of the one field that a Scale can set."""
    config, repeats = configuration(call)
    if (config.get("apiVersion"), config.get("kind")) != ("autoscaling/v1", "Scale"):
        raise bad_request(f"invalid object type: {config.get('apiVersion', '/')}, Kind={config.get('kind', '')}")
    whole: Object = {"apiVersion": call.served.api_version, "kind": call.served.kind}
    whole["metadata"] = {"name": call.name}
    replicas = (config.get("spec") or {}).get("replicas")
    if replicas is not None:
        _check(call, {"spec": {"replicas": replicas}}, obj)
        _where(call).write(whole, replicas)
    told_repeats(call, repeats)
    force = is_true(call.query.get("force"))
    spec = obj.get("spec") or {}
    if not call.served.custom and spec.get("replicas") == 0:  # A Scale does not say zero: whoever does changes it.
        obj = obj | {"spec": {key: value for key, value in spec.items() if key != "replicas"}}
    return call.served.decode(encode(applied(call, obj, whole, force)), False).obj


def _present(call: Call, obj: Object) -> Object:
    """The Scale that a patch changes; an object that does not say its size has none yet."""
    try:
        return scale_of(call, obj)
    except ApiError:
        sized = decode(encode(obj))
        _where(call).write(sized, 0)
        return scale_of(call, sized)


def _check(call: Call, wanted: Object, obj: Object) -> None:
    version = (wanted.get("metadata") or {}).get("resourceVersion")
    if version and version != obj["metadata"]["resourceVersion"]:
        raise conflict(call.served.group, call.served.plural, call.name)
    count = (wanted.get("spec") or {}).get("replicas", 0)
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


@cache
def _scale_kind() -> Served:
    """Scale as a kind of its own, to read bodies by."""
    return Served(
        "autoscaling", "v1", "scales", "scale", "Scale", True, (), Strategy(), partial(builtin_schema, _SCALE), _decode,
        _decode_value,
    )  # fmt: skip


def _decode(body: bytes, yaml: bool) -> Decoded:
    decoded = decode_builtin(body, builtin_schema(_SCALE), yaml=yaml)
    return Decoded(decoded.obj, tuple(decoded.problems))


def _decode_value(value: Object) -> Decoded:
    decoded = decode_value(value, builtin_schema(_SCALE))
    return Decoded(decoded.obj, tuple(decoded.problems))
