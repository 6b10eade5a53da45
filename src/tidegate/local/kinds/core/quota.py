"""ResourceQuota and LimitRange: what a namespace may use, and what its containers are given unasked."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from fractions import Fraction

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, duplicate, forbidden_field, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core.resources import (
    QUOTA,
    amount,
    container_resource_name,
    may_overcommit,
    quantity,
    quota_resource_name,
    resource_name,
    round_up,
)
from tidegate.local.kinds.rules import IMMUTABLE, Errors, child, items, wrong
from tidegate.model.quantity import Quantity

_BARE_SCOPES = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_SCOPES = {*_BARE_SCOPES, "PriorityClass", "VolumeAttributesClass"}
_COMPUTE = {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
_CONFLICTS = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_BARE_SAYS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


class ResourceQuota(BuiltIn):
    has_status = True

    def default(self, obj: Object) -> None:
        for owner, key in (("spec", "hard"), ("status", "hard"), ("status", "used")):
            round_up(child(obj, owner).get(key))

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from _amounts("spec.hard", spec.get("hard"))
        yield from _scopes(spec)
        if spec.get("scopeSelector") is not None:
            yield from _scope_selector(spec)

    def check_update(self, obj: Object, old: Object) -> Errors:
        scopes = child(obj, "spec").get("scopes") or []
        if set(scopes) != set(child(old, "spec").get("scopes") or ()):
            yield invalid("spec.scopes", scopes, IMMUTABLE)

    def check_status(self, obj: Object, old: Object) -> Errors:
        for key in ("hard", "used"):
            yield from _amounts(f"status.{key}", child(obj, "status").get(key))


def _amounts(path: str, amounts: Object | None) -> Errors:
    for name, text in (amounts or {}).items():
        yield from quota_resource_name(f"{path}[{name}]", name)
        yield from amount(f"{path}[{name}]", name, text)


def _applies(scope: str, resource: str) -> bool:
    if scope == "BestEffort":
        return resource == "pods"
    if scope == "VolumeAttributesClass":
        return resource in ("persistentvolumeclaims", "requests.storage")
    return scope not in _SCOPES or resource == "pods" or resource in _COMPUTE


def _known_limits(spec: Object) -> list[str]:
    return [
        name
        for name in sorted(spec.get("hard") or {})
        if name in QUOTA or name.startswith(("hugepages-", "requests.hugepages-"))
    ]


def _scopes(spec: Object) -> Errors:
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid("spec.scopes", scopes, "unsupported scope")
        for name in _known_limits(spec):
            if not _applies(scope, name):
                yield invalid("spec.scopes", scopes, "unsupported scope applied to resource")
    for pair in _CONFLICTS:
        if pair <= set(scopes):
            yield invalid("spec.scopes", scopes, "conflicting scopes")


def _scope_selector(spec: Object) -> Errors:
    path = "spec.scopeSelector.matchExpressions"
    requirements = spec["scopeSelector"].get("matchExpressions") or []
    for requirement in requirements:
        scope, operator = requirement.get("scopeName") or "", requirement.get("operator") or ""
        values = requirement.get("values") or []
        if scope not in _SCOPES:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope")
        for name in _known_limits(spec):
            if not _applies(scope, name):
                yield invalid(path, spec["scopeSelector"], "unsupported scope applied to resource")
        if scope in _BARE_SCOPES and operator != "Exists":
            yield invalid(f"{path}.operator", operator, _BARE_SAYS)
        if operator in ("In", "NotIn"):
            if not values:
                says = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                yield required(f"{path}.values", says)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                says = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                yield invalid(f"{path}.values", values, says)
        else:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    for pair in _CONFLICTS:
        if pair <= {requirement.get("scopeName") for requirement in requirements}:
            yield invalid(path, spec.get("scopes") or [], "conflicting scopes")


class LimitRange(BuiltIn):
    creates_on_update = True

    def prepare_create(self, obj: Object) -> None:
        """The one kind that is given a name when it has none."""
        metadata = obj["metadata"]
        metadata["name"] = metadata.get("name") or str(uuid.uuid4())

    def default(self, obj: Object) -> None:
        for limit in child(obj, "spec").get("limits") or ():
            for key in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
                round_up(limit.get(key))
            if limit.get("type") == "Container":
                given = (limit.get("max") or {}) | (limit.get("default") or {})
                asked = (limit.get("min") or {}) | given | (limit.get("defaultRequest") or {})
                for key, amounts in (("default", given), ("defaultRequest", asked)):
                    if amounts:
                        limit[key] = amounts

    def check(self, obj: Object) -> Errors:
        seen: set[str] = set()
        for at, limit in items(child(obj, "spec"), "limits", "spec"):
            sort = limit.get("type") or ""
            messages = names.qualified_name(sort)
            yield from wrong(f"{at}.type", sort, messages)
            if not messages and "/" not in sort and sort not in ("Pod", "Container", "PersistentVolumeClaim"):
                yield invalid(f"{at}.type", sort, "must be a standard limit type or fully qualified")
            if sort in seen:
                yield duplicate(f"{at}.type", sort)
            seen.add(sort)
            yield from _limit(at, limit, sort)


def _limit(path: str, limit: Object, sort: str) -> Errors:
    check: Callable[[str, str], list[FieldError] | Errors]
    check = container_resource_name if sort in ("Pod", "Container") else resource_name
    kept = {}
    for key in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        amounts = limit.get(key) or {}
        if sort == "Pod" and key.startswith("default"):
            if amounts:
                yield forbidden_field(f"{path}.{key}", "may not be specified when `type` is 'Pod'")
            continue
        for name in amounts:
            yield from check(f"{path}.{key}[{name}]", name)
        kept[key] = {name: quantity(text) for name, text in amounts.items()}
    if sort == "PersistentVolumeClaim" and not {"storage"} & {*kept["min"], *kept["max"]}:
        says = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", says)
    for name in dict.fromkeys(name for amounts in kept.values() for name in amounts):
        yield from _order(path, name, {key: amounts[name] for key, amounts in kept.items() if name in amounts})


# (smaller, greater, the field to complain about, how they are called)
_ORDER = (
    ("min", "max", "min", "min value", "max value"),
    ("min", "defaultRequest", "defaultRequest", "min value", "default request value"),
    ("defaultRequest", "max", "defaultRequest", "default request value", "max value"),
    ("defaultRequest", "default", "defaultRequest", "default request value", "default limit value"),
    ("min", "default", "default", "min value", "default value"),
    ("default", "max", "default", "default value", "max value"),
)


def _order(path: str, name: str, amounts: dict[str, Quantity]) -> Errors:
    for smaller, greater, field, one, other in _ORDER:
        if smaller in amounts and greater in amounts and amounts[smaller] > amounts[greater]:
            says = f"{one} {amounts[smaller]} is greater than {other} {amounts[greater]}"
            yield invalid(f"{path}.{field}[{name}]", str(amounts[field]), says)
    if (ratio := amounts.get("maxLimitRequestRatio")) is not None:
        at = f"{path}.maxLimitRequestRatio[{name}]"
        if ratio < Quantity.parse(1):
            yield invalid(at, str(ratio), f"ratio {ratio} is less than 1")
        least, most = amounts.get("min"), amounts.get("max")
        if least and most is not None and Fraction(ratio.nano, 10**9) > Fraction(most.nano, least.nano):
            shown = Fraction(most.nano, least.nano)
            says = f"ratio {ratio} is greater than max/min = {shown.numerator / shown.denominator:f}"
            yield invalid(at, str(ratio), says)
    given, asked = amounts.get("default"), amounts.get("defaultRequest")
    if given is not None and asked is not None and given != asked and not may_overcommit(name):
        says = f"default value {given} must equal to defaultRequest value {asked} in {name}"
        yield invalid(f"{path}.defaultRequest[{name}]", str(asked), says)
