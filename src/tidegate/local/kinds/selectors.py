"""Checks of selectors: of labels, of nodes, of pods near other pods; and of tolerations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import metadata, names
from tidegate.local.kinds.rules import Errors, child, items, wrong

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_LISTED, _BARE = ("In", "NotIn"), ("Exists", "DoesNotExist")
_BAD_OPERATOR = "not a valid selector operator"
_DURING = "DuringSchedulingIgnoredDuringExecution"


def label_selector(path: str, selector: Object | None) -> Errors:
    if selector is None:
        return
    yield from metadata.check_labels(f"{path}.matchLabels", selector.get("matchLabels") or {})
    for at, requirement in items(selector, "matchExpressions", path):
        yield from _requirement(at, requirement)
        yield from _label_values(at, requirement)


def _requirement(path: str, requirement: Object, numeric: bool = False) -> Errors:
    operator, values = requirement.get("operator") or "", requirement.get("values") or []
    if operator in _LISTED:
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _BARE:
        if values:
            yield forbidden_field(
                f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
    elif numeric and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(f"{path}.operator", operator, _BAD_OPERATOR)
    key = requirement.get("key") or ""
    yield from wrong(f"{path}.key", key, names.qualified_name(key))


def _label_values(path: str, requirement: Object) -> Errors:
    for at, value in items(requirement, "values", path):
        yield from wrong(at, value, names.label_value(value))


def matches(selector: Object | None, labels: Mapping[str, str]) -> bool | None:
    """Whether a label selector chooses `labels`; None if it makes no sense. No selector chooses nothing."""
    if selector is None:
        return False
    if any(True for _ in label_selector("", selector)):
        return None
    if any((labels.get(key) != value) for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    chosen = True
    for requirement in selector.get("matchExpressions") or ():
        operator, key = requirement.get("operator"), requirement.get("key")
        values = requirement.get("values") or ()
        meets = key in labels and (operator == "Exists" or labels[key] in values)
        chosen &= meets if operator in ("In", "Exists") else not meets
    return chosen


def node_selector(path: str, selector: Object, checks_values: bool = True) -> Errors:
    if not selector.get("nodeSelectorTerms"):
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for at, term in items(selector, "nodeSelectorTerms", path):
        yield from _node_term(at, term, checks_values)


def _node_term(path: str, term: Object, checks_values: bool) -> Errors:
    for at, requirement in items(term, "matchExpressions", path):
        yield from _requirement(at, requirement, numeric=True)
        if checks_values:
            yield from _label_values(at, requirement)
    for at, requirement in items(term, "matchFields", path):
        values = requirement.get("values") or []
        if requirement.get("operator") not in _LISTED:
            yield invalid(f"{at}.operator", requirement.get("operator") or "", _BAD_OPERATOR)
        elif len(values) != 1:
            yield required(
                f"{at}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
        if requirement.get("key") != "metadata.name":
            yield invalid(f"{at}.key", requirement.get("key") or "", "not a valid field selector key")
        else:
            for value_at, value in items(requirement, "values", at):
                yield from wrong(value_at, value, names.dns_subdomain(value))


def affinity(path: str, affinity: Object) -> Errors:
    node = child(affinity, "nodeAffinity")
    if (needed := node.get(f"required{_DURING}")) is not None:
        yield from node_selector(f"{path}.nodeAffinity.required{_DURING}", needed)
    for at, term in items(node, f"preferred{_DURING}", f"{path}.nodeAffinity"):
        yield from _weight(at, term)
        yield from _node_term(f"{at}.preference", child(term, "preference"), checks_values=False)
    for sort in ("podAffinity", "podAntiAffinity"):
        pods = child(affinity, sort)
        for at, term in items(pods, f"required{_DURING}", f"{path}.{sort}"):
            yield from _pod_term(at, term)
        for at, term in items(pods, f"preferred{_DURING}", f"{path}.{sort}"):
            yield from _weight(at, term)
            yield from _pod_term(f"{at}.podAffinityTerm", child(term, "podAffinityTerm"))


def _weight(path: str, term: Object) -> Errors:
    if not 0 < (weight := term.get("weight") or 0) <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _pod_term(path: str, term: Object) -> Errors:
    yield from label_selector(f"{path}.labelSelector", term.get("labelSelector"))
    yield from label_selector(f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for namespace in term.get("namespaces") or ():
        yield from wrong(f"{path}.namespace", namespace, names.dns_label(namespace))
    yield from label_keys(path, term)
    key = term.get("topologyKey") or ""
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from wrong(f"{path}.topologyKey", key, names.qualified_name(key))


def label_keys(path: str, term: Object) -> Errors:
    """`matchLabelKeys` and `mismatchLabelKeys`, which are merged into the selector beside them."""
    selector: Any = term.get("labelSelector")
    keys: list[str] = term.get("matchLabelKeys") or []
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        if selector is None and term.get(field):
            yield forbidden_field(f"{path}.{field}", "must not be specified when labelSelector is not set")
        elif selector is not None:
            for at, key in items(term, field, path):
                yield from wrong(at, key, names.qualified_name(key))
    seen = set(child(term, "labelSelector", "matchLabels"))
    for requirement in child(term, "labelSelector").get("matchExpressions") or ():
        key = requirement.get("key") or ""
        if key in seen and key in keys:
            last = len(keys) - 1 - keys[::-1].index(key)
            yield invalid(f"{path}[{last}]", key, "exists in both matchLabelKeys and labelSelector")
        seen.add(key)
    for index, key in enumerate(keys):
        if key in (term.get("mismatchLabelKeys") or ()):
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def tolerations(path: str, tolerations: list[Object]) -> Errors:
    for index, toleration in enumerate(tolerations):
        yield from _toleration(f"{path}[{index}]", toleration)


def _toleration(path: str, toleration: Object) -> Errors:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        yield from wrong(f"{path}.key", key, names.qualified_name(key))
    elif operator != "Exists":
        yield invalid(
            f"{path}.operator",
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        )
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("Equal", ""):
        if messages := names.label_value(value):
            yield invalid(f"{path}.operator", value, ";".join(messages))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        numeric = ["Lt", "Gt"] if operator in ("Lt", "Gt") else []
        yield not_supported(f"{path}.operator", operator, ["Equal", "Exists", *numeric])
    if effect and effect not in EFFECTS:
        yield not_supported(f"{path}.effect", effect, EFFECTS)
