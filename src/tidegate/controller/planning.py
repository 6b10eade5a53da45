"""What the planner is shown: the queues as they are configured, and Workloads as they are seen."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from tidegate.controller.kinds import Key, name_of
from tidegate.controller.looking import Looking
from tidegate.controller.seen.config import roots, snapshot
from tidegate.controller.told.workloads import News, wished
from tidegate.controller.underway import ANY
from tidegate.controller.watch.cache import Cache
from tidegate.controller.watch.deadlines import Deadlines
from tidegate.model.kinds import Workload
from tidegate.scheduler import Plan, Planner, Policies, Snapshot
from tidegate.scheduler import Workload as SeenWorkload


class Planning:
    """The planner, and what it knows."""

    def __init__(self, cache: Cache, looking: Looking, policies: Policies) -> None:
        self._cache = cache
        self._looking = looking
        self._policies = policies
        self._planner = Planner(policies)
        self._roots: dict[str, str] = {}
        """By Queue: the ClusterQueue at the top of its tree."""
        self.snapshot = Snapshot()
        """Without Workloads."""
        self.deadlines = Deadlines()

    def anew(self) -> None:
        """It knows nothing: everything is to be put before it again."""
        self._planner = Planner(self._policies)

    def configure(self) -> None:
        """Take over the queues as they are now."""
        cache = self._cache
        self.snapshot = snapshot(
            cache.nodes.all(), cache.flavors.all(), cache.cluster_queues.all(), cache.queues.all(),
            cache.namespaces.all(),
        )  # fmt: skip
        self._planner.configure(self.snapshot)
        self._roots = roots(self.snapshot)

    def root_of(self, seen: SeenWorkload) -> str:
        """The ClusterQueue at the top of the tree that a Workload is in."""
        return self._roots.get(seen.queue, ANY)

    def see(self, key: Key) -> None:
        """Put what there is of a Workload before the planner."""
        seen = self._looking.seen(key)
        if seen is None:
            self._planner.drop(name_of(key))
        else:
            self._planner.put(seen)
        # What is found out by looking at it may be over at some time, too.
        self.expect(key)

    def expect(self, key: Key) -> None:
        """Look at a Workload again when it has run as long as it may."""
        self.deadlines.expect(key, self._looking.deadline(key))

    def plan(self, now: int, *, report: bool) -> Plan:
        """What is to be done; the planner takes it for done."""
        return self._planner.plan(now, report=report)

    def workload(self, name: str) -> SeenWorkload | None:
        """As the planner sees it, with what was decided since it was put."""
        return self._planner.workload(name)

    def held_by(self, key: Key) -> list[Mapping[str, int]] | None:
        """What it holds of each pod set, by flavor."""
        seen = self._planner.workload(name_of(key))
        return None if seen is None else [each.granted for each in seen.pod_sets]

    def forgiven(self, seen: SeenWorkload, workload: Workload, news: News) -> SeenWorkload:
        """An eviction that was its own wish counts for nothing."""
        if news.eviction is None or not wished(news.eviction.causes):
            return seen
        before = workload.status.requeue.count if workload.status.requeue else 0
        kept = structs.replace(seen, evictions=before, requeue_at=None, waiting_since=None)
        self._planner.put(kept)
        return kept
