"""DeleteOptions: how something is to be deleted, from the body of the request or else from its query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.apiserver.bodies import UNTYPED, media_type, raw_body, type_of
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.negotiate import YAML
from tidegate.local.apiserver.options import dry_run_errors, refused_options, whole_number
from tidegate.local.apiserver.routes import is_true
from tidegate.local.errors import bad_request, invalid, not_supported
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import decode_builtin

_POLICIES = ("Foreground", "Background", "Orphan")
_KIND = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"


@dataclass(frozen=True, slots=True)
class Options:
    grace_period_s: int | None = None
    uid: str | None = None
    version: str | None = None
    policy: str | None = None
    dry_run: bool = False
    legacy_cascade: bool = False
    """`orphanDependents: false`: the answer then says 202 while dependents are still there."""


_NOTHING = Options()


def options_of(call: Call) -> Options:
    """The options of a delete. A body counts alone: what the query says besides is not heard."""
    if call.request.body or "x-too-large" in call.request.headers:
        return checked_options(_from_body(call))
    return checked_options(_from_query(call)) if call.query else _NOTHING


def _from_body(call: Call) -> Object:
    schema = builtin_schema(_KIND)
    body = raw_body(call.request, schema)
    told = type_of(body, schema.name)
    if told.kind not in ("", "DeleteOptions"):
        version = told.api_version or "meta.k8s.io/v1"
        raise bad_request(
            f'no kind "{told.kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
        )
    if told is UNTYPED:
        return {}
    return decode_builtin(body, schema, yaml=media_type(call.request) == YAML).obj


def _from_query(call: Call) -> Object:
    query = {key: value.split("\0")[0] for key, value in call.query.items()}
    given: dict[str, Any] = {}
    if seconds := query.get("gracePeriodSeconds"):
        given["gracePeriodSeconds"] = whole_number(seconds)
    if "orphanDependents" in query:
        given["orphanDependents"] = is_true(query["orphanDependents"])
    if "propagationPolicy" in query:
        given["propagationPolicy"] = query["propagationPolicy"]
    if "dryRun" in query:
        given["dryRun"] = call.query["dryRun"].split("\0")
    return given


def checked_options(given: Object) -> Options:
    """DeleteOptions as data, understood; 422 if they make no sense."""
    policy, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    errors = []
    if policy is not None and orphan is not None:
        says = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, says))
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported("propagationPolicy", policy, [*_POLICIES, "nil"]))
    if errors := errors + dry_run_errors(given.get("dryRun") or []):
        raise refused_options("DeleteOptions", errors)
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    wanted = given.get("preconditions") or {}
    dry_run = bool(given.get("dryRun"))
    seconds = given.get("gracePeriodSeconds")
    return Options(seconds, wanted.get("uid"), wanted.get("resourceVersion"), policy, dry_run, orphan is False)
