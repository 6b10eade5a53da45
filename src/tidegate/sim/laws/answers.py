"""Every ask has its grant or its reason: nobody waits without being told why."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.scheduler import PodSet
from tidegate.sim.laws.accounts import Accounts
from tidegate.sim.laws.breach import Breach


def everybody_is_answered(accounts: Accounts) -> Iterator[Breach]:
    """Who is not admitted, and whose pod sets could still grow, is told why, if reasons were asked for."""
    if not accounts.plan.says_why:
        return
    told = {waiting.workload for waiting in accounts.plan.waiting}
    admitted = accounts.admitted_after(accounts.workloads)
    for name, workload in accounts.workloads.items():
        if name in told:
            continue
        if name not in admitted:
            yield Breach(None, f"{name} is neither admitted nor told why it waits")
            continue
        for pod_set in workload.pod_sets:
            if _could_grow(pod_set, sum(accounts.pods_of(name).get(pod_set.name, {}).values())):
                yield Breach(None, f"{name} wants more pods of {pod_set.name} and is not told why it has to wait")


def _could_grow(pod_set: PodSet, count: int) -> bool:
    """Whether there is a whole step between what it has and what it wants."""
    above = count + pod_set.ended - min(pod_set.floor, pod_set.count)
    return count < pod_set.least or count + pod_set.step - above % pod_set.step <= pod_set.wanted
