"""Manifests of a scenario: the queue kinds, workloads in full, and of Kubernetes' own kinds those that matter here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from tidegate.model.codec import decode
from tidegate.model.kinds import API_VERSION, KINDS, ClusterQueue, Kind, Queue, ResourceFlavor, Workload
from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import TaintEffect
from tidegate.model.problems import ManifestError, Problem
from tidegate.model.resources import Resources
from tidegate.scheduler import Node, Taint
from tidegate.sim.world import Application, PodGroup, World

DEFAULT_NAMESPACE = "default"
NAMESPACED = {"Queue", "Workload"}
KUBERNETES = {"Node": "v1", "Namespace": "v1", "PriorityClass": "scheduling.k8s.io/v1"}
SIMULATED = ("ResourceFlavor", "ClusterQueue", "Queue", "Workload", *KUBERNETES)


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of the world: what it is, and how it comes about or changes."""

    kind: str
    name: str
    """namespace/name where the kind has namespaces."""
    apply: Callable[[World], None]
    pod_sets: tuple[str, ...] = ()
    """Of a Workload."""
    policy: str | None = None
    """That a ClusterQueue is served by."""


def thing(manifest: object) -> Thing:
    """What a manifest means; ManifestError with everything that is wrong with it."""
    name = manifest.get("kind") if isinstance(manifest, Mapping) else None
    if name is not None and not isinstance(name, str):
        raise _wrong("kind", f"is not text; write one of {', '.join(SIMULATED)}")
    if isinstance(manifest, Mapping) and name in KUBERNETES:
        return _of_kubernetes(manifest)
    if name == "Scenario":
        raise _wrong("kind", "a Scenario is no part of another; name its file to `tidegate simulate` as well")
    if name in KINDS and name not in SIMULATED:
        raise _wrong("kind", f"{name} is not simulated; write its Workload instead")
    return _of_tidegate(decode(_known(manifest)))


def _known(manifest: object) -> object:
    """A kind nobody here knows is said to be so with all that are, not with tidegate's alone."""
    kind = manifest.get("kind") if isinstance(manifest, Mapping) else None
    if kind and kind not in KINDS and manifest.get("apiVersion", API_VERSION) != API_VERSION:  # type: ignore[attr-defined]
        raise _wrong("kind", f'"{kind}" is not simulated; write one of {", ".join(SIMULATED)}')
    return manifest


def _wrong(field: str, message: str) -> ManifestError:
    return ManifestError([Problem(tuple(field.split(".")), message)])


def _of_tidegate(value: Kind) -> Thing:
    kind, name = type(value).__name__, value.metadata.name
    if not name:
        raise _wrong("metadata.name", "is missing; add it")
    if kind in NAMESPACED:
        name = f"{value.metadata.namespace or DEFAULT_NAMESPACE}/{name}"
    match value:
        case ResourceFlavor(spec=flavor):
            return Thing(kind, name, lambda world: world.flavors.__setitem__(name, flavor))
        case ClusterQueue(spec=cluster_queue):
            put = partial(_apply_cluster_queue, name, cluster_queue)
            return Thing(kind, name, put, policy=cluster_queue.policy)
        case Queue(spec=queue):
            return Thing(kind, name, lambda world: world.queues.__setitem__(name, queue))
        case Workload():
            pod_sets = tuple(pod_set.name for pod_set in value.spec.pod_sets)
            return Thing(kind, name, lambda world: _apply_workload(name, value, world), pod_sets)
    raise _wrong("kind", f"{kind} is not simulated; write one of {', '.join(SIMULATED)}")


def _apply_cluster_queue(name: str, spec: ClusterQueueSpec, world: World) -> None:
    world.cluster_queues[name] = spec


def _apply_workload(name: str, value: Workload, world: World) -> None:
    """A Workload in full: it comes, or what is asked for changes while what it holds stays."""
    spec, there = value.spec, world.applications.get(name)
    queue = f"{name.partition('/')[0]}/{spec.queue}"
    before = {group.name: group for group in there.pod_groups} if there else {}
    groups = []
    for pod_set in spec.pod_sets:
        group = before.get(pod_set.name) or PodGroup(pod_set.name, 0, 0)
        group.count, group.max_count, group.step = pod_set.count, pod_set.max_count, pod_set.step
        # A floor that is not stated is `count` at creation, and stays when only `count` changes.
        group.floor = pod_set.floor if pod_set.min_count is not None or pod_set.name not in before else group.floor
        group.requests, group.mixes, group.node_selector = pod_set.requests, pod_set.mixes, dict(pod_set.node_selector)
        groups.append(group)
    if there is None:
        there = Application(name=name, queue=queue, created=world.now, pod_groups=groups)
        world.submit(there)
    there.queue, there.pod_groups, there.active = queue, groups, spec.active
    there.priority, there.priority_class = spec.priority, spec.priority_class_name
    there.missing_class = ""
    world.rank(there)
    there.max_run_seconds = spec.max_run_seconds
    there.changed()
    world.finish_if_done(there)


