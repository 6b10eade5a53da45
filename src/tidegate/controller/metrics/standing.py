"""How queues and workloads stand, read from the cache when the page is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from tidegate.controller.watch.cache import Cache
from tidegate.kube.wire import Object
from tidegate.model.kinds.queue import ROOT
from tidegate.model.kinds.workload import WaitingReason
from tidegate.model.quantity import NANO, Quantity, QuantityError

_NEVER = {
    WaitingReason.EXCEEDS_QUOTA, WaitingReason.NO_MATCHING_FLAVOR, WaitingReason.NOT_ALLOWED, WaitingReason.NO_QUEUE,
    WaitingReason.INACTIVE,
}  # fmt: skip
"""Reasons that do not pass by waiting: what Kueue calls inadmissible."""
_AMOUNTS = ("cluster_queue", "flavor", "resource")
_QUEUE = ("cluster_queue",)
GAUGES: dict[str, tuple[tuple[str, ...], str]] = {
    "pending_workloads": (
        (*_QUEUE, "status"),
        "Workloads that wait; `inadmissible` for what does not pass by waiting, else `active`.",
    ),
    "unadmitted_workloads": ((*_QUEUE, "reason"), "Workloads that wait, by reason."),
    "admitted_active_workloads": (_QUEUE, "Workloads that are admitted."),
    "cluster_queue_resource_usage": (_AMOUNTS, "What running pods request."),
    "cluster_queue_resource_reservation": (_AMOUNTS, "What is granted."),
    "cluster_queue_resource_deserved": (_AMOUNTS, "What it deserves of the whole."),
    "cluster_queue_nominal_quota": (_AMOUNTS, "What it is guaranteed."),
    "cluster_queue_weighted_share": (_QUEUE, "Use above the guarantee as a part of the parent's, over its weight."),
    "queue_pending_workloads": (("namespace", "queue"), "Workloads that wait, by Queue."),
    "queue_admitted_active_workloads": (("namespace", "queue"), "Workloads that are admitted, by Queue."),
}
"""By name: labels, and what it means."""
_STATED = {"resource_usage": "used", "resource_reservation": "allocated", "resource_deserved": "deserved"}
_COUNTED = {"pending_workloads": "pendingWorkloads", "admitted_active_workloads": "admittedWorkloads"}


def _gauge(name: str) -> GaugeMetricFamily:
    labels, text = GAUGES[name]
    return GaugeMetricFamily(f"tidegate_{name}", text, labels=labels)


class Standing(Collector):
    """Empty while there is no cache: only the replica that leads shows how things stand."""

    def __init__(self) -> None:
        self.cache: Cache | None = None

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return map(_gauge, GAUGES)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        if self.cache is not None:
            yield from self._workloads(self.cache)
            yield from _cluster_queues(self.cache)
            yield from _queues(self.cache)

    def cluster_queue_of(self, workload: Object) -> str:
        """The ClusterQueue a Workload belongs to; empty where its Queue is not there."""
        name, namespace = str(workload["spec"].get("queue") or "default"), str(workload["metadata"]["namespace"])
        queue = self.cache.queues.get(name, namespace) if self.cache else None
        return str((queue.get("spec") or {}).get("clusterQueue") or ROOT) if queue is not None else ""

    def _workloads(self, cache: Cache) -> Iterable[GaugeMetricFamily]:
        reasons: Counter[tuple[str, ...]] = Counter()
        sums: Counter[tuple[str, ...]] = Counter()
        active: Counter[tuple[str, ...]] = Counter()
        for workload in cache.workloads.all():
            status = workload.get("status") or {}
            at, reason = self.cluster_queue_of(workload), str((status.get("waiting") or {}).get("reason") or "")
            if status.get("state") == "Admitted":
                active[at,] += 1
            elif status.get("state") != "Finished":
                reasons[at, reason] += 1
                sums[at, "inadmissible" if reason in _NEVER else "active"] += 1
        yield _filled("pending_workloads", sums)
        yield _filled("unadmitted_workloads", reasons)
        yield _filled("admitted_active_workloads", active)


def _cluster_queues(cache: Cache) -> Iterable[GaugeMetricFamily]:
    nodes = sorted(cache.cluster_queues.all(), key=_name)
    for name, field in _STATED.items():
        family = _gauge(f"cluster_queue_{name}")
        for node in nodes:
            for flavor, amounts in ((node.get("status") or {}).get(field) or {}).items():
                _add(family, _name(node), flavor, amounts)
        yield family
    nominal, share = _gauge("cluster_queue_nominal_quota"), _gauge("cluster_queue_weighted_share")
    for node in nodes:
        for quota in (node.get("spec") or {}).get("quotas") or ():
            stated = quota.get("resources") or {}
            amounts = {key: each["nominalQuota"] for key, each in stated.items() if each.get("nominalQuota")}
            _add(nominal, _name(node), str(quota.get("flavor") or ""), amounts)
        share.add_metric((_name(node),), float((node.get("status") or {}).get("share") or 0))
    yield nominal
    yield share


def _queues(cache: Cache) -> Iterable[GaugeMetricFamily]:
    for name, field in _COUNTED.items():
        family = _gauge(f"queue_{name}")
        for queue in cache.queues.all():
            count = (queue.get("status") or {}).get(field) or 0
            family.add_metric((str(queue["metadata"]["namespace"]), _name(queue)), count)
        yield family


def _add(family: GaugeMetricFamily, node: str, flavor: str, amounts: Object) -> None:
    for resource, text in amounts.items():
        try:
            amount = Quantity.parse(str(text))
        except QuantityError:
            continue
        family.add_metric((node, flavor, str(resource)), amount.nano / NANO)


def _filled(name: str, counts: Counter[tuple[str, ...]]) -> GaugeMetricFamily:
    family = _gauge(name)
    for labels, count in sorted(counts.items()):
        family.add_metric(labels, count)
    return family


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
