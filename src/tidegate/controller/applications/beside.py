"""Pods that run beside the queue: single ones, and ones that name an owner that did not make them.

Doors keep them at the gate. Where none was asked, or one was fooled, or they were there before, they run all the same,
and what runs is counted: as used by the Queue that such a pod would wait for, so that its room is given to nobody else.
"""

from __future__ import annotations

from dataclasses import replace

from tidegate.controller.namespaces import DEFAULT_QUEUE, Managed
from tidegate.controller.watch.cache import Cache
from tidegate.kube.wire import Object
from tidegate.model.jobs import JobKind, is_gated
from tidegate.workloads import PodFacts, belongs, is_run_here, owners_named, queue_of


class Beside:
    """Tells them from pods whose owners answer for them, by what the cache knows."""

    def __init__(self, cache: Cache, managed: Managed) -> None:
        self._cache = cache
        self._managed = managed

    def counted(self, pod: Object, facts: PodFacts) -> PodFacts:
        """The facts of a pod that nobody has marked, with the Queue and the flavor that it takes room of, if any."""
        namespace = str(pod["metadata"]["namespace"])
        if not facts.present or facts.workload or not self._managed.is_managed(namespace):
            return facts
        if belongs(pod, self._above(pod), self._cache.kinds) or self._is_replaced(pod):
            return facts
        queue = queue_of(pod) or (DEFAULT_QUEUE if self._managed.has_default(namespace) else "")
        return replace(facts, queue=queue, flavor=self._flavor(pod))

    def _is_replaced(self, pod: Object) -> bool:
        """Whether it is of a kind whose pods wait at the gate, from before they did: a rollout takes it away as others
        come, which could not if its room were to be free first."""
        named = owners_named(pod, self._cache.kinds)
        return any(is_gated(entry) and not is_run_here(entry) and entry.kind != "Pod" for entry, _ in named)

    def _above(self, pod: Object) -> dict[str, Object]:
        """By uid: the owners that it names, those that they name, and so on."""
        found: dict[str, Object] = {}
        level = [pod]
        while level:
            each = level.pop()
            for entry, named in owners_named(each, self._cache.kinds):
                owner = self._owner(entry, (str(pod["metadata"]["namespace"]), str(named.get("name"))))
                uid = str(named.get("uid"))
                if owner is not None and owner["metadata"].get("uid") == uid and uid not in found:
                    found[uid] = owner
                    level.append(owner)
        return found

    def _owner(self, entry: JobKind, key: tuple[str, str]) -> Object | None:
        if entry.kind == "Pod" and not entry.group:
            return self._cache.pods.get(key)
        followed = self._cache.applications.get((entry.group, entry.kind))
        return followed.latest.get(key) if followed else None

    def _flavor(self, pod: Object) -> str:
        """That of its node; empty while it has none, or where no flavor says more than another."""
        node = self._cache.nodes.get(str(pod["spec"].get("nodeName") or ""))
        labels = ((node or {}).get("metadata") or {}).get("labels") or {}
        for flavor in sorted(self._cache.flavors.all(), key=lambda each: str(each["metadata"]["name"])):
            wanted = (flavor.get("spec") or {}).get("nodeLabels") or {}
            if wanted and wanted.items() <= labels.items():
                return str(flavor["metadata"]["name"])
        return ""
