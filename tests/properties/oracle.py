"""What everybody deserves, by brute force: the sentences of the design carried out one after the other.

The whole capacity is handed out from empty, in whole asks: every turn goes down from the root, at each level into the
child whose share *counted with its ask granted* is smallest, to a Queue and its first ask that fits. Nothing is kept
from one turn to the next, every sum is made anew, and whether an ask fits is asked of law 1. Slow, and hard to get
wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, Ordering
from tidegate.model.resources import Resources
from tidegate.scheduler import PodSet, Snapshot, Workload
from tidegate.sim.laws.commitments import over_committed
from tidegate.sim.laws.quota import Amounts, Place, QuotaTree, add

NANO = 10**9


@dataclass(slots=True)
class Wish:
    """A workload, or a Queue's standing request, and how many of its pods were handed out so far."""

    name: str
    queue: Place
    priority: int
    created: int
    pod_set: PodSet
    """One a workload: of several the design does not say which grows first."""
    granted: dict[str, int] = field(default_factory=dict)
    started: bool = False
    standing: bool = False

    @property
    def count(self) -> int:
        return sum(self.granted.values())

    @property
    def ask(self) -> int:
        """Pods of its next ask: the floor, or what is lacking to the next whole step above it, with the pods that ended
        well; 0 when it wants no more."""
        if not self.started:
            return self.pod_set.least
        above = self.count + self.pod_set.ended - min(self.pod_set.floor, self.pod_set.count)
        more = self.pod_set.step - above % self.pod_set.step
        return more if self.count + more <= self.pod_set.wanted else 0

    def amounts(self, pods: Mapping[str, int]) -> Amounts:
        total: Amounts = {}
        for flavor, count in pods.items():
            add(total, {(flavor, name): amount * count for name, amount in self.pod_set.requests.items()})
        return total


