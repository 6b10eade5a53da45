"""Rows of the kinds most clusters have most of, pods and workloads aside."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.tables.times import Since
from tidegate.local.tables.words import NONE, balancers, created, labels, name_of, part, selector, shortened

_ROLE_PREFIX = "node-role.kubernetes.io/"
_UNKNOWN = "<unknown>"


def only_name(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), since(created(obj))]


def service(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    addresses = spec.get("clusterIPs")
    return [
        name_of(obj),
        spec.get("type", ""),
        addresses[0] if addresses else NONE,
        _external_address(spec, part(obj, "status")),
        ",".join(map(_service_port, spec.get("ports") or [])) or NONE,
        since(created(obj)),
        labels(spec.get("selector")),
    ]


def _external_address(spec: Object, status: Object) -> str:
    external = ",".join(spec.get("externalIPs") or [])
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return external or NONE
        case "LoadBalancer":
            return ",".join(filter(None, (balancers(status), external))) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case _:
            return _UNKNOWN


def _service_port(port: Object) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


def endpoints(obj: Object, since: Since) -> list[Any]:
    found: list[str] = []
    for subset in obj.get("subsets") or []:
        addresses = [address["ip"] for address in subset.get("addresses") or []]
        ports = subset.get("ports")
        found += addresses if not ports else [_host_port(ip, port["port"]) for port in ports for ip in addresses]
    empty = "" if obj.get("subsets") else NONE
    return [name_of(obj), shortened(found, 3, empty=empty), since(created(obj))]


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def endpoint_slice(obj: Object, since: Since) -> list[Any]:
    ports = [_slice_port(port) for port in obj.get("ports") or []]
    addresses = [address for found in obj.get("endpoints") or [] for address in found.get("addresses") or []]
    return [name_of(obj), obj.get("addressType", ""), shortened(ports, 3), shortened(addresses, 3), since(created(obj))]


def _slice_port(port: Object) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    return str(port["name"]) if port.get("name") is not None else "*"


def ingress(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    rules = spec.get("rules") or []
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    text = ",".join(hosts[:3]) or "*"
    # Kubernetes counts rules here, not hosts.
    if len(hosts) >= 3 and len(rules) > 3:
        text = f"{text} + {len(rules) - 3} more..."
    class_name = spec.get("ingressClassName")
    ports = "80, 443" if spec.get("tls") else "80"
    address = balancers(part(obj, "status"))
    return [name_of(obj), NONE if class_name is None else class_name, text, address, ports, since(created(obj))]


def ingress_class(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    found = spec.get("parameters")
    text = NONE
    if found:
        group = f".{found['apiGroup']}" if found.get("apiGroup") is not None else ""
        text = f"{found['kind']}{group}/{found['name']}"
    name = default_name(obj, "ingressclass.kubernetes.io/is-default-class")
    return [name, spec.get("controller", ""), text, since(created(obj))]


def default_name(obj: Object, *annotations: str) -> str:
    """The name, with a note if the object is the default one of its kind."""
    given = obj["metadata"].get("annotations") or {}
    is_default = any(given.get(annotation) == "true" for annotation in annotations)
    return f"{name_of(obj)} (default)" if is_default else name_of(obj)


def network_policy(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), selector(part(obj, "spec").get("podSelector")) or NONE, since(created(obj))]


def node(obj: Object, since: Since) -> list[Any]:
    status = part(obj, "status")
    about = part(status, "nodeInfo")
    kernel = about.get("kernelVersion") or _UNKNOWN
    if about.get("architecture"):
        kernel += f" ({about['architecture']})"
    return [
        name_of(obj),
        _node_state(obj),
        ",".join(_node_roles(obj["metadata"].get("labels") or {})) or NONE,
        since(created(obj)),
        about.get("kubeletVersion", ""),
        _node_address(status, "InternalIP"),
        _node_address(status, "ExternalIP"),
        about.get("osImage") or _UNKNOWN,
        kernel,
        about.get("containerRuntimeVersion") or _UNKNOWN,
    ]


def _node_state(obj: Object) -> str:
    conditions = {item["type"]: item.get("status") for item in part(obj, "status").get("conditions") or []}
    ready = conditions.get("Ready")
    state = "Unknown" if "Ready" not in conditions else "Ready" if ready == "True" else "NotReady"
    return f"{state},SchedulingDisabled" if part(obj, "spec").get("unschedulable") else state


def _node_roles(given: Object) -> list[str]:
    roles = {key.removeprefix(_ROLE_PREFIX) for key in given if key.startswith(_ROLE_PREFIX)}
    return sorted((roles | {given.get("kubernetes.io/role", "")}) - {""})


def _node_address(status: Object, kind: str) -> str:
    found = (address["address"] for address in status.get("addresses") or [] if address.get("type") == kind)
    return next(found, NONE)


def namespace(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), part(obj, "status").get("phase", ""), since(created(obj))]


def config_map(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), len(part(obj, "data")) + len(part(obj, "binaryData")), since(created(obj))]


def secret(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), obj.get("type", ""), len(part(obj, "data")), since(created(obj))]


def event(obj: Object, since: Since) -> list[Any]:
    """Either version of events: the newer calls the old fields deprecated, and two of them by other names."""
    told = {key.removeprefix("deprecated")[:1].lower() + key.removeprefix("deprecated")[1:]: obj[key] for key in obj}
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    series = obj.get("series")
    first = since(told.get("firstTimestamp") or obj.get("eventTime"))
    last = since(told["lastTimestamp"]) if told.get("lastTimestamp") else first
    kind = about.get("kind", "").lower()
    return [
        since(series.get("lastObservedTime")) if series else last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        about.get("fieldPath", ""),
        _event_source(obj, told.get("source") or {}),
        (obj.get("message") or obj.get("note") or "").strip(),
        first,
        series.get("count", 0) if series else told.get("count") or 1,
        name_of(obj),
    ]


def _event_source(obj: Object, source: Object) -> str:
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    instance = source.get("host") or obj.get("reportingInstance")
    return f"{component}, {instance}" if instance else component


def lease(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), part(obj, "spec").get("holderIdentity") or "", since(created(obj))]


def resource_quota(obj: Object, since: Since) -> list[Any]:
    status = part(obj, "status")
    used = part(status, "used")
    requests: list[str] = []
    limits: list[str] = []
    for name, hard in sorted(part(status, "hard").items()):
        side = limits if name.startswith("limits.") else requests
        side.append(f"{name}: {used.get(name, '0')}/{hard}")
    return [name_of(obj), ", ".join(requests), ", ".join(limits), since(created(obj))]


def priority_class(obj: Object, since: Since) -> list[Any]:
    value, is_default = obj.get("value", 0), obj.get("globalDefault", False)
    return [name_of(obj), value, is_default, since(created(obj)), obj.get("preemptionPolicy") or ""]


def runtime_class(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), obj.get("handler", ""), since(created(obj))]


def scale(obj: Object, since: Since) -> list[Any]:
    replicas = (part(obj, "spec").get("replicas", 0), part(obj, "status").get("replicas", 0))
    return [name_of(obj), *replicas, since(created(obj))]


def service_range(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), ",".join(part(obj, "spec").get("cidrs") or []), since(created(obj))]


def ip_address(obj: Object, since: Since) -> list[Any]:
    """Has an age without a column for it, as in Kubernetes."""
    parent = part(obj, "spec").get("parentRef")
    text = NONE
    if parent:
        group = f".{parent['group']}" if parent.get("group") else ""
        where = f"/{parent['namespace']}" if parent.get("namespace") else ""
        text = f"{parent.get('resource', '')}{group}".lower() + f"{where}/{parent.get('name', '')}"
    return [name_of(obj), text, since(created(obj))]
