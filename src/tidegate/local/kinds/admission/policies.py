"""Policies: expressions that judge or change writes, and what binds them to where they apply."""

from __future__ import annotations

from dataclasses import replace

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.admission.expressions import Sight, fault, type_of
from tidegate.local.kinds.admission.matching import (
    FAILURES,
    MATCHES,
    Judge,
    check_conditions,
    check_rule,
    default_matching,
    default_rules,
)
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, name_of, needs, one_of, unique, wrong
from tidegate.local.kinds.selectors import label_selector

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
_MUTABLE = ("*", "CONNECT", "CREATE", "UPDATE")
_LONGEST_AUDIT = 5 * 1024
_ONE_ITEM = "validations or auditAnnotations must contain at least one item"


class ValidatingAdmissionPolicy(Judge):
    has_status = True

    def prepare_create(self, obj: Object) -> None:
        if self.has_status:
            obj["status"] = {}

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
        sight = _sight(spec)
        for at, validation in items(spec, "validations", "spec"):
            yield from _validation(at, validation, sight)
        keys: set[str] = set()
        for at, annotation in items(spec, "auditAnnotations", "spec"):
            yield from _audit(at, annotation, child(obj, "metadata").get("name") or "", sight)
            yield from unique(f"{at}.key", annotation.get("key") or "", keys)

    def _shared(self, spec: Object) -> Errors:
        yield from maybe_one_of("spec.failurePolicy", spec.get("failurePolicy"), FAILURES)
        if (kind := spec.get("paramKind")) is not None:
            yield from _param_kind("spec.paramKind", kind)
        if (constraints := spec.get("matchConstraints")) is None:
            yield required("spec.matchConstraints")
        else:
            yield from _constraints("spec.matchConstraints", constraints)
            yield from needs("spec.matchConstraints", constraints, "resourceRules")
        yield from check_conditions("spec", spec, params=spec.get("paramKind") is not None)
        yield from _variables(spec)


def _variables(spec: Object) -> Errors:
    """Each sees those before it."""
    known: dict[str, str] = {}
    for at, variable in items(spec, "variables", "spec"):
        name, expression = variable.get("name") or "", variable.get("expression") or ""
        if not name.strip():
            yield required(f"{at}.name", "name is not specified")
        elif names.c_identifier(name):
            yield invalid(f"{at}.name", name, "must be a valid CEL identifier")
        if not expression.strip():
            yield required(f"{at}.expression", "expression is not specified")
        elif says := fault(expression, Sight(spec.get("paramKind") is not None, variables=dict(known))):
            yield invalid(f"{at}.expression", expression, says)
        known[name] = _kind_of(spec, expression, known)


def _kind_of(spec: Object, expression: str, known: dict[str, str]) -> str:
    from tidegate.local.crds.cel import CompileError

    try:
        return type_of(expression, Sight(spec.get("paramKind") is not None, variables=dict(known)))
    except CompileError:
        return "any"


def _sight(spec: Object) -> Sight:
    known: dict[str, str] = {}
    for variable in spec.get("variables") or ():
        known[variable.get("name") or ""] = _kind_of(spec, variable.get("expression") or "", known)
    return Sight(spec.get("paramKind") is not None, variables=known)


def _validation(path: str, validation: Object, sight: Sight) -> Errors:
    expression, message = validation.get("expression") or "", validation.get("message") or ""
    said = validation.get("messageExpression") or ""
    if not expression.strip():
        yield required(f"{path}.expression", "expression is not specified")
    elif says := fault(expression, sight, "bool"):
        yield invalid(f"{path}.expression", expression, says)
    if said and not said.strip():
        yield invalid(f"{path}.messageExpression", said, "must be non-empty if specified")
    elif said and (says := fault(said, replace(sight, authorizer=False), "string")):
        yield invalid(f"{path}.messageExpression", said, says)
    if message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    yield from maybe_one_of(f"{path}.reason", validation.get("reason"), _REASONS)


def _audit(path: str, annotation: Object, policy: str, sight: Sight) -> Errors:
    key, expression = annotation.get("key") or "", annotation.get("valueExpression") or ""
    if policy:
        yield from wrong(f"{path}.key", f"{policy}/{key}", names.qualified_name(f"{policy}/{key}"))
    else:
        yield invalid(f"{path}.key", key, "requires metadata.name be non-empty")
    if not expression.strip():
        yield required(f"{path}.valueExpression", "valueExpression is not specified")
    elif len(expression.encode()) > _LONGEST_AUDIT:
        yield required(f"{path}.valueExpression", f"must not exceed {_LONGEST_AUDIT} bytes in length")
    elif says := fault(expression, sight, "string", "null_type", "null"):
        yield invalid(f"{path}.valueExpression", expression, says)


def _mutation(path: str, mutation: Object, sight: Sight) -> Errors:
    sort = mutation.get("patchType") or ""
    if not sort:
        yield required(f"{path}.patchType")
        return
    yield from maybe_one_of(f"{path}.patchType", sort, ("ApplyConfiguration", "JSONPatch"))
    own, other = ("jsonPatch", "applyConfiguration")[:: 1 if sort == "JSONPatch" else -1]
    if sort not in ("ApplyConfiguration", "JSONPatch"):
        return
    if mutation.get(own) is None:
        yield required(f"{path}.{own}", f"must be specified when patchType is {sort}")
    else:
        yield from _change(f"{path}.{own}", mutation[own].get("expression") or "", sort, sight)
    if mutation.get(other) is not None:
        yield invalid(f"{path}.{other}", f"{{{other}}}", f"must not be specified when patchType is {sort}")


def _change(path: str, expression: str, sort: str, sight: Sight) -> Errors:
    from tidegate.local.crds.cel.constructors import untyped

    if not expression.strip():
        yield required(f"{path}.expression")
        return
    made, wanted = ("list", "JSONPatch") if sort == "JSONPatch" else ("map", "Object")
    if says := fault(untyped(expression), sight, made):
        yield invalid(f"{path}.expression", expression, says)
    elif wanted not in expression and "variables." not in expression:
        yield invalid(f"{path}.expression", expression, f"must evaluate to {wanted} but got {made}")


class MutatingAdmissionPolicy(ValidatingAdmissionPolicy):
    has_status = False

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from self._shared(spec)
        if not spec.get("mutations"):
            yield required("spec.mutations", "mutations must contain at least one item")
        sight = _sight(spec)
        for at, mutation in items(spec, "mutations", "spec"):
            yield from _mutation(at, mutation, sight)
        for rule in child(spec, "matchConstraints").get("resourceRules") or ():
            for operation in rule.get("operations") or ():
                yield from maybe_one_of("spec.matchConstraints.resourceRules.operations", operation, _MUTABLE)
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
    if name := param.get("name"):
        yield from wrong(f"{path}.name", name, names.path_segment(name))
    yield from label_selector(f"{path}.selector", param.get("selector"))
    yield from one_of(f"{path}.parameterNotFoundAction", param.get("parameterNotFoundAction"), ("Allow", "Deny"))
