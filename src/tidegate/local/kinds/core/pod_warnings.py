"""What is odd about a pod, or a template for pods, but not wrong: told to whoever writes it."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.kube.wire import Object
from tidegate.local.kinds.remembered import remembered
from tidegate.model.quantity import Quantity

_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}
_BYTES = ("memory", "ephemeral-storage")
_NO_SELECTOR = "a null labelSelector results in matching no pod"


@remembered
def pod_warnings(path: str, spec: Object) -> Iterator[str]:
    """`path` is that of the spec: `spec`, `spec.template.spec` …"""
    for key in spec.get("nodeSelector") or ():
        if key in NODE_LABELS:
            yield f"{path}.nodeSelector[{key}]: {NODE_LABELS[key]}"
    for index, spread in enumerate(spec.get("topologySpreadConstraints") or ()):
        if spread.get("topologyKey") in NODE_LABELS:
            at = f"{path}.topologySpreadConstraints[{index}].topologyKey"
            yield f"{at}: {spread['topologyKey']} is {NODE_LABELS[spread['topologyKey']]}"
        if spread.get("labelSelector") is None:
            yield f"{path}.topologySpreadConstraints[{index}].labelSelector: {_NO_SELECTOR}"
    yield from _volumes(path, spec)
    yield from _repeated(path, spec)
    yield from _fractions(f"{path}.overhead", spec.get("overhead") or {})
    yield from _containers(path, spec)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        says = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{path}.terminationGracePeriodSeconds: {says}"
    yield from _affinities(path, spec)


def _volumes(path: str, spec: Object) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        for key, says in _VOLUMES.items():
            if volume.get(key) is not None:
                yield f"{path}.volumes[{index}].{key}: {says}"
        if (projected := volume.get("projected")) is not None:
            for source in projected.get("sources") or ():
                if not source:
                    yield f'volume "{volume.get("name", "")}" (Projected) has no sources provided'


def _repeated(path: str, spec: Object) -> Iterator[str]:
    seen: set[str] = set()
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        if (address := alias.get("ip", "")) in seen:
            yield f'{path}.hostAliases[{index}].ip: duplicate ip "{address}"'
        seen.add(address)
    names: set[str] = set()
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        name = secret.get("name", "")
        if name in names:
            yield f'{path}.imagePullSecrets[{index}].name: duplicate name "{name}"'
        if not name:
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'
        names.add(name)


def _fractions(path: str, amounts: Object) -> Iterator[str]:
    for key in _BYTES:
        if key in amounts and Quantity.parse(str(amounts[key])).nano % 10**9:
            yield f'{path}[{key}]: fractional byte value "{amounts[key]}" is invalid, must be an integer'


def _containers(path: str, spec: Object) -> Iterator[str]:
    ports: dict[tuple[int, str], list[tuple[str, Object]]] = {}
    named: dict[str, str] = {}
    for sort in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(sort) or ()):
            at = f"{path}.{sort}[{index}]"
            resources = container.get("resources") or {}
            for field in ("limits", "requests"):
                yield from _fractions(f"{at}.resources.{field}", resources.get(field) or {})
            yield from _hidden(at, container.get("env") or [])
            for place, port in enumerate(container.get("ports") or ()):
                if port.get("hostIP") and not port.get("hostPort"):
                    yield f"{at}.ports[{place}]: hostIP set without hostPort: {_as_go(port)}"
                yield from _overlaps(f"{at}.ports[{place}]", port, ports)
                yield from _same_name(f"{at}.ports[{place}]", port.get("name", ""), named)


def _as_go(port: Object) -> str:
    """A port as Go prints one."""
    number, protocol = port.get("containerPort", 0), port.get("protocol", "")
    name, address = port.get("name", ""), port.get("hostIP", "")
    return f"{{Name:{name} HostPort:0 ContainerPort:{number} Protocol:{protocol} HostIP:{address}}}"


def _hidden(path: str, variables: list[Object]) -> Iterator[str]:
    """A variable said again is fine if it builds on what it hides: X="$(X):more"."""
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        earlier = f"$({name})"
        if name in seen and (variable.get("valueFrom") or value == earlier or earlier not in value):
            says = f'hides previous definition of "{name}", which may be dropped when using apply'
            yield f"{path}.env[{index}]: {says}"
        seen.add(name)


def _overlaps(path: str, port: Object, ports: dict[tuple[int, str], list[tuple[str, Object]]]) -> Iterator[str]:
    others = ports.setdefault((port.get("containerPort", 0), port.get("protocol", "TCP")), [])
    address, number = port.get("hostIP", ""), port.get("hostPort", 0)
    for where, other in others:
        if (address, number) == (other.get("hostIP", ""), other.get("hostPort", 0)):
            yield f"{path}: duplicate port definition with {where}"
        elif not number or not other.get("hostPort"):
            yield f"{path}: overlapping port definition with {where}"
        elif number == other["hostPort"] and bool(address) != bool(other.get("hostIP")):
            yield f"{path}: dangerously ambiguous port definition with {where}"
    others.append((path, port))


def _same_name(path: str, name: str, named: dict[str, str]) -> Iterator[str]:
    if name and name in named:
        says = f"services and probes that select ports by name will use {named[name]}"
        yield f'{path}: duplicate port name "{name}" with {named[name]}, {says}'
    elif name:
        named[name] = path


def _affinities(path: str, spec: Object) -> Iterator[str]:
    for sort in ("podAffinity", "podAntiAffinity"):
        affinity = (spec.get("affinity") or {}).get(sort) or {}
        wanted = "requiredDuringSchedulingIgnoredDuringExecution"
        for index, term in enumerate(affinity.get(wanted) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.affinity.{sort}.{wanted}[{index}].labelSelector: {_NO_SELECTOR}"
        liked = "preferredDuringSchedulingIgnoredDuringExecution"
        for index, term in enumerate(affinity.get(liked) or ()):
            if (term.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{path}.affinity.{sort}.{liked}[{index}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"
