"""Cluster addresses and IP families of a Service. This cluster has IPv4 only, and says so."""

from __future__ import annotations

import ipaddress

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import Errors, items, wrong

_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_ONCE = "may not change once set"


def is_headless(spec: Object) -> bool:
    return spec.get("clusterIPs") == ["None"]


def _family(address: str) -> str:
    return f"IPv{ipaddress.ip_address(address).version}"


def normalize(spec: Object, before: Object | None) -> None:
    """One address and many are the same said twice; families follow from addresses."""
    one, many = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if before is None:
        many = many or ([one] if one else [])
    elif (before.get("clusterIP") or "") != one and many == (before.get("clusterIPs") or []):
        many = [one] if one else []
    if many:
        spec["clusterIPs"] = many
    else:
        spec.pop("clusterIPs", None)
    if spec.get("type") == "ExternalName":
        spec.pop("internalTrafficPolicy", None)
        return
    bare = one == "None" and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        earlier = (before or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = earlier or ("RequireDualStack" if bare else "SingleStack")
    families = list(spec.get("ipFamilies") or (before or {}).get("ipFamilies") or [])
    if not families:
        families = [_family(address) for address in many if not names.ip_address(address)] or ["IPv4"]
    fewer = len((before or {}).get("ipFamilies") or ()) > len(families)
    if bare and len(families) == 1 and spec["ipFamilyPolicy"] != "SingleStack" and not fewer:
        families += [family for family in _FAMILIES if family not in families]
    spec["ipFamilies"] = families


def check(spec: Object, before: Object | None) -> Errors:
    if spec.get("type") == "ExternalName":
        return
    errors = list(_well_formed(spec, before))
    yield from errors or _configured(spec, before or {})


def _well_formed(spec: Object, before: Object | None) -> Errors:
    one, many = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if one and not many:
        yield required("spec.clusterIPs")
    elif one and many[0] != one:
        yield invalid("spec.clusterIPs", many, "first value must match `clusterIP`")
    elif many and not one:
        yield invalid("spec.clusterIPs", many, "must be empty when `clusterIP` is not specified")
    seen: set[str] = set()
    for at, family in items(spec, "ipFamilies", "spec"):
        if family not in _FAMILIES:
            yield not_supported(at, family, _FAMILIES)
        if family in seen:
            yield duplicate(at, family)
        seen.add(family)
    if spec.get("ipFamilyPolicy") not in _POLICIES:
        yield not_supported("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), _POLICIES)
    yield from _cluster_ips(many, spec.get("ipFamilies") or [], (before or {}).get("clusterIPs") or [])


def _cluster_ips(many: list[str], families: list[str], known: list[str]) -> Errors:
    bad = False
    for index, address in enumerate(many):
        if index == 0 and address == "None":
            if len(many) > 1:
                bad = True
                yield invalid("spec.clusterIPs", many, "'None' must be the first and only value")
            continue
        messages = [] if address in known else names.ip_address(address)
        bad |= bool(messages)
        yield from wrong(f"spec.clusterIPs[{index}]", address, messages)
    if len(many) > 2:
        yield invalid("spec.clusterIPs", many, "may only hold up to 2 values")
    if bad or many[:1] == ["None"]:
        return
    if len(many) > 1 and sorted(map(_family, many)) != list(_FAMILIES):
        yield invalid("spec.clusterIPs", many, "may specify no more than one IP for each IP family")
    for index, (address, family) in enumerate(zip(many, families, strict=False)):
        if family in _FAMILIES and _family(address) != family:
            says = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield invalid(f"spec.clusterIPs[{index}]", address, says)


def _configured(spec: Object, before: Object) -> Errors:
    policy, families, many = spec["ipFamilyPolicy"], spec.get("ipFamilies") or [], spec.get("clusterIPs") or []
    if policy != "SingleStack":
        for key, called in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
            if 0 < len(spec.get(key) or ()) < len(before.get(key) or ()):
                says = f"must be 'SingleStack' to release the secondary {called}"
                yield invalid("spec.ipFamilyPolicy", policy, says)
    if policy == "SingleStack":
        says = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
        for listed, called in ((many, "cluster IPs"), (families, "IP families")):
            if len(listed) == 2:
                yield invalid("spec.ipFamilyPolicy", policy, says.format(called))
    if spec.get("clusterIP") == "None" and not spec.get("selector"):
        return
    if policy == "RequireDualStack":
        yield invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
    for index, family in enumerate(families):
        if family == "IPv6":
            yield invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")


def check_change(spec: Object, before: Object) -> Errors:
    if "ExternalName" in (spec.get("type"), before.get("type")) or (is_headless(spec) and is_headless(before)):
        return
    now, was = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    if was and not now:
        yield invalid("spec.clusterIPs[0]", now, "primary clusterIP can not be unset")
    for index, (new, old) in enumerate(zip(now, was, strict=False)):
        if new != old:
            yield invalid(f"spec.clusterIPs[{index}]", now, _ONCE)
    if is_headless(spec) == is_headless(before):
        families, earlier = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
        if families and earlier and families[0] != earlier[0]:
            yield invalid("spec.ipFamilies[0]", families, _ONCE)


def not_for_endpoints(text: str) -> list[str]:
    """Why traffic cannot be sent to an address that is otherwise well formed."""
    address = ipaddress.ip_address(text)
    wrong_for = []
    if address.is_unspecified:
        wrong_for.append(f"may not be unspecified ({text})")
    if address.is_loopback and not _of_a_pod(address):
        wrong_for.append("may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        wrong_for.append("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if address in ipaddress.ip_network("224.0.0.0/24" if address.version == 4 else "ff02::/16"):
        wrong_for.append("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    return wrong_for


def _of_a_pod(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Where pods cannot have a network of their own, their addresses are of this part of the loopback range.
    Kubernetes, which has no such pods, refuses it all."""
    return address.version == 4 and 64 <= address.packed[1] < 254
