"""Applications that no field holds back, such as Deployments: their pods are made behind a gate.

The gate and the name of the Workload stand in the application's pod templates, so that pods are held from their first
moment, whoever makes them and however often. What is granted is how many gates are lifted; a pod that is taken away
comes back behind its gate.
"""

from __future__ import annotations

from collections.abc import Callable

from tidegate.controller.applications.form import Flavors
from tidegate.controller.applications.gates import Gates, name_of_pod
from tidegate.controller.applications.groups import groups_of
from tidegate.controller.applications.objects import Applications
from tidegate.controller.watch.cache import Cache
from tidegate.kube.client import Client, StatusError
from tidegate.model.jobs import is_finished, is_gated
from tidegate.model.kinds import Workload
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import hold_pods, is_run_here, pod_facts


class GatedApplications:
    """Sees to it that their pods are made behind a gate, and lifts gates up to what is granted."""

    def __init__(self, client: Client, cache: Cache, applications: Applications, gates: Gates) -> None:
        self._client = client
        self._cache = cache
        self._applications = applications
        self._gates = gates

    def is_ours(self, workload: Workload) -> bool:
        """Whether a Workload stands for an application whose pods are gated."""
        owner = workload.spec.owner
        entry = self._cache.kinds.find({"apiVersion": owner.api_version, "kind": owner.kind}) if owner else None
        return entry is not None and is_gated(entry) and not is_run_here(entry)

    async def carry_out(
        self, workload: Workload, seen: SeenWorkload, flavors: Flavors, *, stands: Callable[[], bool]
    ) -> None:
        """Write what is granted where people look for it, and lift gates up to that."""
        found = self._applications.owner_of(workload)
        if found is None:
            return
        followed, obj = found
        if obj["metadata"].get("deletionTimestamp") or is_finished(followed.entry, obj):
            return
        granted = {each.name: sum(each.granted.values()) for each in seen.pod_sets}
        wanted = hold_pods(followed.entry, obj, workload.metadata.name, granted, kinds=self._cache.kinds)
        try:
            if wanted != obj:
                followed.latest.wrote(await self._client.update(followed.resource, dict(wanted)))
        except StatusError as refused:
            if refused.code not in (404, 409):
                raise
        first = workload.spec.pod_sets[0].name
        members = {name_of_pod(pod): pod_facts(pod).pod_set or first for pod in self._cache.pods_of(seen.name)}
        groups = groups_of(followed.entry, obj, kinds=self._cache.kinds)
        await self._gates.settle(seen, members, flavors, stands=stands, groups=groups)
