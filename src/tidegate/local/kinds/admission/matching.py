"""Which writes a webhook or a policy is asked about: rules, selectors and conditions."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, required, too_many
from tidegate.local.kinds import names
from tidegate.local.kinds.admission.expressions import Sight, fault
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, items, maybe_one_of, name_of

FAILURES = ("Fail", "Ignore")
MATCHES = ("Equivalent", "Exact")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")


class Judge(BuiltIn):
    generates_generation = True
    unconditional_update = False
    any_finalizer = True


def default_matching(owner: Object) -> None:
    owner["matchPolicy"] = "Equivalent" if owner.get("matchPolicy") is None else owner["matchPolicy"]
    for key in ("namespaceSelector", "objectSelector"):
        owner[key] = {} if owner.get(key) is None else owner[key]


def default_rules(owner: Object, *keys: str) -> None:
    for key in keys:
        for rule in owner.get(key) or ():
            rule["scope"] = "*" if rule.get("scope") is None else rule["scope"]


def _alone(path: str, values: list[str], called: str) -> Errors:
    if len(values) > 1 and "*" in values:
        yield invalid(path, values, f"if '*' is present, must not specify other {called}")


def check_rule(path: str, rule: Object) -> Errors:
    for key, called in (("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")):
        if not rule.get(key):
            yield required(f"{path}.{key}")
        yield from _alone(f"{path}.{key}", rule.get(key) or [], called)
    for at, operation in items(rule, "operations", path):
        yield from maybe_one_of(at, operation, _OPERATIONS)
    for at, version in items(rule, "apiVersions", path):
        if not version:
            yield required(at)
    yield from _resources(path, rule)
    yield from maybe_one_of(f"{path}.scope", rule.get("scope"), ("*", "Cluster", "Namespaced"))


def _resources(path: str, rule: Object) -> Errors:
    resources = rule.get("resources") or []
    if not resources:
        yield required(f"{path}.resources")
    all_below: set[str] = set()
    everywhere: set[str] = set()
    bare = False
    for at, name in items(rule, "resources", path):
        if not name:
            yield required(at)
            continue
        whole, slash, part = name.partition("/")
        if not slash:
            bare = name != "*"
            continue
        if whole in all_below:
            yield invalid(at, name, f"if '{whole}/*' is present, must not specify {name}")
        if part in everywhere:
            yield invalid(at, name, f"if '*/{part}' is present, must not specify {name}")
        all_below |= {whole} if part == "*" else set()
        everywhere |= {part} if whole == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(f"{path}.resources", resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and bare:
        says = "if '*' is present, must not specify other resources without subresources"
        yield invalid(f"{path}.resources", resources, says)


def check_conditions(path: str, owner: Object, *, params: bool = False) -> Errors:
    conditions = owner.get("matchConditions") or []
    if len(conditions) > 64:
        yield too_many(f"{path}.matchConditions", len(conditions), 64)
    seen: set[str] = set()
    for at, condition in items(owner, "matchConditions", path):
        name = condition.get("name") or ""
        expression = condition.get("expression") or ""
        if not expression.strip():
            yield required(f"{at}.expression")
        elif wrong := fault(expression, Sight(params=params), "bool"):
            yield invalid(f"{at}.expression", expression, wrong)
        yield from name_of(f"{at}.name", name, names.qualified_name)
        if name and name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
