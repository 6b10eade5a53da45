"""Who holds what, before and after a Plan: the sums the laws are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidegate.model.resources import Resources
from tidegate.scheduler import Eviction, Plan, Shrink, Snapshot, Workload
from tidegate.sim.laws.quota import Amounts, Place, QuotaTree, add

Pods = Mapping[str, Mapping[str, int]]
"""By pod set and flavor."""


def takings(plan: Plan) -> list[Shrink | Eviction]:
    """Everything a Plan takes back."""
    return [*plan.shrinks, *plan.evictions]


def amounts_of(workload: Workload, pods: Pods) -> Amounts:
    requests: dict[str, Resources] = {pod_set.name: pod_set.requests for pod_set in workload.pod_sets}
    total: Amounts = {}
    for pod_set, by_flavor in pods.items():
        for flavor, count in by_flavor.items():
            add(total, {(flavor, resource): n * count for resource, n in requests[pod_set].items()})
    return total


class Holders:
    """Who is there, and what they were granted, from Plan to Plan; what did not change is not added up again."""

    def __init__(self, tree: QuotaTree) -> None:
        self.tree = tree
        self.workloads: dict[str, Workload] = {}
        self.changed: list[str] = []
        """Those that are not as they were when it was last looked."""
        self.sums: dict[str, Amounts] = {}
        """By place: amounts granted."""

    def look(self, snapshot: Snapshot) -> None:
        """These are there now. A workload of which nothing changed is the same object."""
        before, self.workloads, self.changed = self.workloads, {}, []
        for workload in snapshot.workloads:
            self.workloads[workload.name] = workload
            was = before.pop(workload.name, None)
            if was is not workload:
                self.changed.append(workload.name)
                self._count(workload, 1)
                if was is not None:
                    self._count(was, -1)
        for gone in before.values():
            self._count(gone, -1)

    def _count(self, workload: Workload, sign: int) -> None:
        charge(self.sums, self.tree.places.get(workload.queue), amounts_of(workload, _granted(workload)), sign)


@dataclass(slots=True, eq=False)
class Accounts:
    """A Snapshot and a Plan for it, added up."""

    tree: QuotaTree
    workloads: dict[str, Workload]
    plan: Plan
    granted: dict[str, dict[str, dict[str, int]]]
    """By workload, pod set and flavor: pods granted once the Plan is carried out, of who changed or it touches."""
    before: dict[str, Amounts]
    after: dict[str, Amounts]
    """By place: amounts granted before, and once the Plan is carried out."""

    @classmethod
    def of(cls, holders: Holders, plan: Plan) -> Accounts:
        granted = {name: _granted(holders.workloads[name]) for name in holders.changed}
        after = {name: dict(amounts) for name, amounts in holders.sums.items()}
        accounts = cls(holders.tree, holders.workloads, plan, granted, holders.sums, after)
        for grant in plan.grants:
            accounts._change(grant.workload, grant.pods, 1)
        for taken in takings(plan):
            accounts._change(taken.workload, taken.pods, -1)
        return accounts

    def _change(self, name: str, pods: Pods, sign: int) -> None:
        mine = self.granted.setdefault(name, self.pods_of(name))
        for pod_set, by_flavor in pods.items():
            counts = mine.setdefault(pod_set, {})
            for flavor, count in by_flavor.items():
                counts[flavor] = counts.get(flavor, 0) + sign * count
        self.charge(self.after, name, pods, sign)

    def pods_of(self, name: str) -> dict[str, dict[str, int]]:
        """By pod set and flavor: pods of a workload once the Plan is carried out."""
        found = self.granted.get(name)
        if found is not None:
            return found
        workload = self.workloads.get(name)
        return _granted(workload) if workload is not None else {}

    def charge(self, sums: dict[str, Amounts], name: str, pods: Pods, sign: int) -> None:
        """Add what a workload's pods take to every place above it."""
        place = self.place_of(name)
        if place is not None:
            charge(sums, place, amounts_of(self.workloads[name], pods), sign)

    def place_of(self, name: str) -> Place | None:
        """The Queue of a workload; None for one that nobody knows, or whose Queue is in no tree."""
        workload = self.workloads.get(name)
        return self.tree.places.get(workload.queue) if workload is not None else None

    def admitted_after(self, names: Iterable[str]) -> set[str]:
        """Those of some workloads that are admitted once the Plan is carried out."""
        were = {name for name in names if self.workloads[name].admitted_at is not None}
        return (were | {grant.workload for grant in self.plan.grants if grant.admits}) - {
            eviction.workload for eviction in self.plan.evictions
        }


def charge(sums: dict[str, Amounts], queue: Place | None, amounts: Amounts, sign: int) -> None:
    """Add amounts to a Queue and every place above it."""
    for place in queue.path if queue is not None and amounts else ():
        add(sums.setdefault(place.name, {}), amounts, sign)


def _granted(workload: Workload) -> dict[str, dict[str, int]]:
    return {pod_set.name: dict(pod_set.granted) for pod_set in workload.pod_sets if pod_set.granted}
