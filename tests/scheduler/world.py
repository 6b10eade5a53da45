"""A little world for plans: builders in one line each, and a way to carry a Plan out and plan again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.resources import Resources
from tidegate.model.values import parse_value
from tidegate.scheduler import Node, Plan, PodSet, Snapshot, Waiting, Workload, plan

MOST_CYCLES = 40


def spec(kind: Any, **fields: Any) -> Any:
    """A spec from its fields as a manifest has them."""
    return msgspec.convert(fields, kind, dec_hook=parse_value)


def quotas(flavor: str = "default", /, **resources: str | tuple[str | None, ...]) -> dict[str, Any]:
    """Quotas of a flavor: cpu="4", or cpu=(nominal, borrowing limit, lending limit) with None for no limit."""
    names = ("nominalQuota", "borrowingLimit", "lendingLimit")
    by_resource = {}
    for resource, amounts in resources.items():
        given = (amounts,) if isinstance(amounts, str) else amounts
        by_resource[resource] = {name: amount for name, amount in zip(names, given, strict=False) if amount is not None}
    return {"flavor": flavor, "resources": by_resource}


def pods(
    count: int, floor: int | None = None, *, name: str = "main", step: int = 1, mixes: bool = True, **requests: str
) -> PodSet:
    """A pod set; without a floor, a gang of all."""
    least = count if floor is None else floor
    return PodSet(name=name, count=count, floor=least, step=step, mixes=mixes, requests=Resources.parse(requests))


class World:
    """A cluster whose pods start and go at once, unless `lingering` says that they stay."""

    def __init__(self, **allocatable: str) -> None:
        self.now = 0
        self.nodes: dict[str, Node] = {}
        self.flavors: dict[str, ResourceFlavorSpec] = {}
        self.cluster_queues: dict[str, ClusterQueueSpec] = {}
        self.queues: dict[str, QueueSpec] = {}
        self.workloads: dict[str, Workload] = {}
        self.lingering = False
        self.shrinks: Counter[str] = Counter()
        self.evictions: Counter[str] = Counter()
        self.last: Plan | None = None
        if allocatable:
            self.node("node", **allocatable)

    def node(self, name: str, labels: Mapping[str, str] | None = None, **allocatable: str) -> None:
        self.nodes[name] = Node(name=name, labels=labels or {}, allocatable=Resources.parse(allocatable))

    def flavor(self, name: str, **fields: Any) -> None:
        self.flavors[name] = spec(ResourceFlavorSpec, **fields)

    def cluster_queue(self, name: str, *given: dict[str, Any], **fields: Any) -> None:
        self.cluster_queues[name] = spec(ClusterQueueSpec, quotas=list(given), **fields)

    def queue(self, name: str, cluster_queue: str = "root", **fields: Any) -> None:
        self.queues[name] = spec(QueueSpec, clusterQueue=cluster_queue, **fields)

    def submit(self, name: str, *pod_sets: PodSet, queue: str, **fields: Any) -> None:
        created = fields.pop("created", self.now)
        self.workloads[name] = Workload(name=name, queue=queue, created=created, pod_sets=pod_sets, **fields)

    def resize(self, name: str, count: int) -> None:
        workload = self.workloads[name]
        self.workloads[name] = replace(workload, pod_sets=(replace(workload.pod_sets[0], count=count),))

    def end(self, name: str) -> None:
        del self.workloads[name]

    def succeed(self, name: str, pods: int = 1) -> None:
        """Pods of the first pod set end well."""
        workload = self.workloads[name]
        first, *rest = workload.pod_sets
        for _ in range(pods):
            flavor = next(flavor for flavor, count in sorted(first.granted.items()) if count)
            granted = _more(first.granted, {flavor: -1})
            first = replace(first, granted=granted, present=_more(first.present, {flavor: -1}), ended=first.ended + 1)
        self.workloads[name] = replace(workload, pod_sets=(first, *rest))

    def snapshot(self) -> Snapshot:
        return Snapshot(
            nodes=tuple(self.nodes.values()),
            flavors=self.flavors,
            cluster_queues=self.cluster_queues,
            queues=self.queues,
            workloads=tuple(self.workloads.values()),
        )

    def cycle(self) -> Plan:
        """Plan once and carry it out."""
        self.last = plan(self.snapshot(), self.now)
        self.carry_out(self.last)
        return self.last

    def settle(self, at: int | None = None) -> Plan:
        """Plan until nothing changes hands any more; fails if that never comes."""
        self.now = self.now if at is None else at
        for _ in range(MOST_CYCLES):
            if self.cycle().is_empty:
                assert self.last is not None
                return self.last
        raise AssertionError(f"does not settle: {self.last}")

    def carry_out(self, decided: Plan) -> None:
        for eviction in decided.evictions:
            self.evictions[eviction.workload] += 1
            workload = self.workloads[eviction.workload]
            self.workloads[eviction.workload] = replace(
                workload,
                pod_sets=tuple(self._gone(replace(pod_set, granted={}, held={})) for pod_set in workload.pod_sets),
                admitted_at=None,
                waiting_since=self.now,
                evictions=workload.evictions + 1,
                requeue_at=eviction.requeue_at,
            )
        for shrink in decided.shrinks:
            self.shrinks[shrink.workload] += 1
            self._change(shrink.workload, shrink.pods, -1)
        for grant in decided.grants:
            self._change(grant.workload, grant.pods, 1, grant.held)
            if grant.admits:
                self.workloads[grant.workload] = replace(self.workloads[grant.workload], admitted_at=self.now)
        for start in decided.starts:
            self._change(start.workload, {}, 1, {name: _more({}, by, -1) for name, by in start.pods.items()})

    def _change(self, name: str, changes: Any, sign: int, held: Any = None) -> None:
        workload = self.workloads[name]
        changed = []
        for pod_set in workload.pod_sets:
            granted = _more(pod_set.granted, changes.get(pod_set.name, {}), sign)
            waiting = _more(pod_set.held, (held or {}).get(pod_set.name, {}))
            waiting = {flavor: min(count, granted.get(flavor, 0)) for flavor, count in waiting.items()}
            if sign < 0:  # Those that had not started go first.
                lost = changes.get(pod_set.name, {})
                waiting = {flavor: max(0, pod_set.held.get(flavor, 0) - lost.get(flavor, 0)) for flavor in pod_set.held}
            changed.append(self._gone(replace(pod_set, granted=granted, held=waiting)))
        self.workloads[name] = replace(workload, pod_sets=tuple(changed))

    def _gone(self, pod_set: PodSet) -> PodSet:
        """Pods follow what is granted and free to start; those that have to go stay while pods linger."""
        running = {flavor: count - pod_set.held.get(flavor, 0) for flavor, count in pod_set.granted.items()}
        if self.lingering:
            running = {
                flavor: max(running.get(flavor, 0), pod_set.present.get(flavor, 0))
                for flavor in {*running, *pod_set.present}
            }
        return replace(pod_set, present=running)

    def let_go(self) -> None:
        """The pods that linger without a grant are gone."""
        self.lingering = False
        for name, workload in self.workloads.items():
            self.workloads[name] = replace(workload, pod_sets=tuple(map(self._gone, workload.pod_sets)))

    def granted(self, name: str) -> int | dict[str, int]:
        """Pods of the first pod set: a number if all are of one flavor."""
        by_flavor = {flavor: count for flavor, count in self.workloads[name].pod_sets[0].granted.items() if count}
        return by_flavor if len(by_flavor) > 1 else sum(by_flavor.values())

    def admitted(self, name: str) -> bool:
        return self.workloads[name].admitted_at is not None

    def reason(self, name: str) -> str | None:
        found = self.waiting(name)
        return found.reason.value if found else None

    def waiting(self, name: str) -> Waiting | None:
        assert self.last is not None
        return next((waiting for waiting in self.last.waiting if waiting.workload == name), None)

    def deserved(self, name: str, resource: str = "cpu") -> str:
        assert self.last is not None
        return self.last.standings[name].deserved.total().quantities().get(resource, "0")


def _more(counts: Mapping[str, int], more: Mapping[str, int], sign: int = 1) -> dict[str, int]:
    total = {flavor: counts.get(flavor, 0) + sign * more.get(flavor, 0) for flavor in {*counts, *more}}
    return {flavor: count for flavor, count in sorted(total.items()) if count}
