"""Single pods and gangs of them: held by a scheduling gate, let go by lifting it, evicted by deleting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidegate.controller.applications.beside import Beside
from tidegate.controller.applications.form import Flavors
from tidegate.controller.applications.gates import Gates, name_of_pod
from tidegate.controller.kinds import WORKLOADS, Key, name_of
from tidegate.controller.namespaces import Managed
from tidegate.controller.watch.cache import Cache
from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object
from tidegate.model.codec import encode
from tidegate.model.jobs import JobError, Outcome, pod_group
from tidegate.model.kinds import Workload
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import describe, group_of, pod_facts, queue_of


class GatedPods:
    """Writes Workloads for pods that wait, and lifts their gates up to what is granted."""

    def __init__(self, client: Client, cache: Cache, managed: Managed, recorder: EventRecorder, gates: Gates) -> None:
        self._client = client
        self._cache = cache
        self._managed = managed
        self._recorder = recorder
        self._gates = gates
        self._entry = gates.entry
        self.beside = Beside(cache, managed)

    def is_ours(self, workload: Workload) -> bool:
        """Whether a Workload stands for pods that somebody made one by one."""
        owner = workload.spec.owner
        return owner.kind == "Pod" if owner else workload.metadata.name.startswith("podgroup-")

    def outcome(self, workload: Workload, pods: Sequence[Object]) -> Outcome | None:
        """How all of them ended; None while some may still run, or are not there yet."""
        facts = [pod_facts(pod) for pod in pods]
        if any(fact.present or fact.gated for fact in facts):
            return None
        wanted = sum(pod_set.count for pod_set in workload.spec.pod_sets)
        reclaimed = sum(each.count for each in workload.status.reclaimed_pod_set_pods)
        if max(reclaimed, sum(fact.succeeded for fact in facts)) >= wanted:
            return Outcome.SUCCEEDED
        # Who was deleted does not come back: a gang that lacks one is over when the others are.
        return Outcome.FAILED if facts else None

    async def describe(self, key: Key) -> None:
        """See to it that pods that wait are asked for; a gang once all its pods are there."""
        if self._cache.workloads.get(key) is not None:
            return
        pods = [pod for pod in self._cache.pods_of(name_of(key)) if self._may_ask(pod)]
        if not pods:
            return
        try:
            wanted = self._wanted(pods)
        except JobError as error:
            self._recorder.record(PODS, pods[0], "NotQueued", str(error), type="Warning")
            return
        if wanted is None:
            return
        self._cache.workloads.wrote(await self._client.create(WORKLOADS, encode(wanted)))

    def _may_ask(self, pod: Object) -> bool:
        """Whether it waits, for a Queue there is."""
        if not pod_facts(pod).gated:
            return False
        return queue_of(pod) is not None or self._managed.has_default(str(pod["metadata"]["namespace"]))

    def _wanted(self, pods: list[Object]) -> Workload | None:
        group = pod_group(self._entry, pods[0])
        if group is None:
            return describe(self._entry, pods[0])
        if len(pods) < group.size:
            return None
        return group_of(self._entry, group.name, pods)[0]

    async def carry_out(
        self, workload: Workload, seen: SeenWorkload, flavors: Flavors, *, stands: Callable[[], bool]
    ) -> None:
        """Lift gates up to what is granted and may start; take away pods beyond what is granted."""
        members = self._members(workload, self._cache.pods_of(seen.name))
        await self._gates.settle(seen, members, flavors, stands=stands)

    def _members(self, workload: Workload, pods: Sequence[Object]) -> dict[str, str]:
        """Which pod set each pod is of: as it was marked when it was let go, else by its shape."""
        marked = {name_of_pod(pod): pod_facts(pod).pod_set for pod in pods}
        waiting = [pod for pod in pods if not marked[name_of_pod(pod)]]
        if workload.spec.owner is None and waiting:
            marked |= group_of(self._entry, workload.metadata.name, waiting)[1]
        return {name: pod_set or workload.spec.pod_sets[0].name for name, pod_set in marked.items()}
