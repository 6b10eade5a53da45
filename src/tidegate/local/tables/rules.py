"""Rows of what rules a cluster: bindings, webhooks, policies, certificates."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.tables.times import Since, human
from tidegate.local.tables.words import NONE, UNSET, created, labels, name_of, part, selector


def binding(obj: Object, since: Since) -> list[Any]:
    role = part(obj, "roleRef")
    subjects = obj.get("subjects") or []
    named = [", ".join(item["name"] for item in subjects if item.get("kind") == kind) for kind in ("User", "Group")]
    accounts = ", ".join(
        f"{item.get('namespace', '')}/{item['name']}" for item in subjects if item.get("kind") == "ServiceAccount"
    )
    return [name_of(obj), f"{role.get('kind', '')}/{role.get('name', '')}", since(created(obj)), *named, accounts]


def webhooks(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), len(obj.get("webhooks") or []), since(created(obj))]


def validating_policy(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), len(part(obj, "spec").get("validations") or []), _parameter_kind(obj), since(created(obj))]


def mutating_policy(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), len(part(obj, "spec").get("mutations") or []), _parameter_kind(obj), since(created(obj))]


def _parameter_kind(obj: Object) -> str:
    kind = part(obj, "spec").get("paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


def policy_binding(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    return [name_of(obj), spec.get("policyName", ""), _parameters(spec.get("paramRef") or {}), since(created(obj))]


def _parameters(reference: Object) -> str:
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return selector(reference["selector"]) if reference.get("selector") else UNSET


def signing_request(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    seconds = spec.get("expirationSeconds")
    return [
        name_of(obj),
        since(created(obj)),
        spec.get("signerName") or NONE,
        spec.get("username", ""),
        NONE if seconds is None else human(seconds),
        _signing_state(part(obj, "status")),
    ]


def _signing_state(status: Object) -> str:
    said = {condition.get("type") for condition in status.get("conditions") or []}
    state = "Denied" if "Denied" in said else "Approved" if "Approved" in said else "Pending"
    failed = ",Failed" if "Failed" in said else ""
    return f"{state}{failed},Issued" if status.get("certificate") else f"{state}{failed}"


def flow_schema(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    method = spec.get("distinguisherMethod")
    conditions = part(obj, "status").get("conditions") or []
    dangling = next((item.get("status", "") for item in conditions if item.get("type") == "Dangling"), "?")
    return [
        name_of(obj),
        part(spec, "priorityLevelConfiguration").get("name", ""),
        spec.get("matchingPrecedence", 0),
        method.get("type", "") if method else NONE,
        since(created(obj)),
        dangling,
    ]


def precedence(obj: Object) -> tuple[int, str]:
    """Flow schemas are shown in the order in which they are tried."""
    return (part(obj, "spec").get("matchingPrecedence", 0), name_of(obj))


def priority_level(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    limited = spec.get("limited")
    queuing = part(limited or {}, "limitResponse").get("queuing")
    queues = [queuing.get(key, 0) if queuing else NONE for key in ("queues", "handSize", "queueLengthLimit")]
    shares = limited.get("nominalConcurrencyShares", 0) if limited else NONE
    return [name_of(obj), spec.get("type", ""), shares, *queues, since(created(obj))]


def api_service(obj: Object, since: Since) -> list[Any]:
    service = part(obj, "spec").get("service")
    text = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    return [name_of(obj), text, _availability(part(obj, "status")), since(created(obj))]


def _availability(status: Object) -> str:
    for condition in status.get("conditions") or []:
        if condition.get("type") == "Available":
            state = str(condition.get("status", ""))
            return state if state == "True" else f"{state} ({condition.get('reason', '')})"
    return "Unknown"


def trust_bundle(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), part(obj, "spec").get("signerName") or NONE]


def pod_certificate_request(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    ends = ("Issued", "Denied", "Failed")
    said = [item["type"] for item in part(obj, "status").get("conditions") or [] if item.get("type") in ends]
    fields = ("podName", "serviceAccountName", "nodeName", "signerName")
    told = [spec.get(field, "") for field in fields]
    return [name_of(obj), *told, said[-1] if said else "Pending", labels(spec.get("unverifiedUserAnnotations"))]
