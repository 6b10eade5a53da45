"""The kinds of flowcontrol.apiserver.k8s.io: which requests wait for which."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, default, items, maybe_one_of, name_of, needs, within, wrong

_VERBS = {"get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy", "*"}


class _Flow(BuiltIn):
    has_status = True
    generates_generation = True

    def check_status(self, obj: Object, old: Object) -> Errors:
        seen: set[str] = set()
        for at, condition in items(child(obj, "status"), "conditions", "status"):
            sort = condition.get("type") or ""
            if sort in seen:
                yield duplicate(f"{at}.type", sort)
            seen.add(sort)
            yield from needs(at, condition, "type")


class FlowSchema(_Flow):
    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["matchingPrecedence"] = spec.get("matchingPrecedence") or 1000

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}

    def check(self, obj: Object) -> Errors:
        spec, name = child(obj, "spec"), child(obj, "metadata").get("name")
        precedence = spec.get("matchingPrecedence") or 0
        path = "spec.matchingPrecedence"
        if precedence <= 0:
            yield invalid(path, precedence, "must be a positive value")
        if precedence > 10000:
            yield invalid(path, precedence, "must not be greater than 10000")
        if precedence == 1 and name != "exempt":
            yield invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
        if (method := spec.get("distinguisherMethod")) is not None:
            yield from maybe_one_of(
                "spec.distinguisherMethod.type", method.get("type") or "", ("ByNamespace", "ByUser")
            )
        level = child(spec, "priorityLevelConfiguration").get("name") or ""
        yield from name_of("spec.priorityLevelConfiguration.name", level, names.dns_subdomain)
        for at, rule in items(spec, "rules", "spec"):
            yield from _flow_rule(at, rule)


def _flow_rule(path: str, rule: Object) -> Errors:
    if not rule.get("subjects"):
        yield required(f"{path}.subjects", "subjects must contain at least one value")
    for at, subject in items(rule, "subjects", path):
        yield from _flow_subject(at, subject)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        yield required(path, "at least one of resourceRules and nonResourceRules has to be non-empty")
    for at, one in items(rule, "resourceRules", path):
        for key in ("verbs", "apiGroups", "resources"):
            yield from _list_or_star(at, one, key)
        if not one.get("namespaces") and not one.get("clusterScope"):
            says = "resource rules that are not cluster scoped must supply at least one namespace"
            yield required(f"{at}.namespaces", says)
        elif "*" in (one.get("namespaces") or ()):
            yield from _list_or_star(at, one, "namespaces")
        else:
            for name_at, name in items(one, "namespaces", at):
                yield from wrong(name_at, name, names.dns_label(name))
    for at, one in items(rule, "nonResourceRules", path):
        for key in ("verbs", "nonResourceURLs"):
            yield from _list_or_star(at, one, key)


def _list_or_star(path: str, rule: Object, key: str) -> Errors:
    values = rule.get(key) or []
    if not values:
        yield required(f"{path}.{key}", f"{key} must contain at least one value")
    elif len(values) > 1 and "*" in values:
        yield invalid(f"{path}.{key}", values, f"if '*' is present, must not specify other {key}")
    elif key == "verbs" and not set(values) <= _VERBS:
        yield not_supported(f"{path}.{key}", values, sorted(_VERBS - {"*"}))
    elif key == "nonResourceURLs":
        for at, url in items(rule, key, path):
            if url not in ("/", "*") and (not url.startswith("/") or " " in url or "//" in url):
                yield invalid(
                    at, url, "must start with slash" if not url.startswith("/") else "must not contain blanks"
                )


def _flow_subject(path: str, subject: Object) -> Errors:
    fields = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
    kind = subject.get("kind") or ""
    if kind not in fields:
        yield not_supported(f"{path}.kind", kind, sorted(fields))
        return
    for other, field in fields.items():
        if other == kind and subject.get(field) is None:
            yield required(f"{path}.{field}", f"{field} is required when subject kind is '{kind}'")
        elif other == kind:
            yield from _flow_subject_named(f"{path}.{field}", subject[field], is_account=kind == "ServiceAccount")
        elif subject.get(field) is not None:
            yield forbidden_field(f"{path}.{field}", f"{field} is forbidden when subject kind is not '{other}'")


def _flow_subject_named(path: str, subject: Object, *, is_account: bool) -> Errors:
    yield from needs(path, subject, "name")
    if is_account:
        name = subject.get("name") or ""
        if name not in ("", "*"):
            yield from wrong(f"{path}.name", name, names.dns_subdomain(name))
        yield from name_of(f"{path}.namespace", subject.get("namespace") or "")


class PriorityLevelConfiguration(_Flow):
    def default(self, obj: Object) -> None:
        spec = child(obj, "spec")
        for key, shares in (("limited", 30), ("exempt", 0)):
            if (level := spec.get(key)) is not None:
                default(level, nominalConcurrencyShares=shares, lendablePercent=0)
        if (queuing := child(spec, "limited", "limitResponse").get("queuing")) is not None:
            for key, value in (("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)):
                queuing[key] = queuing.get(key) or value

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}

    def check(self, obj: Object) -> Errors:
        spec, name = child(obj, "spec"), child(obj, "metadata").get("name")
        sort, limited = spec.get("type") or "", spec.get("limited")
        if (name == "exempt") != (sort == "Exempt"):
            yield invalid("spec.type", sort, "must be 'Exempt' if and only if `name` is 'exempt'")
        if not sort:
            yield required("spec.type")
        yield from maybe_one_of("spec.type", sort or None, ("Exempt", "Limited"))
        if sort == "Limited":
            if spec.get("exempt") is not None:
                yield forbidden_field("spec.exempt", "must be nil if the type is Limited")
            if limited is None:
                yield required("spec.limited", "must not be empty when type is Limited")
            else:
                yield from _limited("spec.limited", limited)
        elif sort == "Exempt" and limited is not None:
            yield forbidden_field("spec.limited", "must be nil if the type is not Limited")


def _limited(path: str, limited: Object) -> Errors:
    if limited["nominalConcurrencyShares"] < 0:
        yield invalid(
            f"{path}.nominalConcurrencyShares", limited["nominalConcurrencyShares"], "must be a non-negative integer"
        )
    yield from within(f"{path}.lendablePercent", limited.get("lendablePercent"), 0, 100)
    if (borrowing := limited.get("borrowingLimitPercent")) is not None and borrowing < 0:
        says = "if specified, must be a non-negative integer"
        yield invalid(f"{path}.borrowingLimitPercent", borrowing, says)
    response = child(limited, "limitResponse")
    sort, queuing, at = response.get("type") or "", response.get("queuing"), f"{path}.limitResponse"
    if not sort:
        yield required(f"{at}.type")
    yield from maybe_one_of(f"{at}.type", sort or None, ("Queue", "Reject"))
    if sort == "Reject" and queuing is not None:
        yield forbidden_field(f"{at}.queuing", "must be nil if limited.limitResponse.type is not Limited")
    elif sort == "Queue" and queuing is None:
        yield required(f"{at}.queuing", "must not be empty if limited.limitResponse.type is Limited")
    elif sort == "Queue" and queuing is not None:
        yield from _queuing(f"{at}.queuing", queuing)


def _queuing(path: str, queuing: Object) -> Errors:
    for key in ("queueLengthLimit", "queues", "handSize"):
        if queuing[key] <= 0:
            yield invalid(f"{path}.{key}", queuing[key], "must be positive")
    if queuing["queues"] > 10_000_000:
        yield invalid(f"{path}.queues", queuing["queues"], "must not be greater than 10000000")
    queues, hand = queuing["queues"], queuing["handSize"]
    if hand > queues:
        yield invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif hand > 0 and queues**hand > 2**60:  # What a shuffle-sharding hash has bits for.
        says = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than 60"
        yield invalid(f"{path}.handSize", hand, says)
