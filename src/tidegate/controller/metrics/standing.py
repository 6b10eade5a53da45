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
_STATED = {
    "resource_usage": ("used", "What running pods request."),
    "resource_reservation": ("allocated", "What is granted."),
    "resource_deserved": ("deserved", "What it deserves of the whole."),
}


class Standing(Collector):
    """Empty while there is no cache: only the replica that leads shows how things stand."""

    def __init__(self) -> None:
        self.cache: Cache | None = None

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return ()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        if self.cache is not None:
            yield from self._workloads(self.cache)
            yield from self._cluster_queues(self.cache)
            yield from _queues(self.cache)

    def cluster_queue_of(self, workload: Object) -> str:
        """The ClusterQueue a Workload belongs to; empty where its Queue is not there."""
        name, namespace = str(workload["spec"].get("queue") or "default"), str(workload["metadata"]["namespace"])
        queue = self.cache.queues.get(name, namespace) if self.cache else None
        return str((queue.get("spec") or {}).get("clusterQueue") or ROOT) if queue is not None else ""

    def _workloads(self, cache: Cache) -> Iterable[GaugeMetricFamily]:
        reasons: Counter[tuple[str, str]] = Counter()
        active: Counter[str] = Counter()
        for workload in cache.workloads.all():
            status = workload.get("status") or {}
            at = self.cluster_queue_of(workload)
            if status.get("state") == "Admitted":
                active[at] += 1
            elif status.get("state") != "Finished":
                reasons[at, str((status.get("waiting") or {}).get("reason") or "")] += 1
        pending = GaugeMetricFamily(
            "tidegate_pending_workloads", "Workloads that wait; inadmissible: for what does not pass by waiting.",
            labels=("cluster_queue", "status"),
        )  # fmt: skip
        sums: Counter[tuple[str, str]] = Counter()
        for (at, reason), count in reasons.items():
            sums[at, "inadmissible" if reason in _NEVER else "active"] += count
        why = GaugeMetricFamily(
            "tidegate_unadmitted_workloads", "Workloads that wait, by reason.", labels=("cluster_queue", "reason")
        )
        admitted = GaugeMetricFamily(
            "tidegate_admitted_active_workloads", "Workloads that are admitted.", labels=("cluster_queue",)
        )
        yield _filled(pending, sums)
        yield _filled(why, reasons)
        yield _filled(admitted, {(at,): count for at, count in active.items()})

    def _cluster_queues(self, cache: Cache) -> Iterable[GaugeMetricFamily]:
        nodes = sorted(cache.cluster_queues.all(), key=lambda each: str(each["metadata"]["name"]))
        for name, (field, text) in _STATED.items():
            family = GaugeMetricFamily(f"tidegate_cluster_queue_{name}", text, labels=_AMOUNTS)
            for node in nodes:
                for flavor, amounts in ((node.get("status") or {}).get(field) or {}).items():
                    _add(family, _name(node), flavor, amounts)
            yield family
        nominal = GaugeMetricFamily("tidegate_cluster_queue_nominal_quota", "What it is guaranteed.", labels=_AMOUNTS)
        for node in nodes:
            for quota in (node.get("spec") or {}).get("quotas") or ():
                stated = quota.get("resources") or {}
                amounts = {key: each["nominalQuota"] for key, each in stated.items() if each.get("nominalQuota")}
                _add(nominal, _name(node), str(quota.get("flavor") or ""), amounts)
        yield nominal
        share = GaugeMetricFamily(
            "tidegate_cluster_queue_weighted_share", "Use above the guarantee, over the weight.",
            labels=("cluster_queue",),
        )  # fmt: skip
        for node in nodes:
            share.add_metric((_name(node),), float((node.get("status") or {}).get("share") or 0))
        yield share


def _queues(cache: Cache) -> Iterable[GaugeMetricFamily]:
    labels = ("namespace", "queue")
    for name, field in (("pending_workloads", "pendingWorkloads"), ("admitted_active_workloads", "admittedWorkloads")):
        family = GaugeMetricFamily(f"tidegate_queue_{name}", f"{field} of its status.", labels=labels)
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


def _filled(
    family: GaugeMetricFamily, counts: dict[tuple[str, ...], int] | Counter[tuple[str, str]]
) -> GaugeMetricFamily:
    for labels, count in sorted(counts.items()):
        family.add_metric(labels, count)
    return family


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
