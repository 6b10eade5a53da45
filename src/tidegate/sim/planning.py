"""The planner that keeps what it knows between cycles, asked as the pure function is: with a whole Snapshot each time.

Views of applications are the same objects as long as nothing about them changes, so what is different is found by
identity. Long runs are planned this way; scripted scenarios from scratch.
"""

from __future__ import annotations

from tidegate.scheduler import BUILT_IN, Instant, Plan, Planner, Policies, Snapshot, Workload

_CONFIGURATION = ("nodes", "flavors", "cluster_queues", "queues", "namespaces")


class KeepingPlanner:
    """`plan(snapshot, now)`, at the cost of what changed."""

    def __init__(self, policies: Policies = BUILT_IN) -> None:
        self._planner = Planner(policies)
        self._configuration: tuple[object, ...] | None = None
        self._seen: dict[str, Workload] = {}

    def __call__(self, snapshot: Snapshot, now: Instant, *, reasons: bool = True) -> Plan:
        configuration = tuple(getattr(snapshot, name) for name in _CONFIGURATION)
        if configuration != self._configuration:
            self._configuration = configuration
            self._planner.configure(snapshot)
        before, self._seen = self._seen, {}
        for workload in snapshot.workloads:
            self._seen[workload.name] = workload
            if before.pop(workload.name, None) is not workload:
                self._planner.put(workload)
        for name in before:
            self._planner.drop(name)
        return self._planner.plan(now, report=True, reasons=reasons)
