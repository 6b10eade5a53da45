"""Worlds of any size: a tree three levels deep, and gangs of a few shapes that wait in all of its queues."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, FlavorQuotas, ResourceQuota
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.quantity import Quantity
from tidegate.model.resources import Resources
from tidegate.scheduler import Plan, Planner, PodSet, Snapshot, Workload

SHAPES = [(1, {"cpu": "1", "memory": "2Gi"}), (2, {"cpu": "1", "memory": "1Gi"}), (1, {"cpu": "2", "memory": "2Gi"})]
CPU_OF_THOUSAND = 1667
"""Room for about a thousand gangs of these shapes."""
ARRIVALS_PER_SECOND = 1000
NOW = 2000


def tree(
    queues: int, *, cpu: int = CPU_OF_THOUSAND, flavors: int = 1, policy: str = "drf", lends: bool = True
) -> Snapshot:
    """A root, departments, and the doors of their teams; what there is comes in so many flavors that all may use. The
    root serves departments by its `policy`. Unless everybody `lends` all they have, every department is guaranteed a
    part and keeps half of it for itself, and so does one in which nobody asks for anything."""
    names = [f"f{number}" for number in range(flavors)]
    each = -(-cpu // flavors)
    departments = max(2, round(queues**0.5))
    own = () if lends else tuple(_quotas(name, each // (2 * departments), keeps=True) for name in names)
    cluster_queues = {"root": ClusterQueueSpec(policy=policy, quotas=tuple(_quotas(name, each) for name in names))}
    there = [f"d{index}" for index in range(departments)] + ["idle"] * (not lends)
    cluster_queues |= {name: ClusterQueueSpec(parent="root", quotas=own) for name in there}
    doors = {f"t{index}/q": QueueSpec(cluster_queue=f"d{index % departments}") for index in range(queues)}
    return Snapshot(flavors=dict.fromkeys(names, ResourceFlavorSpec()), cluster_queues=cluster_queues, queues=doors)


def _quotas(flavor: str, cpu: int, *, keeps: bool = False) -> FlavorQuotas:
    amounts = {"cpu": (cpu, ""), "memory": (cpu * 4, "Gi")}
    resources = {}
    for name, (amount, unit) in amounts.items():
        lent = Quantity.parse(f"{amount // 2}{unit}") if keeps else None
        resources[name] = ResourceQuota(nominal_quota=Quantity.parse(f"{amount}{unit}"), lending_limit=lent)
    return FlavorQuotas(flavor=flavor, resources=resources)


def gangs(count: int, queues: int, *, first: int = 0) -> Iterator[Workload]:
    """Workloads of fixed size, spread over all queues."""
    requests = [Resources.parse(amounts) for _, amounts in SHAPES]
    for number in range(first, first + count):
        shape = number % len(SHAPES)
        queue = (number // len(SHAPES)) % queues
        pods = SHAPES[shape][0]
        pod_set = PodSet(name="main", count=pods, floor=pods, requests=requests[shape])
        name = f"t{queue}/w{number}"
        created = number // ARRIVALS_PER_SECOND
        yield Workload(name=name, queue=f"t{queue}/q", created=created, pod_sets=(pod_set,))


def elastic(count: int, queue: str, *, pods: int) -> Iterator[Workload]:
    """Workloads that want many pods and need one."""
    requests = Resources.parse({"cpu": "1", "memory": "1Gi"})
    for number in range(count):
        pod_set = PodSet(name="main", count=pods, floor=1, requests=requests)
        yield Workload(name=f"{queue.partition('/')[0]}/e{number}", queue=queue, created=0, pod_sets=(pod_set,))


def carry_out(planner: Planner, plan: Plan, now: int) -> None:
    """The pods of everything granted are there, and those of everything taken are gone, as the operator would report
    it; and so on, until nothing is left to decide."""
    while not plan.is_empty:
        for one in (*plan.grants, *plan.shrinks, *plan.evictions, *plan.starts):
            workload = planner.workload(one.workload)
            assert workload is not None
            pod_sets = tuple(replace(one, held={}, present=one.granted) for one in workload.pod_sets)
            planner.put(replace(workload, pod_sets=pod_sets))
        plan = planner.plan(now)


def end_a_pod(workload: Workload) -> Workload | None:
    """One pod of a running workload ended well; None: that was the last."""
    (pod_set,) = workload.pod_sets
    left = {flavor: count - 1 for flavor, count in pod_set.granted.items() if count > 1}
    if not left:
        return None
    return replace(workload, pod_sets=(replace(pod_set, granted=left, present=left, ended=pod_set.ended + 1),))
