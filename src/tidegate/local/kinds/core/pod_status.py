"""What may be written to the status of a pod."""

from __future__ import annotations

import ipaddress

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import MOST_INT32, Errors, child, items, unchanged, within, wrong

_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_STATUSES = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "ephemeralContainers",
}


def prepare(obj: Object, old: Object) -> None:
    """Owners and the deletion stay as they were; what a writer that knows no generations left out, too."""
    metadata, before = obj["metadata"], child(old, "metadata")
    metadata.pop("ownerReferences", None)
    if "ownerReferences" in before:
        metadata["ownerReferences"] = before["ownerReferences"]
    status, was = obj.setdefault("status", {}), child(old, "status")
    for key in ("qosClass", "observedGeneration"):
        if not status.get(key) and was.get(key):
            status[key] = was[key]
    generations: dict[str, list[int]] = {}
    for condition in was.get("conditions") or ():
        generations.setdefault(condition.get("type"), []).append(condition.get("observedGeneration") or 0)
    for condition in status.get("conditions") or ():
        earlier = generations.get(condition.get("type"))
        generation = earlier.pop(0) if earlier else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation
    _same_address(status, "podIP", "podIPs")
    _drop_disabled(status)


def _drop_disabled(status: Object) -> None:
    """What is behind feature gates that are off is forgotten, not refused."""
    status.pop("nodeAllocatableResourceClaimStatuses", None)
    for statuses in _STATUSES:
        for one in status.get(statuses) or ():
            for mount in one.get("volumeMounts") or ():
                mount.pop("volumeStatus", None)


def _same_address(status: Object, one: str, several: str) -> None:
    """The first of many addresses and the one address are the same thing said twice; the one wins."""
    address, addresses = status.get(one), status.get(several)
    if address and (not addresses or addresses[0].get("ip") != address):
        status[several] = [{"ip": address}]
    elif addresses and not address:
        status[one] = addresses[0].get("ip")


def check(obj: Object, old: Object) -> Errors:
    status, was, spec = child(obj, "status"), child(old, "status"), child(old, "spec")
    for at, condition in items(status, "conditions", "status"):
        if (generation := condition.get("observedGeneration") or 0) < 0:
            yield invalid(f"{at}.observedGeneration", generation, "must be a non-negative integer")
        if (sort := condition.get("type") or "") not in _SYSTEM_CONDITIONS:
            yield from wrong(f"{at}.Type", sort, names.qualified_name(sort))
    yield from _nominated(status, was, spec)
    if (generation := status.get("observedGeneration") or 0) < 0:
        yield invalid("status.observedGeneration", generation, "must be a non-negative integer")
    yield from unchanged("status", status, was, "qosClass")
    for statuses, sort in _STATUSES.items():
        yield from _transitions(statuses, status, was, spec, sort)
        for at, one in items(status, statuses, "status"):
            yield from _user(f"{at}.user.linux", child(one, "user", "linux"))
    for key in ("podIPs", "hostIPs"):
        yield from _addresses(f"status.{key}", status.get(key) or [], was.get(key) or [])
    hosts = status.get("hostIPs")
    if hosts and hosts[0].get("ip") != status.get("hostIP"):
        yield invalid("status.hostIPs[0].ip", hosts[0].get("ip"), "must be equal to `hostIP`")


def _user(path: str, user: Object) -> Errors:
    for key in ("uid", "gid"):
        yield from within(f"{path}.{key}", user.get(key), 0, MOST_INT32)
    for at, group in items(user, "supplementalGroups", path):
        yield from within(at, group, 0, MOST_INT32)


def _nominated(status: Object, was: Object, spec: Object) -> Errors:
    name = status.get("nominatedNodeName") or ""
    if name and name != was.get("nominatedNodeName"):
        yield from wrong("status.nominatedNodeName", name, names.dns_subdomain(name))
        if spec.get("nodeName"):
            says = "may not be set on pods that are already bound to a node"
            yield forbidden_field("status.nominatedNodeName", says)


def _transitions(statuses: str, status: Object, was: Object, spec: Object, sort: str) -> Errors:
    """What has ended does not run again, unless the pod's restart policy says so."""
    if sort != "ephemeralContainers" and _may_all_restart(spec):
        return
    now = {one.get("name"): child(one, "state") for one in status.get(statuses) or ()}
    for at, before in items(was, statuses, "status"):
        ended = child(before, "state").get("terminated")
        name = before.get("name")
        if ended is None or name not in now or now[name].get("terminated") is not None:
            continue
        container = next((one for one in spec.get(sort) or () if one.get("name") == name), None)
        if (
            sort == "ephemeralContainers"
            or container is None
            or not _restarts(container, spec, ended.get("exitCode") or 0)
        ):
            yield forbidden_field(f"{at}.state", "may not be transitioned to non-terminated state")


def _may_all_restart(spec: Object) -> bool:
    return any(
        rule.get("action") == "RestartAllContainers"
        for sort in ("containers", "initContainers")
        for container in spec.get(sort) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _restarts(container: Object, spec: Object, exit_code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes = child(rule, "exitCodes")
        if rule.get("action") == "Restart" and (exit_code in (codes.get("values") or ())) == (
            codes.get("operator") == "In"
        ):
            return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _addresses(path: str, addresses: list[Object], old: list[Object]) -> Errors:
    known = [address.get("ip") for address in old]
    families = []
    for index, address in enumerate(addresses):
        text = address.get("ip") or ""
        messages = [] if text in known else names.ip_address(text)
        yield from wrong(f"{path}[{index}]", text, messages)
        if not names.ip_address(text):
            families.append(ipaddress.ip_address(text).version)
    if len(addresses) > 1 and sorted(families) != [4, 6]:
        yield invalid(path, addresses, "may specify no more than one IP for each IP family")