class HandingOut:
    """The capacity of a Snapshot, handed out from empty."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.tree = QuotaTree(snapshot)
        self.holds: dict[str, Amounts] = {name: {} for name in self.tree.places}
        self.wishes = [*self._of_workloads(), *self._standing()]
        self.blocked: set[str] = set()
        """Strict ClusterQueues whose first in line does not fit."""
        self.looked_past = False
        """Whether an ask with a choice of flavors, or beside room that others keep, did not fit, and another of its
        Queue stood in line instead; or a floor did not that could be split, though one pod of it would. The planner
        finds that out at its turn only, so that turns may be others, those of the Queues beside it, too."""

    def all(self) -> dict[str, Amounts]:
        """What every node deserves."""
        for wish in self.wishes:
            wish.started = wish.pod_set.least == 0
        while self._turn():
            pass
        return {name: {cell: some for cell, some in held.items() if some} for name, held in self.holds.items()}

    def _of_workloads(self) -> Iterator[Wish]:
        for workload in self.snapshot.workloads:
            if workload.active and workload.queue in self.tree.places:
                place = self.tree.places[workload.queue]
                yield Wish(workload.name, place, workload.priority, workload.created, _only(workload))

    def _standing(self) -> Iterator[Wish]:
        """What a Queue requests and its workloads do not ask for themselves; whole cores here."""
        for name, queue in self.snapshot.queues.items():
            for resource, amount in queue.request.items():
                asked = sum(
                    _only(one).requests.get(resource, 0) * _only(one).wanted
                    for one in self.snapshot.workloads
                    if one.queue == name and one.active
                )
                units = max(0, amount - asked) // NANO
                unit = PodSet(name="unit", count=units, floor=0, requests=Resources({resource: NANO}))
                yield Wish(f"{name} standing", self.tree.places[name], -NANO, 0, unit, standing=True)

    # One turn.

    def _turn(self) -> bool:
        roots = [place for place in self.tree.places.values() if place.parent is None]
        return any(self._go_down(root) for root in roots)

    def _go_down(self, place: Place) -> bool:
        """Grant the ask whose turn it is below a node, if any can be granted."""
        candidate = self._next(place)
        if candidate is None:
            return False
        wish, pods = candidate
        if pods is None:
            assert wish.queue.parent is not None
            self.blocked.add(wish.queue.parent.name)
            return True
        for flavor, count in pods.items():
            wish.granted[flavor] = wish.granted.get(flavor, 0) + count
        wish.started = True
        for one in wish.queue.path:
            add(self.holds[one.name], wish.amounts(pods))
        return True

    def _next(self, place: Place) -> tuple[Wish, dict[str, int] | None] | None:
        """The ask below a node whose turn it is, and where its pods go (None: nowhere, and it blocks)."""
        if place.name in self.snapshot.queues:
            return self._first_of_queue(place)
        offers = [(child, offer) for child in place.children if (offer := self._next(child)) is not None]
        if not offers:
            return None
        order = self._policy(place)
        return min(offers, key=lambda one: order(*one))[1]

    def _policy(self, place: Place) -> Callable[[Place, tuple[Wish, dict[str, int] | None]], tuple[object, ...]]:
        policy = self.rules(place).policy

        def order(child: Place, offer: tuple[Wish, dict[str, int] | None]) -> tuple[object, ...]:
            wish, pods = offer
            share = self._share_with(child, wish, pods)
            key: tuple[object, ...] = (share,)
            if policy == "fifo":
                key = (share > 0,)
            elif policy == "priority":
                key = (share > 0, -wish.priority, share)
            # A standing request is behind all that workloads ask for.
            return (*key, wish.standing, wish.created, child.name)

        return order

    def _share_with(self, child: Place, wish: Wish, pods: dict[str, int] | None) -> Fraction:
        if pods is None:
            pods = {self.flavors(wish.queue)[0]: wish.ask}
        held = dict(self.holds[child.name])
        add(held, wish.amounts(pods))
        return child.share(held)

    def rules(self, place: Place) -> ClusterQueueSpec:
        return self.snapshot.cluster_queues.get(place.name, ClusterQueueSpec())

    # Within a Queue.

    def _first_of_queue(self, queue: Place) -> tuple[Wish, dict[str, int] | None] | None:
        assert queue.parent is not None
        if queue.parent.name in self.blocked:
            return None
        strict = self.rules(queue.parent).ordering is Ordering.STRICT
        mine = [wish for wish in self.wishes if wish.queue is queue and wish.ask]
        passed = False
        for wish in sorted(mine, key=self._place_in_line):
            pods = self.where(wish)
            if pods is not None or (strict and self._could_ever(wish)):
                self.looked_past |= passed
                return wish, pods
            passed |= self._is_found_late(wish)
            self.looked_past |= self._seems_to_fit(wish)
        return None

    def _place_in_line(self, wish: Wish) -> tuple[object, ...]:
        """Priority, then floors before growth, floors by age, growth by the workload's own smallest share, then age."""
        share = self._own_share(wish) if wish.started else Fraction(0)
        return wish.standing, -wish.priority, wish.started, share, wish.created, wish.name

    def _own_share(self, wish: Wish) -> Fraction:
        """As if the workload were alone in its Queue, and counted with its ask granted like every share."""
        held = wish.amounts(wish.granted)
        add(held, wish.amounts({"any": wish.ask}))
        return Place(wish.name, wish.queue, 1).share(held)

    # Whether an ask fits.

    def where(self, wish: Wish) -> dict[str, int] | None:
        """The flavors of an ask's pods: all of one; where there is none for all, and they may mix, pod by pod."""
        mixes, flavors = wish.pod_set.mixes, self.flavors(wish.queue)
        mine = [flavor for flavor, count in wish.granted.items() if count and not mixes]
        whole = self._of_one_kind(wish, {}, wish.ask, mine or flavors)
        if whole is not None or not mixes or wish.started:
            return whole
        pods: dict[str, int] = {}
        for _ in range(wish.ask):
            more = self._of_one_kind(wish, pods, 1, flavors)
            if more is None:
                return None
            pods = more
        return pods

    def _of_one_kind(self, wish: Wish, before: dict[str, int], count: int, flavors: list[str]) -> dict[str, int] | None:
        """So many more pods: in the first flavor where they stay inside the guarantee, else the first that has room."""
        fitting = []
        for flavor in flavors:
            pods = {**before, flavor: before.get(flavor, 0) + count}
            if self._fits(wish, pods) and self._there_is_a_node(wish, flavor):
                if self._inside_guarantee(wish, pods, flavor):
                    return pods
                fitting.append(pods)
        return fitting[0] if fitting else None

    def _is_found_late(self, wish: Wish) -> bool:
        return len(self.flavors(wish.queue)) > 1 or any(place.kept for place in self.tree.places.values())

    def _seems_to_fit(self, wish: Wish) -> bool:
        splits = len(self.flavors(wish.queue)) > 1 and wish.pod_set.mixes and not wish.started and wish.ask > 1
        return splits and self._of_one_kind(wish, {}, 1, self.flavors(wish.queue)) is not None

    def _fits(self, wish: Wish, pods: dict[str, int]) -> bool:
        sums = {name: dict(held) for name, held in self.holds.items()}
        for place in wish.queue.path:
            add(sums[place.name], wish.amounts(pods))
        return next(over_committed(self.tree.places.values(), sums), None) is None

    def _could_ever(self, wish: Wish) -> bool:
        """Whether it fits if nobody else holds anything."""
        others, self.holds = self.holds, {name: {} for name in self.holds}
        for place in wish.queue.path:
            add(self.holds[place.name], wish.amounts(wish.granted))
        fits = self.where(wish) is not None
        self.holds = others
        return fits

    def _inside_guarantee(self, wish: Wish, pods: dict[str, int], flavor: str) -> bool:
        """Within what the nearest node guarantees that guarantees any of it; what nobody guarantees does not count."""
        inside = []
        for cell, amount in wish.amounts({flavor: pods[flavor]}).items():
            owner = next((one for one in wish.queue.path if one.parent and cell in one.guarantee), None)
            if owner is not None and amount:
                inside.append(self.holds[owner.name].get(cell, 0) + amount <= owner.guarantee[cell])
        return bool(inside) and all(inside)

    def _there_is_a_node(self, wish: Wish, flavor: str) -> bool:
        """A pod must fit on one node of its flavor as it is."""
        labels = self.snapshot.flavors[flavor].node_labels if self.snapshot.flavors else {}
        nodes = [node for node in self.snapshot.nodes if labels.items() <= node.labels.items()]
        requests = wish.pod_set.requests
        return not self.snapshot.nodes or any(
            all(amount <= node.allocatable.get(name, 0) for name, amount in requests.items()) for node in nodes
        )

    def flavors(self, place: Place) -> list[str]:
        """Those its ClusterQueue names, else its parent's, of those all above it name; in the end all there are."""
        named = [[quotas.flavor for quotas in self.rules(one).quotas] for one in place.path]
        first, *above = [some for some in named if some] or [sorted(self.snapshot.flavors) or ["default"]]
        return [flavor for flavor in first if all(flavor in some for some in above)]


def _only(workload: Workload) -> PodSet:
    (pod_set,) = workload.pod_sets
    return pod_set
