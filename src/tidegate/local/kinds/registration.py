"""Registrations with the cluster: certificates that are asked for, and APIs that others serve."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, needs, wrong

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
