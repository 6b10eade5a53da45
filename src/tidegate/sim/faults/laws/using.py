"""What one Workload takes of its queues' quota: what it is granted, and what really exists of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.kinds import Workload
from tidegate.sim.laws.quota import Amounts, add
from tidegate.workloads import PodFacts, pod_facts

Part = tuple[str, str]
"""Pod set and flavor."""
_REMEMBERED_S = 120.0


@dataclass(slots=True)
class Using:
    """A Workload by name, whether it is there or only its pods are left."""

    queue: str = ""
    _wanted: dict[str, int] = field(default_factory=dict)
    requests: dict[str, Mapping[str, int]] = field(default_factory=dict)
    granted: dict[Part, int] = field(default_factory=dict)
    free: dict[Part, int] = field(default_factory=dict)
    """Of what is granted, what may start now."""
    present: dict[Part, int] = field(default_factory=dict)
    """Pods that may run, run, or are not gone yet."""
    staying: dict[Part, int] = field(default_factory=dict)
    """Of those, the ones that nobody told to go."""
    most: dict[Part, int] = field(default_factory=dict)
    """The most that might start at any one time since it last had neither pods nor a grant. An operator that was cut
    off may still go by a Workload that people have deleted, and keeps its room."""
    loose: dict[Part, int] = field(default_factory=dict)
    """What its application may make at any moment."""
    _before: list[tuple[float, dict[Part, int]]] = field(default_factory=list)
    """What might start once, and until when."""

    def look(
        self, raw: Object | None, pods: Iterable[Object], loose: Mapping[Part, int], *, now: float, heard: bool
    ) -> None:
        """Take over what there is now; `heard`: everybody has, if it is gone."""
        if heard and not (self.present or self.granted or self.loose):
            self.most.clear()
        free = self.free
        self._grants(raw)
        if free != self.free:
            self._before = [(until, each) for until, each in self._before if until > now - _REMEMBERED_S]
            self._before.append((now, free))
        self._pods([(pod, pod_facts(pod)) for pod in pods])
        for part, count in self.free.items():
            self.most[part] = max(count, self.most.get(part, 0))
        self.loose = {part: min(self.useful(part, count), self.most.get(part, 0)) for part, count in loose.items()}

    def useful(self, part: Part, count: int) -> int:
        """Of so many pods, those that have something left to do."""
        return min(count, self._wanted.get(part[0], count))

    def might_start(self, part: Part, since: float) -> int:
        """The most that might start at any moment since then."""
        lately = (free.get(part, 0) for until, free in self._before if until >= since)
        return max([self.free.get(part, 0), *lately])

    def _grants(self, raw: Object | None) -> None:
        self.granted, self.free, self._wanted = {}, {}, {}
        if raw is None:
            return
        workload = read(Workload, raw)
        ended = {each.name: each.count for each in workload.status.reclaimed_pod_set_pods}
        self._wanted = {each.name: each.desired - ended.get(each.name, 0) for each in workload.spec.pod_sets}
        self.queue = f"{workload.metadata.namespace}/{workload.spec.queue}"
        self.requests = {each.name: dict(each.requests.items()) for each in workload.spec.pod_sets}
        for each in workload.status.pod_sets:
            for flavor, count in each.flavors.items():
                if count:
                    self.granted[each.name, flavor] = count
                    self.free[each.name, flavor] = count - each.held.get(flavor, 0)

    def _pods(self, pods: list[tuple[Object, PodFacts]]) -> None:
        self.present, self.staying = {}, {}
        for pod, facts in pods:
            if not facts.present:
                continue
            part = facts.pod_set or next(iter(self.requests), "main"), facts.flavor or "default"
            self.present[part] = self.present.get(part, 0) + 1
            if not pod["metadata"].get("deletionTimestamp"):
                self.staying[part] = self.staying.get(part, 0) + 1
            self.requests.setdefault(part[0], dict(facts.requests.items()))
            self.queue = self.queue or f"{pod['metadata']['namespace']}/{facts.queue}"

    def amounts(self) -> Amounts:
        """What it takes. A pod that replaces one on its way out is counted once: Kubernetes makes it, nobody granted
        it, and its place is the one its predecessor leaves."""
        there = {part: min(count, self.most.get(part, 0)) for part, count in self.present.items()}
        sides = (self.free, there, self.loose)
        return self._sum({part: max(one.get(part, 0) for one in sides) for part in {*self.free, *there, *self.loose}})

    def grants(self) -> Amounts:
        return self._sum(self.granted)

    def _sum(self, counts: Mapping[Part, int]) -> Amounts:
        total: Amounts = {}
        for (pod_set, flavor), count in counts.items():
            add(total, {(flavor, name): n * count for name, n in self.requests.get(pod_set, {}).items()})
        return total
