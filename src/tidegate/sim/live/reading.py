"""Everything a plan needs to know, read once from a server. Nothing is written, and nothing is followed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable

from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, QUEUES, WORKLOADS
from tidegate.controller.seen.config import snapshot
from tidegate.controller.seen.workloads import Facts, is_over, left_over, seen_workload
from tidegate.kube.client import Client
from tidegate.kube.resources import NAMESPACES, NODES, PODS, PRIORITYCLASSES
from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.kinds import Workload
from tidegate.model.problems import ManifestError
from tidegate.scheduler import Snapshot
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import PodFacts, pod_facts


async def read_cluster(client: Client) -> Snapshot:
    """What a server has, as the operator would see it. StatusError where not all of it may be read."""
    from msgspec.structs import replace

    wanted = (NODES, FLAVORS, CLUSTER_QUEUES, QUEUES, NAMESPACES, WORKLOADS, PODS, PRIORITYCLASSES)
    pages = await asyncio.gather(*(client.list(resource) for resource in wanted))
    nodes, flavors, cluster_queues, queues, namespaces, workloads, pods, classes = (page.items for page in pages)
    config = snapshot(nodes, flavors, cluster_queues, queues, namespaces)
    return replace(config, workloads=tuple(_workloads(workloads, pods, classes)))


def _workloads(workloads: list[Object], pods: list[Object], classes: list[Object]) -> Iterable[SeenWorkload]:
    """Those that ask or take room, and what is left of those that are gone."""
    ranks = {str(each["metadata"]["name"]): int(each["value"]) for each in classes}
    by_workload: dict[str, list[PodFacts]] = defaultdict(list)
    for pod in pods:
        facts = pod_facts(pod)
        if facts.workload:
            by_workload[f"{pod['metadata']['namespace']}/{facts.workload}"].append(facts)
    for obj in workloads:
        mine = by_workload.pop(f"{obj['metadata']['namespace']}/{obj['metadata']['name']}", [])
        try:
            workload = read(Workload, obj)
        except ManifestError:
            continue
        named = workload.spec.priority_class_name or ""
        missing = "" if named in ranks else named
        known = Facts(priority=ranks.get(named), missing_class=missing, pods=tuple(mine))
        seen = seen_workload(workload, known)
        if not is_over(workload, known) or any(each.present for each in seen.pod_sets):
            yield seen
    for name, left in by_workload.items():
        if (gone := left_over(name, left)) is not None:
            yield gone
