"""Policies: expressions that judge or change writes, and what binds them to where they apply."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.admission.matching import (
    FAILURES,
    MATCHES,
    Judge,
    check_conditions,
    check_rule,
    default_matching,
    default_rules,
)
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, name_of, needs, one_of, wrong
from tidegate.local.kinds.selectors import label_selector

_ONE_ITEM = "validations or auditAnnotations must contain at least one item"


class ValidatingAdmissionPolicy(Judge):
    has_status = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["failurePolicy"] = "Fail" if spec.get("failurePolicy") is None else spec["failurePolicy"]
        if (constraints := spec.get("matchConstraints")) is not None:
            default_matching(constraints)
            default_rules(constraints, "resourceRules", "excludeResourceRules")

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from self._shared(spec)
        if not spec.get("validations") and not spec.get("auditAnnotations"):
            yield required("spec.validations", _ONE_ITEM)
            yield required("spec.auditAnnotations", _ONE_ITEM)
        for at, validation in items(spec, "validations", "spec"):
            if not (validation.get("expression") or "").strip():
                yield required(f"{at}.expression", "expression is not specified")
            reasons = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
            yield from maybe_one_of(f"{at}.reason", validation.get("reason"), reasons)

    def _shared(self, spec: Object) -> Errors:
        yield from maybe_one_of("spec.failurePolicy", spec.get("failurePolicy"), FAILURES)
        if (kind := spec.get("paramKind")) is not None:
            yield from _param_kind("spec.paramKind", kind)
        if (constraints := spec.get("matchConstraints")) is None:
            yield required("spec.matchConstraints")
        else:
            yield from _constraints("spec.matchConstraints", constraints)
            yield from needs("spec.matchConstraints", constraints, "resourceRules")
        yield from check_conditions("spec", spec)
        for at, variable in items(spec, "variables", "spec"):
            if not (variable.get("name") or "").strip():
                yield required(f"{at}.name", "name is not specified")
            elif names.c_identifier(variable["name"]):
                yield invalid(f"{at}.name", variable["name"], "must be a valid CEL identifier")
            if not (variable.get("expression") or "").strip():
                yield required(f"{at}.expression", "expression is not specified")


class MutatingAdmissionPolicy(ValidatingAdmissionPolicy):
    has_status = False

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from self._shared(spec)
        if not spec.get("mutations"):
            yield required("spec.mutations", "mutations must contain at least one item")
        for at, mutation in items(spec, "mutations", "spec"):
            sort = mutation.get("patchType")
            yield from one_of(f"{at}.patchType", sort, ("ApplyConfiguration", "JSONPatch"))
        policy = spec.get("reinvocationPolicy")
        yield from one_of("spec.reinvocationPolicy", policy, ("IfNeeded", "Never"))


def _constraints(path: str, constraints: Object) -> Errors:
    yield from maybe_one_of(f"{path}.matchPolicy", constraints.get("matchPolicy"), MATCHES)
    for key in ("namespaceSelector", "objectSelector"):
        yield from label_selector(f"{path}.{key}", constraints.get(key))
    for key in ("resourceRules", "excludeResourceRules"):
        for at, rule in items(constraints, key, path):
            seen: set[str] = set()
            for name_at, name in items(rule, "resourceNames", at):
                yield from wrong(name_at, name, names.path_segment(name))
                if name in seen:
                    yield duplicate(name_at, name)
                seen.add(name)
            yield from check_rule(at, rule)


def _param_kind(path: str, param: Object) -> Errors:
    version, kind = param.get("apiVersion") or "", param.get("kind") or ""
    if not version:
        yield required(f"{path}.apiVersion")
    elif version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    else:
        group, _, name = version.rpartition("/")
        if group and (messages := names.dns_subdomain(group)):
            yield invalid(f"{path}.apiVersion", group, ",".join(messages))
        if messages := names.dns_1035_label(name):
            yield invalid(f"{path}.apiVersion", name, ",".join(messages))
    if not kind:
        yield required(f"{path}.kind")
    elif messages := names.dns_1035_label(kind.lower()):
        says = f"may have mixed case, but should otherwise match: {','.join(messages)}"
        yield invalid(f"{path}.kind", kind, says)


class ValidatingAdmissionPolicyBinding(Judge):
    def default(self, obj: Object) -> None:
        if (resources := child(obj, "spec").get("matchResources")) is not None:
            default_matching(resources)
            default_rules(resources, "resourceRules", "excludeResourceRules")

    def check(self, obj: Object) -> Errors:
        yield from self._shared(obj)
        spec = child(obj, "spec")
        actions = spec.get("validationActions") or []
        for at, action in items(spec, "validationActions", "spec"):
            if action not in ("Audit", "Deny", "Warn"):
                yield not_supported(at, action, ("Audit", "Deny", "Warn"))
        for index, action in enumerate(actions):
            if action in actions[:index]:
                yield duplicate(f"spec.validationActions[{index}]", action)
        if {"Deny", "Warn"} <= set(actions):
            why = "repeating the same validation failure information in the API response and headers serves no purpose"
            yield invalid("spec.validationActions", actions, f"must not contain both Deny and Warn ({why})")
        if not actions:
            yield required("spec.validationActions", "at least one validation action is required")

    def _shared(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from name_of("spec.policyName", spec.get("policyName") or "", names.dns_subdomain)
        if (param := spec.get("paramRef")) is not None:
            yield from _param_ref("spec.paramRef", param)
        if (resources := spec.get("matchResources")) is not None:
            yield from _constraints("spec.matchResources", resources)


class MutatingAdmissionPolicyBinding(ValidatingAdmissionPolicyBinding):
    def check(self, obj: Object) -> Errors:
        yield from self._shared(obj)


def _param_ref(path: str, param: Object) -> Errors:
    if param.get("name") and param.get("selector") is not None:
        for key, other in (("name", "selector"), ("selector", "name")):
            yield forbidden_field(f"{path}.{key}", f"name and selector are mutually exclusive: {other} is set")
    elif not param.get("name") and param.get("selector") is None:
        yield required(path, "one of name or selector must be specified")
    yield from one_of(f"{path}.parameterNotFoundAction", param.get("parameterNotFoundAction"), ("Allow", "Deny"))
