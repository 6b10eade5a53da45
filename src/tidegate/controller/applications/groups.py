"""Pods that run in groups, such as a leader and its workers: all of a group run, or none of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.kube.wire import Object
from tidegate.model.jobs import JobKind, Kinds, Obj, inside, podsets
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import pod_facts


@dataclass(frozen=True, slots=True)
class Groups:
    """How groups of an application's pods are told apart, and which pod sets they are made of."""

    label: str
    pod_sets: frozenset[str]

    def not_whole(self, seen: SeenWorkload, pods: Sequence[Object]) -> list[Object]:
        """Pods of groups for which not all is granted. Those that run come first, then those with the lowest index."""
        granted = [
            (sum(each.granted.values()) - sum(each.held.values())) // each.step
            for each in seen.pod_sets
            if each.name in self.pod_sets
        ]
        running = {self._of(pod) for pod in pods if pod_facts(pod).present}
        order = sorted({self._of(pod) for pod in pods}, key=lambda group: (group not in running, len(group), group))
        whole = set(order[: min(granted, default=0)])
        return [pod for pod in pods if self._of(pod) not in whole]

    def _of(self, pod: Object) -> str:
        return str(inside(pod, ("metadata", "labels")).get(self.label) or "")


def groups_of(entry: JobKind, obj: Obj, *, kinds: Kinds) -> Groups | None:
    """The groups of an application; None where each of its pods runs for itself."""
    label = next((rule.group for rule in entry.pod_sets if rule.group), "")
    if not label:
        return None
    return Groups(label, frozenset(each.pod_set for each in podsets(entry, obj, find=kinds.find) if each.group))
