"""The metrics of one replica. Counters and histograms are kept; gauges are read when the page is asked for."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from tidegate.controller.metrics.standing import Standing
from tidegate.controller.metrics.tally import Find
from tidegate.controller.watch.cache import Cache
from tidegate.kube.wire import Object
from tidegate.scheduler import Plan, Snapshot

_WAITS_S = (1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 40960)
_CYCLES_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_QUEUE = ("cluster_queue",)
COUNTED: dict[str, tuple[tuple[str, ...], str]] = {
    "admitted_workloads": (_QUEUE, "Workloads admitted."),
    "evicted_workloads": ((*_QUEUE, "reason"), "Workloads evicted."),
    "shrunk_workloads": (_QUEUE, "Times that a workload lost pods above its floor."),
    "granted_pods": (_QUEUE, "Pods granted with an admission."),
    "grown_pods": (_QUEUE, "Pods granted to those that were admitted already."),
    "shrunk_pods": ((*_QUEUE, "reason"), "Pods taken back above the floor."),
    "evicted_pods": ((*_QUEUE, "reason"), "Pods taken back with an eviction."),
    "reclaimed_pods": (_QUEUE, "Pods that ended well and gave their quota back."),
}
MEASURED: dict[str, tuple[tuple[str, ...], str]] = {
    "admission_attempt_duration_seconds": (("result",), "How long cycles took: looking and planning."),
    "admission_wait_time_seconds": (_QUEUE, "From creation, or eviction, to admission."),
}
"""By name: labels, and what it means."""


class Metrics:
    """A Tally, and the page that shows it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._standing = Standing()
        self._registry.register(self._standing)
        self._cycles = self._histogram("admission_attempt_duration_seconds", _CYCLES_S)
        self._wait = self._histogram("admission_wait_time_seconds", _WAITS_S)
        self._admitted = self._counter("admitted_workloads")
        self._evicted = self._counter("evicted_workloads")
        self._shrunk = self._counter("shrunk_workloads")
        self._granted_pods = self._counter("granted_pods")
        self._grown_pods = self._counter("grown_pods")
        self._shrunk_pods = self._counter("shrunk_pods")
        self._evicted_pods = self._counter("evicted_pods")
        self._reclaimed_pods = self._counter("reclaimed_pods")
        self._leads = Gauge("tidegate_leader", "1 where this replica leads.", registry=self._registry)

    def _counter(self, name: str) -> Counter:
        labels, text = COUNTED[name]
        return Counter(f"tidegate_{name}", text, labels, registry=self._registry)

    def _histogram(self, name: str, buckets: tuple[float, ...]) -> Histogram:
        labels, text = MEASURED[name]
        return Histogram(f"tidegate_{name}", text, labels, buckets=buckets, registry=self._registry)

    def follow(self, cache: Cache) -> None:
        """This replica leads, and this is what it sees."""
        self._standing.cache = cache
        self._leads.set(1)
        cache.on_workload(self._workload)

    def forget(self) -> None:
        """It leads no more; whoever does shows how things stand."""
        self._standing.cache = None
        self._leads.set(0)

    def page(self) -> tuple[int, str, bytes]:
        """For Prometheus."""
        return 200, CONTENT_TYPE_LATEST, generate_latest(self._registry)

    def cycle(self, duration_s: float, *, completed: bool) -> None:
        self._cycles.labels("success" if completed else "failed").observe(duration_s)

    def told(self, plan: Plan, find: Find, snapshot: Snapshot, now: int) -> None:
        def queue_of(name: str) -> str:
            seen = find(name)
            queue = snapshot.queues.get(seen.queue) if seen is not None else None
            return queue.cluster_queue if queue is not None else ""

        for grant in plan.grants:
            at, pods = queue_of(grant.workload), sum(sum(counts.values()) for counts in grant.pods.values())
            if not grant.admits:
                self._grown_pods.labels(at).inc(pods)
                continue
            self._admitted.labels(at).inc()
            self._granted_pods.labels(at).inc(pods)
            if (seen := find(grant.workload)) is not None:
                self._wait.labels(at).observe(max(0, now - seen.waits_since))
        for shrink in plan.shrinks:
            at = queue_of(shrink.workload)
            self._shrunk.labels(at).inc()
            for cause in shrink.causes:
                self._shrunk_pods.labels(at, cause.rule.value).inc(cause.pods)
        for eviction in plan.evictions:
            at, causes = queue_of(eviction.workload), eviction.causes
            self._evicted.labels(at, causes[0].rule.value if causes else "").inc()
            for cause in causes:
                self._evicted_pods.labels(at, cause.rule.value).inc(cause.pods)

    def _workload(self, old: Object | None, new: Object | None) -> None:
        """Pods that ended well since the last time."""
        if old is None or new is None:
            return
        more = _reclaimed(new) - _reclaimed(old)
        if more > 0:
            self._reclaimed_pods.labels(self._standing.cluster_queue_of(new)).inc(more)


def _reclaimed(workload: Object) -> int:
    status = workload.get("status") or {}
    return sum(int(each["count"]) for each in status.get("reclaimedPodSetPods") or ())
