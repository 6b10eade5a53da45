"""All laws that one Plan, or one settling, can show to be kept or broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, Ordering
from tidegate.scheduler import Eviction, Grant, Instant, Plan, Rule, Shrink, Snapshot, Workload
from tidegate.sim.laws.accounts import Accounts, Holders, takings
from tidegate.sim.laws.answers import everybody_is_answered
from tidegate.sim.laws.breach import Breach
from tidegate.sim.laws.commitments import law_1
from tidegate.sim.laws.deserving import law_3
from tidegate.sim.laws.quota import QuotaTree
from tidegate.sim.laws.taking import MAKES_ROOM, law_2


class LawChecker:
    """Watches the Plans of a simulation. It keeps what it worked out until that changes."""

    def __init__(self) -> None:
        self._holders: Holders | None = None
        self._configuration: tuple[object, ...] = ()
        self._settling = False
        """Whether a Plan was made since something happened, and left no room but what it gave."""
        self._given: set[str] = set()
        self._taken: set[tuple[str, str, str]] = set()

    def something_happened(self) -> None:
        """The world moved: what was settled may be decided anew."""
        self._settling = False
        self._given.clear()
        self._taken.clear()

    def breaches(self, snapshot: Snapshot, now: Instant, plan: Plan) -> Iterator[Breach]:
        """What is wrong with a Plan for this Snapshot."""
        holders = self._holders_of(snapshot)
        holders.look(snapshot)
        accounts = Accounts.of(holders, plan)
        yield from law_1(accounts)
        impatient = _lost_patience(snapshot, now) if takings(plan) else []
        held = {name for one in impatient for pods in one.pod_sets for name in pods.requests}
        yield from law_2(accounts, held)
        yield from law_3(accounts, held)
        yield from self._law_4(plan)
        yield from everybody_is_answered(accounts)

    def _law_4(self, plan: Plan) -> Iterator[Breach]:
        """Nothing happened since the last Plan but that it was carried out: who was given keeps it, who was taken from
        is not given again, and what the first Plan left to everybody no second one takes."""
        taken = {one.workload for one in takings(plan) if any(cause.rule in MAKES_ROOM for cause in one.causes)}
        for one in takings(plan) if self._settling else ():
            # What is over-committed has to go; that it is was a breach of law 1 then.
            late = any(cause.rule is not Rule.OVER_QUOTA for cause in one.causes)
            if late and one.workload not in taken & self._given:
                yield Breach(4, f"{one.workload} loses what the last plan left it, though nothing happened in between")
        given = {grant.workload for grant in plan.grants if any(grant.pods.values())}
        for name in sorted(taken & self._given):
            yield Breach(4, f"{name} loses what it was given a moment ago, though nothing happened in between")
        again = _pods(plan.grants) & self._taken
        for name in sorted({workload for workload, _, _ in again}):
            yield Breach(4, f"{name} is given what was taken from it a moment ago, though nothing happened in between")
        # What had to go leaves room that is free only when its pods are gone: then there is something to decide again.
        self._settling = all(cause.rule in MAKES_ROOM for one in takings(plan) for cause in one.causes)
        self._given |= given
        self._taken |= {pods for pods in _pods(takings(plan)) if pods[0] in taken}

    def _holders_of(self, snapshot: Snapshot) -> Holders:
        configuration = (snapshot.nodes, snapshot.flavors, snapshot.cluster_queues, snapshot.queues)
        if self._holders is None or configuration != self._configuration:
            self._holders, self._configuration = Holders(QuotaTree(snapshot)), configuration
        return self._holders


def _pods(changes: Iterable[Grant | Shrink | Eviction]) -> set[tuple[str, str, str]]:
    """Of which workload, pod set and flavor they are."""
    return {
        (change.workload, pod_set, flavor)
        for change in changes
        for pod_set, by_flavor in change.pods.items()
        for flavor, count in by_flavor.items()
        if count
    }


def _lost_patience(snapshot: Snapshot, now: Instant) -> list[Workload]:
    """Those whose floor has waited longer than their ClusterQueue's patience."""
    found = []
    for workload in snapshot.workloads:
        queue = snapshot.queues.get(workload.queue)
        if queue is None or workload.admitted_at is not None or not workload.active:
            continue
        rules = snapshot.cluster_queues.get(queue.cluster_queue, ClusterQueueSpec())
        if rules.ordering is Ordering.BEST_EFFORT and now - workload.waits_since > rules.patience.seconds:
            found.append(workload)
    return found
