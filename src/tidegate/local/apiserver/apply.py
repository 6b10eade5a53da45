"""Server-side apply: a PATCH that says all its manager wants, and makes the object if there is none."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object, Response
from tidegate.local.access.rbac import Question
from tidegate.local.apiserver.answers import answer_object, encode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import checked
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.identity import check_name, put_in_namespace
from tidegate.local.apiserver.managed import applied
from tidegate.local.apiserver.routes import is_true
from tidegate.local.apiserver.write import create_object, update_object
from tidegate.local.errors import bad_request, conflict
from tidegate.local.patch.refusal import not_an_object
from tidegate.local.schema.bodies import UnreadableError

APPLY_PATCH = "application/apply-patch+yaml"


async def apply(api: Api, call: Call) -> Response:
    served = call.served
    if api.store.newest(served.key(call.namespace, call.name)) is None and not call.subresource:
        return answer_object(call, 201, await _create(api, call))
    written = await update_object(api, call, lambda live: _made(call, live), patched=True)
    return answer_object(call, 200, written.value)


async def _create(api: Api, call: Call) -> bytes:
    obj, served = _made(call, None), call.served
    metadata = obj.setdefault("metadata", {})
    if uid := metadata.get("uid"):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(served.group, served.plural, call.name, why)
    put_in_namespace(call, metadata)
    check_name(call, metadata)
    api.access.authorize(call.user, Question("create", served.group, served.plural, "", call.namespace, call.name))
    return await create_object(api, call, obj)


def _made(call: Call, live: Object | None) -> Object:
    config, repeats = configuration(call)
    force = is_true(call.query.get("force"))
    obj = checked(call, call.served.decode(encode(applied(call, live, config, force)), False))
    told_repeats(call, repeats)
    return obj


def configuration(call: Call) -> tuple[Any, list[str]]:
    """The applied configuration, raw: what it does not say and what it says to be empty are different things."""
    from tidegate.local.schema.yaml_bodies import parse_yaml

    try:
        config, repeats = parse_yaml(call.request.body)
    except UnreadableError as error:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from None
    if config is not None and not isinstance(config, dict):
        why = f"error unmarshaling JSON: while decoding JSON: {not_an_object(config)}"
        raise bad_request(f"error decoding YAML: {why}")
    return config or {}, repeats


def told_repeats(call: Call, repeats: list[str]) -> None:
    """A key that stands twice is refused or warned of, as `fieldValidation` says."""
    if not repeats or call.validation == "Ignore":
        return
    if call.validation == "Strict":
        said = "\n  ".join(["yaml: unmarshal errors:", *repeats])
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {said}")
    call.warnings += repeats
