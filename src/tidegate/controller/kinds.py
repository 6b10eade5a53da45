"""The resources the controllers read and write, and which kinds of applications a server has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.kube.wire import Object, Resource
from tidegate.model.kinds import GROUP, VERSION

if TYPE_CHECKING:
    from tidegate.kube.client import Client
    from tidegate.model.jobs import JobKind, Kinds

WORKLOADS: Resource[Object] = Resource(GROUP, VERSION, "workloads", "Workload")
QUEUES: Resource[Object] = Resource(GROUP, VERSION, "queues", "Queue")
CLUSTER_QUEUES: Resource[Object] = Resource(GROUP, VERSION, "clusterqueues", "ClusterQueue", namespaced=False)
FLAVORS: Resource[Object] = Resource(GROUP, VERSION, "resourceflavors", "ResourceFlavor", namespaced=False)

QUEUE_JOBS: Resource[Object] = Resource(GROUP, VERSION, "queuejobs", "QueueJob")

Key = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class ServedKind:
    """A kind of application that the server has."""

    entry: JobKind
    resource: Resource[Object]
    referred: tuple[Resource[Object], ...] = ()
    """Kinds of objects that describe its pods, as far as the server has them."""


async def served_kinds(client: Client, kinds: Kinds) -> list[ServedKind]:
    """Kinds of applications that the server has; pods are followed by themselves."""
    # Imported here: commands that only name a resource are to start fast.
    from tidegate.kube.discovery import served_resources

    wanted = {
        (entry.group, entry.kind, version): entry
        for entry in kinds.entries
        if (entry.group, entry.kind) != ("", "Pod")
        for version in entry.versions
    }
    found: dict[str, ServedKind] = {}
    there = [served.resource for served in await served_resources(client) if "watch" in served.verbs]
    for resource in there:
        entry = wanted.get((resource.group, resource.kind, resource.version))
        if entry is not None:
            before = found.get(f"{entry.kind}.{entry.group}")
            # Versions of an entry are in its order of preference.
            if before is None or _rank(entry, resource) < _rank(entry, before.resource):
                found[f"{entry.kind}.{entry.group}"] = ServedKind(entry, resource, _referred(entry, resource, there))
    return [found[key] for key in sorted(found)]


def _rank(entry: JobKind, resource: Resource[Object]) -> int:
    return entry.versions.index(resource.version)


def _referred(
    entry: JobKind, resource: Resource[Object], there: Iterable[Resource[Object]]
) -> tuple[Resource[Object], ...]:
    names = set(entry.refers.kinds) if entry.refers else set()
    same = (resource.group, resource.version)
    return tuple(each for each in there if each.kind in names and (each.group, each.version) == same)


def key_of(obj: Object) -> Key:
    """Namespace and name of an object."""
    return str(obj["metadata"].get("namespace") or ""), str(obj["metadata"]["name"])


def name_of(key: Key) -> str:
    """As the scheduler calls it: namespace/name."""
    return f"{key[0]}/{key[1]}"
