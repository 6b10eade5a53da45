"""A little world for plans: the simulator's, with builders in one line each. Every Plan is judged by the laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.resources import Resources
from tidegate.model.values import parse_value
from tidegate.scheduler import Node, Plan, PodSet, Waiting, Workload
from tidegate.sim import world as simulated
from tidegate.sim.simulation import Planning, Simulation
from tidegate.sim.world import Application, Delays, PodGroup
from tidegate.sim.world.pods import Phase


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
    """A cluster whose pods start at once, and go `stop` seconds after they were taken back."""

    def __init__(self, *, stop: int = 0, **allocatable: str) -> None:
        self.there = simulated.World(Delays(stop=stop))
        self.simulation = Simulation(self.there)
        self.nodes = self.there.nodes
        self.flavors = self.there.flavors
        self.cluster_queues = self.there.cluster_queues
        self.queues = self.there.queues
        self.snapshot = self.there.snapshot
        if allocatable:
            self.node("node", **allocatable)

    def __repr__(self) -> str:
        """All there is, a line each, for whoever reads of a history that broke a law."""
        told = [f"World(stop={self.there.delays.stop}) at {self.now}s"]
        told += [f"node {one.name} {dict(one.labels)} {one.allocatable.quantities()}" for one in self.nodes.values()]
        told += [f"flavor {name} {one.node_labels}" for name, one in self.flavors.items()]
        for name, rules in self.cluster_queues.items():
            told.append(f"cluster queue {name} {_short(rules)}")
        told += [f"queue {name} {_short(one)}" for name, one in self.queues.items()]
        for name, workload in self.workloads.items():
            times = f"created {workload.created} admitted {workload.admitted_at} runs {workload.max_run_seconds}"
            told.append(f"workload {name} priority {workload.priority} {times}")
            told += [f"  {_short(pod_set)}" for pod_set in workload.pod_sets]
        return "\n".join(told)

    def planned_by(self, planner: Planning) -> None:
        """Another planner decides from now on."""
        self.simulation.planner = planner

    # What there is.

    def node(self, name: str, labels: Mapping[str, str] | None = None, **allocatable: str) -> None:
        self.nodes[name] = Node(name=name, labels=labels or {}, allocatable=Resources.parse(allocatable))

    def flavor(self, name: str, **fields: Any) -> None:
        self.flavors[name] = spec(ResourceFlavorSpec, **fields)

    def cluster_queue(self, name: str, *given: dict[str, Any], **fields: Any) -> None:
        self.cluster_queues[name] = spec(ClusterQueueSpec, quotas=list(given), **fields)

    def queue(self, name: str, cluster_queue: str = "root", **fields: Any) -> None:
        self.queues[name] = spec(QueueSpec, clusterQueue=cluster_queue, **fields)

    # What happens.

    @property
    def now(self) -> int:
        return self.there.now

    @now.setter
    def now(self, moment: int) -> None:
        """Time passes, and what is due happens when it is due: pods that had to go are gone, patience ends."""
        self.simulation.go_to(moment)

    def submit(self, name: str, *pod_sets: PodSet, queue: str, **fields: Any) -> None:
        groups = [_group(pod_set) for pod_set in pod_sets]
        created = fields.pop("created", self.now)
        self.there.submit(Application(name=name, queue=queue, created=created, pod_groups=groups, **fields))

    def resize(self, name: str, count: int) -> None:
        """The first pod set is to have so many pods."""
        self.there.resize(name, self._first(name), count)

    def end(self, name: str) -> None:
        self.there.delete(name)

    def succeed(self, name: str, pods: int = 1) -> None:
        """Pods of the first pod set end well."""
        self.there.succeed(name, self._first(name), pods)

    def _first(self, name: str) -> str:
        return self.there.applications[name].pod_groups[0].name

    # What is decided.

    def cycle(self) -> Plan:
        """Something happened: plan once, and carry it out."""
        self.simulation.happened()
        return self._judged(self.simulation.cycle())

    def settle(self, at: int | None = None) -> Plan:
        """Plan until nothing changes hands any more; fails if that never comes."""
        self.now = self.now if at is None else at
        return self._judged(self.simulation.settle())

    def _judged(self, decided: Plan) -> Plan:
        assert not self.simulation.breaches, [f"at {at}s {breach}" for at, breach in self.simulation.breaches]
        return decided

    # How things are.

    @property
    def last(self) -> Plan:
        assert self.simulation.plan is not None
        return self.simulation.plan

    @property
    def workloads(self) -> dict[str, Workload]:
        """As the scheduler sees them."""
        return {name: one.view() for name, one in self.there.waiting_or_running.items()}

    @property
    def shrinks(self) -> Counter[str]:
        return +Counter({name: one.shrinks for name, one in self.there.applications.items()})

    @property
    def evictions(self) -> Counter[str]:
        return +Counter({name: one.evictions for name, one in self.there.applications.items()})

    def granted(self, name: str) -> int | dict[str, int]:
        """Pods of the first pod set: a number if all are of one flavor."""
        by_flavor = self.there.applications[name].pod_groups[0].granted
        return by_flavor if len(by_flavor) > 1 else sum(by_flavor.values())

    def pods(self, name: str) -> int:
        """Pods of the first pod set that run, or start."""
        group = self.there.applications[name].pod_groups[0]
        return sum(group.counts(Phase.STARTING, Phase.RUNNING).values())

    def admitted(self, name: str) -> bool:
        return self.there.applications[name].admitted_at is not None

    def reason(self, name: str) -> str | None:
        found = self.waiting(name)
        return found.reason.value if found else None

    def waiting(self, name: str) -> Waiting | None:
        return next((waiting for waiting in self.last.waiting if waiting.workload == name), None)

    def deserved(self, name: str, resource: str = "cpu") -> str:
        return self.last.standings[name].deserved.total().quantities().get(resource, "0")


def _group(pod_set: PodSet) -> PodGroup:
    return PodGroup(
        name=pod_set.name,
        count=pod_set.count,
        floor=pod_set.floor,
        step=pod_set.step,
        requests=pod_set.requests,
        node_selector=dict(pod_set.node_selector),
        mixes=pod_set.mixes,
        ended=pod_set.ended,
    )


def _short(value: Any) -> str:
    return ", ".join(f"{name}={some}" for name, some in msgspec.to_builtins(value, enc_hook=str).items() if some)
