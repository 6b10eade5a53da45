"""`serviceaccounts/token`: signed tokens, bound to what they are for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial

from tidegate.kube.wire import Object, Response
from tidegate.local.access.tokens import ISSUER
from tidegate.local.apiserver.answers import answer_data, decode
from tidegate.local.apiserver.api import Api, timestamp
from tidegate.local.apiserver.bodies import decoded_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.managed import managed_on_update
from tidegate.local.apiserver.options import check_options
from tidegate.local.apiserver.served import Decoded, Served
from tidegate.local.errors import bad_request, conflict, invalid, invalid_object, not_found
from tidegate.local.kinds import strategy_for
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import decode_builtin, decode_value

_GROUP = "authentication.k8s.io"
_KIND = "io.k8s.api.authentication.v1.TokenRequest"
_BOUND_TO = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


async def request_token(api: Api, call: Call) -> Response:
    check_options(call, "CreateOptions")
    asked = decoded_body(replace(call, served=_token_request()))
    account = _account(api, call, asked)
    kind = _token_request()
    kind.strategy.default(asked)
    managed = managed_on_update(replace(call, served=kind), asked, None)
    spec = asked["spec"]
    spec["audiences"] = spec.get("audiences") or [ISSUER]
    if errors := kind.strategy.validate_create(asked):
        raise invalid_object(_GROUP, "TokenRequest", "", errors)
    bound = _bound(api, call, spec.get("boundObjectRef"))
    seconds = spec["expirationSeconds"]
    token, expires = api.access.tokens.issue(
        account, audiences=spec["audiences"], seconds=seconds, bound=bound, now=api.clock().timestamp()
    )
    asked["metadata"] |= {"uid": account["metadata"]["uid"], "creationTimestamp": call.now, "managedFields": managed}
    spec.setdefault("boundObjectRef", None)
    until = timestamp(datetime.fromtimestamp(expires, UTC))
    return answer_data(call, 201, asked | {"status": {"token": token, "expirationTimestamp": until}})


def _account(api: Api, call: Call, asked: Object) -> Object:
    """The account a token is for; what the request says of it must fit."""
    metadata = asked.setdefault("metadata", {})
    for key, known, what in (("name", call.name, "name"), ("namespace", call.namespace, "namespace")):
        if metadata.get(key) and metadata[key] != known:
            error = invalid(f"metadata.{key}", metadata[key], f"must match the service account {what} if specified")
            raise invalid_object(_GROUP, "TokenRequest", call.name, [error])
        metadata[key] = known
    row = api.store.get(call.served.key(call.namespace, call.name))
    if row is None:
        raise not_found("", "serviceaccounts", call.name)
    account = decode(row.value)
    uid, known = metadata.get("uid"), account["metadata"]["uid"]
    if uid and uid != known:
        why = f"the UID in the token request ({uid}) does not match the UID of the service account ({known})"
        raise conflict(_GROUP, "TokenRequest", call.name, why)
    return account


def _bound(api: Api, call: Call, reference: Object | None) -> Object | None:
    """What the token ends with: a pod, node or secret that exists, and is the one that is meant."""
    if not reference:
        return None
    kind, name, version = (reference.get(key, "") for key in ("kind", "name", "apiVersion"))
    plural = _BOUND_TO.get(kind)
    if plural is None or "/" in version:
        shown = version if "/" in version else f"/{version}"
        raise bad_request(f"cannot bind token to object of type {shown}, Kind={kind}")
    row = api.store.get(f"core/{plural}/{name}" if plural == "nodes" else f"core/{plural}/{call.namespace}/{name}")
    if row is None:
        raise not_found("", plural, name)
    found = decode(row.value)
    if kind == "Pod" and found["spec"].get("serviceAccountName") != call.name:
        why = "to pod running with different serviceaccount name."
        raise bad_request(f'cannot bind token for serviceaccount "{call.name}" {why}')
    uid = found["metadata"]["uid"]
    if reference.get("uid") and reference["uid"] != uid:
        why = f"the UID in the bound object reference ({reference['uid']}) does not match the UID in record. "
        raise conflict("", kind, name, f"{why}The object might have been deleted and then recreated")
    return reference | {"uid": uid}


@cache
def _token_request() -> Served:
    """TokenRequest as a kind of its own, to read bodies by."""
    strategy, schema = strategy_for(_GROUP, "TokenRequest"), partial(builtin_schema, _KIND)
    return Served(
        _GROUP, "v1", "tokenrequests", "tokenrequest", "TokenRequest", True, (), strategy, schema, _decode,
        _decode_value,
    )  # fmt: skip


def _decode(body: bytes, yaml: bool) -> Decoded:
    decoded = decode_builtin(body, builtin_schema(_KIND), yaml=yaml)
    return Decoded(decoded.obj, tuple(decoded.problems))


def _decode_value(value: Object) -> Decoded:
    decoded = decode_value(value, builtin_schema(_KIND))
    return Decoded(decoded.obj, tuple(decoded.problems))
