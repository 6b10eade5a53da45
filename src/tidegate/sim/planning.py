"""The planner that keeps what it knows between cycles, asked as the pure function is: with a whole Snapshot each time.

Views of applications are the same objects as long as nothing about them changes, so what is different is found by
identity. Long runs are planned this way; scripted scenarios from scratch.
"""

from __future__ import annotations

from tidegate.scheduler import BUILT_IN, Instant, Plan, Planner, Policies, Snapshot, Workload


class KeepingPlanner:
    """`plan(snapshot, now)`, at the cost of what changed."""

    def __init__(self, policies: Policies = BUILT_IN) -> None:
        self._planner = Planner(policies)
        self._configuration: tuple[object, ...] | None = None
        self._seen: dict[str, Workload] = {}

    def __call__(self, snapshot: Snapshot, now: Instant) -> Plan:
        names = ("nodes", "flavors", "cluster_queues", "queues", "namespaces")
        configuration = tuple(getattr(snapshot, name) for name in names)
        there = {workload.name: workload for workload in snapshot.workloads}
        if configuration != self._configuration:
            self._configuration = configuration
            self._planner.configure(snapshot)
        for name in self._seen.keys() - there.keys():
            self._planner.drop(name)
        for name, workload in there.items():
            if self._seen.get(name) is not workload:
                self._planner.put(workload)
        self._seen = there
        return self._planner.plan(now, report=True)
