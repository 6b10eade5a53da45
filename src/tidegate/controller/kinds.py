"""The resources the controllers read and write, and which kinds of applications a server has."""

from __future__ import annotations

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


async def queued_kinds(client: Client, kinds: Kinds) -> list[tuple[JobKind, Resource[Object]]]:
    """Kinds of applications that the server has and that can be held or are run here, each with where it is served."""
    # Imported here: commands that only name a resource are to start fast.
    from tidegate.kube.discovery import served_resources
    from tidegate.workloads import is_run_here

    wanted = {
        (entry.group, entry.kind, version): entry
        for entry in kinds.entries
        if (entry.suspend is not None or is_run_here(entry)) and entry.makes is None
        for version in entry.versions
    }
    found: dict[str, tuple[JobKind, Resource[Object]]] = {}
    for served in await served_resources(client):
        resource = served.resource
        entry = wanted.get((resource.group, resource.kind, resource.version))
        if entry is not None and "watch" in served.verbs:
            before = found.get(f"{entry.kind}.{entry.group}")
            # Versions of an entry are in its order of preference.
            if before is None or _rank(entry, resource) < _rank(entry, before[1]):
                found[f"{entry.kind}.{entry.group}"] = (entry, resource)
    return [found[key] for key in sorted(found)]


def _rank(entry: JobKind, resource: Resource[Object]) -> int:
    return entry.versions.index(resource.version)


def key_of(obj: Object) -> Key:
    """Namespace and name of an object."""
    return str(obj["metadata"].get("namespace") or ""), str(obj["metadata"]["name"])


def name_of(key: Key) -> str:
    """As the scheduler calls it: namespace/name."""
    return f"{key[0]}/{key[1]}"