def _of_kubernetes(manifest: Mapping[str, Any]) -> Thing:
    kind = str(manifest["kind"])
    version = manifest.get("apiVersion", KUBERNETES[kind])
    if version != KUBERNETES[kind]:
        raise _wrong("apiVersion", f'"{version}" is not that of a {kind}; write {KUBERNETES[kind]}')
    metadata = _mapping(manifest, "metadata")
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise _wrong("metadata.name", "is missing or not text; add it")
    labels = _texts(_mapping(metadata, "labels", "metadata"), "metadata.labels")
    if kind == "Namespace":
        return Thing(kind, name, lambda world: world.namespaces.__setitem__(name, labels))
    if kind == "PriorityClass":
        value = manifest.get("value")
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong("value", "is missing or not a whole number; write how urgent the class is, e.g. 100")
        return Thing(kind, name, lambda world: _apply_class(name, value, world))
    node = Node(name=name, labels=labels, allocatable=_allocatable(manifest), taints=_taints(manifest))
    ready = _is_ready(manifest)
    return Thing(kind, name, lambda world: _apply_node(node, ready, world))


def _apply_class(name: str, value: int, world: World) -> None:
    world.priority_classes[name] = value
    world.rank_all()


def _apply_node(node: Node, ready: bool, world: World) -> None:
    """A node that is not ready is as good as lost."""
    if ready:
        world.nodes[node.name] = node
    else:
        world.nodes.pop(node.name, None)


def _allocatable(manifest: Mapping[str, Any]) -> Resources:
    status = _mapping(manifest, "status")
    part = "allocatable" if "allocatable" in status else "capacity"
    try:
        return Resources.parse(status.get(part, {}))
    except ValueError as error:
        raise _wrong(f"status.{part}", str(error)) from None


def _taints(manifest: Mapping[str, Any]) -> tuple[Taint, ...]:
    spec = _mapping(manifest, "spec")
    return tuple(taint(one, ("spec", "taints", index)) for index, one in enumerate(_items(spec, "taints", "spec")))


def taint(raw: object, field: tuple[str | int, ...]) -> Taint:
    """A taint as in a Node's spec."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("key"), str):
        raise ManifestError([Problem(field, "is not a taint; write {key: …, value: …, effect: NoSchedule}")])
    if unknown := raw.keys() - {"key", "value", "effect", "timeAdded"}:
        raise ManifestError([Problem((*field, str(min(unknown))), "is not a field of a taint; remove it")])
    effect, value = raw.get("effect", TaintEffect.NO_SCHEDULE), raw.get("value", "")
    if effect not in list(TaintEffect):
        message = f'"{effect}" is not known here; write one of {", ".join(TaintEffect)}'
        raise ManifestError([Problem((*field, "effect"), message)])
    if not isinstance(value, str):
        raise ManifestError([Problem((*field, "value"), "is not text; write it in quotes")])
    return Taint(key=raw["key"], value=value, effect=TaintEffect(effect))


def _is_ready(manifest: Mapping[str, Any]) -> bool:
    """Whether pods may go there: it is ready, and not cordoned."""
    if _mapping(manifest, "spec").get("unschedulable"):
        return False
    conditions = _items(_mapping(manifest, "status"), "conditions", "status")
    return all(
        str(one.get("status")) == "True"
        for one in conditions
        if isinstance(one, Mapping) and one.get("type") == "Ready"
    )


def _mapping(holder: Mapping[str, Any], part: str, field: str = "") -> Mapping[str, Any]:
    value = holder.get(part)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _wrong(f"{field}.{part}".lstrip("."), "is not a mapping; write it as names with values")
    return value


def _items(holder: Mapping[str, Any], part: str, field: str) -> list[Any]:
    value = holder.get(part)
    if value is not None and not isinstance(value, list | tuple):
        raise _wrong(f"{field}.{part}", "is not a list; write its items with a dash each")
    return list(value or ())


def _texts(values: Mapping[str, Any], field: str) -> dict[str, str]:
    for key, value in values.items():
        if not isinstance(value, str) or not isinstance(key, str):
            raise _wrong(f"{field}.{key}", "is not text; write it in quotes")
    return dict(values)
