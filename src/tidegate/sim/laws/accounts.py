"""Who holds what, before and after a Plan: the sums the laws are about."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(slots=True, eq=False)
class Accounts:
    """A Snapshot and a Plan for it, added up."""

    tree: QuotaTree
    workloads: dict[str, Workload]
    granted: dict[str, dict[str, dict[str, int]]]
    """By workload, pod set and flavor: pods granted once the Plan is carried out."""
    before: dict[str, Amounts]
    after: dict[str, Amounts]
    """By place: amounts granted before, and once the Plan is carried out."""
    plan: Plan

    @classmethod
    def of(cls, snapshot: Snapshot, plan: Plan, tree: QuotaTree) -> Accounts:
        workloads = {workload.name: workload for workload in snapshot.workloads}
        accounts = cls(tree, workloads, {}, {}, {}, plan)
        for workload in snapshot.workloads:
            pods = {pod_set.name: dict(pod_set.granted) for pod_set in workload.pod_sets}
            if any(pods.values()):
                accounts.granted[workload.name] = pods
                accounts.charge(accounts.before, workload.name, pods, 1)
        accounts.after = {name: dict(amounts) for name, amounts in accounts.before.items()}
        for grant in plan.grants:
            accounts._change(grant.workload, grant.pods, 1)
        for taken in takings(plan):
            accounts._change(taken.workload, taken.pods, -1)
        return accounts

    def _change(self, name: str, pods: Pods, sign: int) -> None:
        mine = self.granted.setdefault(name, {})
        for pod_set, by_flavor in pods.items():
            counts = mine.setdefault(pod_set, {})
            for flavor, count in by_flavor.items():
                counts[flavor] = counts.get(flavor, 0) + sign * count
        self.charge(self.after, name, pods, sign)

    def charge(self, sums: dict[str, Amounts], name: str, pods: Pods, sign: int) -> None:
        """Add what a workload's pods take to every place above it."""
        place = self.place_of(name)
        if place is not None:
            amounts = amounts_of(self.workloads[name], pods)
            for one in place.path:
                add(sums.setdefault(one.name, {}), amounts, sign)

    def place_of(self, name: str) -> Place | None:
        """The Queue of a workload; None for one that nobody knows, or whose Queue is in no tree."""
        workload = self.workloads.get(name)
        return self.tree.places.get(workload.queue) if workload is not None else None

    def admitted_after(self) -> set[str]:
        """Workloads that are admitted once the Plan is carried out."""
        were = {name for name, workload in self.workloads.items() if workload.admitted_at is not None}
        return (were | {grant.workload for grant in self.plan.grants if grant.admits}) - {
            eviction.workload for eviction in self.plan.evictions
        }
