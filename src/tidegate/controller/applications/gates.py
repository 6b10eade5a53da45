"""Gates of pods: lifted up to what is granted; pods beyond what is granted are taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tidegate.controller.applications.deleting import delete_pod
from tidegate.controller.applications.form import Flavors, allowance
from tidegate.controller.applications.groups import Groups
from tidegate.controller.applications.reading import read_again
from tidegate.controller.seen.workloads import ANY_FLAVOR
from tidegate.controller.watch.cache import Cache
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object
from tidegate.scheduler import PodSet as SeenPodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import lifted, pod_facts


class Gates:
    """Pods that wait one by one, whoever made them."""

    def __init__(self, client: Client, cache: Cache) -> None:
        self._client = client
        self._cache = cache
        entry = cache.kinds.find({"apiVersion": "v1", "kind": "Pod"})
        assert entry is not None, "the table of kinds has pods"
        self.entry = entry

    async def settle(
        self,
        seen: SeenWorkload,
        members: Mapping[str, str],
        flavors: Flavors,
        *,
        stands: Callable[[], bool],
        takes: bool = True,
        groups: Groups | None = None,
    ) -> None:
        """As many pods of every set as are granted may run; `members` says which set each pod is of. `takes`: whether
        those beyond that are taken away here, or by whoever made them. `groups`: of these all pods run, or none.
        `stands`: whether nothing of what is granted was taken back since; nothing more is let go then."""
        there = self._cache.pods_of(seen.name)
        pods = [pod for pod in there if not pod["metadata"].get("deletionTimestamp")]
        halves = [] if groups is None else groups.not_whole(seen, pods)
        for pod in halves:
            if takes and pod_facts(pod).present:
                await delete_pod(self._client, pod)
        pods = [pod for pod in pods if pod not in halves]
        for pod_set in seen.pod_sets:
            mine = sorted((pod for pod in pods if members.get(name_of_pod(pod)) == pod_set.name), key=_place)
            waiting = [pod for pod in mine if pod_facts(pod).gated]
            for flavor in sorted({*pod_set.granted, *pod_set.present}):
                # What is there now, not when it was planned: pods may have been heard of since.
                taken = sum(
                    _is_there(pod, pod_set, flavor) for pod in there if members.get(name_of_pod(pod)) == pod_set.name
                )
                may = pod_set.granted.get(flavor, 0) - pod_set.held.get(flavor, 0) - taken
                for _ in range(min(max(0, may), len(waiting))):
                    if not stands():
                        return
                    await self._lift(seen, pod_set, waiting.pop(0), flavor, flavors)
                if takes:
                    await self._take(pod_set, mine, flavor)

    async def _lift(self, seen: SeenWorkload, pod_set: SeenPodSet, pod: Object, flavor: str, flavors: Flavors) -> None:
        name, queue = seen.name.partition("/")[2], seen.queue.partition("/")[2]
        free = lifted(self.entry, pod, name, pod_set.name, allowance(flavor, 1, flavors), queue=queue)
        try:
            self._cache.pods.wrote(await self._client.update(PODS, dict(free)))
        except StatusError as refused:
            if refused.code not in (404, 409):
                raise
            await read_again(self._client, self._cache, pod)

    async def _take(self, pod_set: SeenPodSet, pods: Sequence[Object], flavor: str) -> None:
        there = [pod for pod in pods if _is_there(pod, pod_set, flavor)]
        beyond = len(there) - pod_set.granted.get(flavor, 0)
        for pod in there[::-1][: max(0, beyond)]:
            await delete_pod(self._client, pod)


def _is_there(pod: Object, pod_set: SeenPodSet, flavor: str) -> bool:
    """Whether it takes room of this flavor. One that was granted nothing counts as the first, as it is counted."""
    facts = pod_facts(pod)
    return facts.present and (facts.flavor or next(iter(pod_set.granted), ANY_FLAVOR)) == flavor


def name_of_pod(pod: Object) -> str:
    return str(pod["metadata"]["name"])


def _place(pod: Object) -> tuple[int, str]:
    """By name, so that of numbered pods those with the highest numbers go first."""
    name = name_of_pod(pod)
    return len(name), name
