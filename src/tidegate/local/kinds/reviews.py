"""Kinds that are questions or registrations: reviews, tokens, certificates, API services, flow control, bindings."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, default, items, maybe_one_of, name_of, needs, within, wrong

_USAGES = {
    *("signing", "digital signature", "content commitment", "key encipherment", "key agreement", "data encipherment"),
    *("cert sign", "crl sign", "encipher only", "decipher only", "any", "server auth", "client auth", "code signing"),
    *("email protection", "s/mime", "ipsec end system", "ipsec tunnel", "ipsec user", "timestamping", "ocsp signing"),
    *("microsoft sgc", "netscape sgc"),
}
_LOCAL = {
    "type": "Available",
    "status": "True",
    "reason": "Local",
    "message": "Local APIServices are always available",
}
_VERBS = {"get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy", "*"}


class _Question(BuiltIn):
    """Asked and answered, never stored; so it needs no name."""

    name_form = staticmethod(names.path_segment)


class TokenRequest(_Question):
    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("expirationSeconds") is None:
            spec["expirationSeconds"] = 3600

    def check(self, obj: Object) -> Errors:
        seconds = child(obj, "spec").get("expirationSeconds") or 0
        if seconds < 600:
            yield invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        elif seconds > 1 << 32:
            yield invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")


class SelfSubjectAccessReview(_Question):
    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
        if resource is not None and other is not None:
            says = "cannot be specified in combination with resourceAttributes"
            yield invalid("spec.nonResourceAttributes", other, says)
        elif resource is None and other is None:
            says = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
            yield invalid("spec.resourceAttributes", None, says)


class SubjectAccessReview(SelfSubjectAccessReview):
    def check(self, obj: Object) -> Errors:
        yield from super().check(obj)
        spec = child(obj, "spec")
        if not spec.get("user") and not spec.get("groups"):
            yield invalid("spec.user", "", "at least one of user or group must be specified")


class LocalSubjectAccessReview(SubjectAccessReview):
    def check(self, obj: Object) -> Errors:
        yield from super().check(obj)
        spec, namespace = child(obj, "spec"), child(obj, "metadata").get("namespace") or ""
        asked = spec.get("resourceAttributes")
        if asked is not None and (asked.get("namespace") or "") != namespace:
            path = "spec.resourceAttributes.namespace"
            yield invalid(path, asked.get("namespace") or "", "must match metadata.namespace")
        if (other := spec.get("nonResourceAttributes")) is not None:
            yield invalid("spec.nonResourceAttributes", other, "disallowed on this kind of request")


class Binding(_Question):
    """A pod's door to a node."""

    def check(self, obj: Object) -> Errors:
        target = child(obj, "target")
        if target.get("kind") not in (None, "", "Node"):
            yield not_supported("target.kind", target["kind"], ("Node", "<empty>"))
        yield from needs("target", target, "name")


class Scale(_Question):
    """The replica count of something, seen alone."""

    def check(self, obj: Object) -> Errors:
        if (replicas := child(obj, "spec").get("replicas") or 0) < 0:
            yield invalid("spec.replicas", replicas, "must be greater than or equal to 0")


class CertificateSigningRequest(BuiltIn):
    has_status = True
    name_form = staticmethod(names.path_segment)

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        obj["spec"] = old.get("spec", {})

    def check_create(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        if not spec.get("request"):
            yield invalid("spec.request", "", "PEM block type must be CERTIFICATE REQUEST")
        usages = spec.get("usages") or []
        if not usages:
            yield required("spec.usages")
        for index, usage in enumerate(usages):
            if usage not in _USAGES:
                yield not_supported(f"spec.usages[{index}]", usage, sorted(_USAGES))
            if usage in usages[:index]:
                yield duplicate(f"spec.usages[{index}]", usage)
        yield from _signer_name("spec.signerName", spec.get("signerName") or "")
        if (seconds := spec.get("expirationSeconds")) is not None and seconds < 600:
            says = "may not specify a duration less than 600 seconds (10 minutes)"
            yield invalid("spec.expirationSeconds", seconds, says)

    def check_status(self, obj: Object, old: Object) -> Errors:
        now, was = (child(one, "status").get("certificate") for one in (obj, old))
        if was and now != was:
            yield forbidden_field("status.certificate", "updates may not modify existing certificate content")
        for kind in ("Approved", "Denied", "Failed"):
            kept, had = (
                [c for c in child(one, "status").get("conditions") or () if c.get("type") == kind] for one in (obj, old)
            )
            if len(kept) < len(had):
                yield forbidden_field("status.conditions", f'updates may not remove a condition of type "{kind}"')
            elif kind != "Failed" and len(kept) > len(had):
                yield forbidden_field("status.conditions", f'updates may not add a condition of type "{kind}"')


def _signer_name(path: str, name: str) -> Errors:
    if not name:
        yield required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or not rest:
        yield invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    yield from wrong(path, domain, names.dns_subdomain(domain))
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from wrong(path, rest, names.dns_subdomain(rest.lower()))


class APIService(BuiltIn):
    has_status = True
    name_form = staticmethod(names.path_segment)

    def default(self, obj: Object) -> None:
        if (service := child(obj, "spec").get("service")) is not None and service.get("port") is None:
            service["port"] = 443

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}
        if child(obj, "spec").get("service") is None:
            now = child(obj, "metadata").get("creationTimestamp")
            obj["status"]["conditions"] = [_LOCAL | {"lastTransitionTime": now}]

    def check(self, obj: Object) -> Errors:
        spec, name = child(obj, "spec"), child(obj, "metadata").get("name") or ""
        group, version = spec.get("group") or "", spec.get("version") or ""
        if name and name != f"{version}.{group}":
            yield invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{version}.{group}"')
        if not group and version != "v1":
            yield required("spec.group", "only v1 may have an empty group and it better be legacy kube")
        elif group:
            yield from wrong("spec.group", group, names.dns_subdomain(group))
        yield from wrong("spec.version", version, names.dns_1035_label(version))
        for key, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
            if not 0 < (spec.get(key) or 0) <= most:
                yield invalid(f"spec.{key}", spec.get(key) or 0, f"must be positive and less than {most}")
        yield from _backing_service(spec)

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from _known_statuses(child(obj, "status"))


def _known_statuses(status: Object) -> Errors:
    for at, condition in items(status, "conditions", "status"):
        yield from maybe_one_of(f"{at}.status", condition.get("status") or "", ("True", "False", "Unknown"))


def _backing_service(spec: Object) -> Errors:
    service, skips, bundle = spec.get("service"), spec.get("insecureSkipTLSVerify"), spec.get("caBundle")
    if service is None:
        if bundle:
            yield invalid("spec.caBundle", f"{len(bundle)} bytes", "local APIServices may not have a caBundle")
        if skips:
            says = "local APIServices may not have insecureSkipTLSVerify"
            yield invalid("spec.insecureSkipTLSVerify", True, says)
        return
    yield from needs("spec.service", service, "namespace", "name")
    if messages := names.port_number(service.get("port") or 0):
        yield invalid("spec.service.port", service.get("port"), f"port is not valid: {', '.join(messages)}")
    if skips and bundle:
        yield invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


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
