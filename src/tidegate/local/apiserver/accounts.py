"""`serviceaccounts/token`: signed tokens, bound to what they are for."""

from __future__ import annotations

from datetime import UTC, datetime

from tidegate.kube.wire import Object, Response
from tidegate.local.access.tokens import ISSUER
from tidegate.local.apiserver.answers import answer_data, decode
from tidegate.local.apiserver.api import Api, timestamp
from tidegate.local.apiserver.bodies import raw_body
from tidegate.local.apiserver.call import Call
from tidegate.local.errors import conflict, invalid, invalid_object, not_found
from tidegate.local.schema.builtin import builtin_schema

_LEAST_S, _MOST_S, _USUAL_S = 600, 1 << 32, 3600


async def request_token(api: Api, call: Call) -> Response:
    row = api.store.get(call.served.key(call.namespace, call.name))
    if row is None:
        raise not_found("", "serviceaccounts", call.name)
    asked = decode(raw_body(call.request, builtin_schema("io.k8s.api.authentication.v1.TokenRequest")))
    spec = asked.get("spec") or {}
    seconds = spec.get("expirationSeconds") or _USUAL_S
    if not _LEAST_S <= seconds <= _MOST_S:
        why = (
            "may not specify a duration less than 10 minutes"
            if seconds < _LEAST_S
            else "may not be larger than 1<<32 seconds"
        )
        error = invalid("spec.expirationSeconds", seconds, why)
        raise invalid_object("authentication.k8s.io", "TokenRequest", call.name, [error])
    audiences = spec.get("audiences") or [ISSUER]
    bound = _bound(api, call, spec.get("boundObjectRef"))
    now = api.clock().timestamp()
    token, expires = api.access.tokens.issue(
        decode(row.value), audiences=audiences, seconds=seconds, bound=bound, now=now
    )
    until = timestamp(datetime.fromtimestamp(expires, UTC))
    metadata = {"name": call.name, "namespace": call.namespace, "creationTimestamp": call.now}
    said: Object = {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": spec.get("boundObjectRef")}
    answer = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": metadata, "spec": said}
    return answer_data(call, 201, answer | {"status": {"token": token, "expirationTimestamp": until}})


def _bound(api: Api, call: Call, reference: Object | None) -> Object | None:
    """What the token ends with: a pod or a secret that exists, and is the one that is meant."""
    if not reference:
        return None
    kind, name = reference.get("kind", ""), reference.get("name", "")
    plural = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}.get(kind)
    if plural is None:
        error = invalid("spec.boundObjectRef", reference, f"cannot bind token for serviceaccount to type {kind!r}")
        raise invalid_object("authentication.k8s.io", "TokenRequest", call.name, [error])
    row = api.store.get(f"core/{plural}/{name}" if plural == "nodes" else f"core/{plural}/{call.namespace}/{name}")
    if row is None:
        raise not_found("", plural, name)
    uid = decode(row.value)["metadata"]["uid"]
    if reference.get("uid") and reference["uid"] != uid:
        why = f"the UID in the bound object reference ({reference['uid']}) does not match the UID in record"
        raise conflict("", plural, name, why)
    return reference | {"uid": uid}
