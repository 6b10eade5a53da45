"""Asks: what is granted at one stroke. A floor is one ask; above it, one step of one pod set is.

Asks of one Queue between which neither fitting nor making room can tell a difference stand in one *row*: what is found
out for its first is known for all of them. That is why the cost of a cycle does not grow with what is waiting.
"""

from __future__ import annotations

from fractions import Fraction

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.places import Place, Places
from tidegate.scheduler.line.shapes import Kind, Shape, part_of
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import TreeNode


class Row(Places):
    """Asks of one Queue and one kind, in order."""

    __slots__ = ("_ask", "age_at", "failed", "kind", "only", "queue", "rank", "shape")

    def __init__(self, queue: TreeNode, shape: Shape) -> None:
        super().__init__()
        self.queue = queue
        self.shape = shape
        self.kind = shape.kind
        self.rank = shape.rank
        self.only = shape.only
        self.age_at = 0 if shape.kind.is_floor else 1
        """Where in a place the age of a workload stands, its name behind it."""
        self.failed = False
        """Its first was looked at and does not fit: nobody of this row does, for now."""
        self._ask: Ask | None = None

    def only_ask(self) -> Ask:
        """The ask of its first, where there is no choice of flavors."""
        ask = self._ask
        if ask is None or ask.place is not self.first:
            assert self.only is not None
            assert self.first is not None
            ask = self._ask = Ask(self, self.first, self.only.need)
        return ask

    def let_go(self) -> None:
        """Nobody stands in it any more: it is not kept by what it keeps."""
        self._ask = None


class Ask:
    """A floor, or one step of growth, of one workload."""

    __slots__ = ("created", "kind", "name", "need", "place", "queue", "row")

    def __init__(self, row: Row, place: Place, need: Need = ()) -> None:
        self.row = row
        self.place = place
        self.need = need
        """What it would take, for weighing it against others."""
        self.queue = row.queue
        self.kind = row.kind
        at = row.age_at
        self.created: int = place[at]
        self.name: str = place[at + 1]
        """Its workload's."""

    @property
    def pod_set(self) -> int | None:
        """Which pod set grows; None for a floor, which is all of them."""
        return None if self.kind.is_floor else self.kind.parts[0].pod_set


def floor_place(workload: Workload) -> Place:
    return (workload.created, workload.name)


def growth(holding: Holding, index: int) -> tuple[Kind, Place] | None:
    """The next step of one pod set, if it wants one."""
    workload = holding.workload
    pod_set = workload.pod_sets[index]
    granted = holding.count(index)
    # Steps are counted from the floor, with the pods that ended well. Where the floor was raised while it runs, what is
    # missing of it is as indivisible as the floor.
    above = granted + pod_set.ended - min(pod_set.floor, pod_set.count)
    step = pod_set.least - granted if granted < pod_set.least else pod_set.step - above % pod_set.step
    if granted + step > pod_set.wanted:
        return None
    held = holding.granted[index]
    flavor = None if pod_set.mixes else min((name for name, count in held.items() if count), default=None)
    part = part_of(index, pod_set, step, flavor=flavor)
    kind = Kind((part,), False, workload.priority, False, workload.max_run_seconds)
    own = _share(holding, index, step)
    # Between pod sets of one workload, the one that has least of what it wants; then the first.
    had = Fraction(granted, pod_set.wanted) if len(workload.pod_sets) > 1 else 0
    return kind, (own, workload.created, workload.name, had, index)


def _share(holding: Holding, index: int, step: int) -> int:
    """The dominant share of a workload within its Queue, with the step counted."""
    assert holding.queue is not None
    total: dict[str, int] = {}
    for place, pod_set in enumerate(holding.workload.pod_sets):
        pods = holding.count(place) + (step if place == index else 0)
        for resource, amount in pod_set.requests.items():
            total[resource] = total.get(resource, 0) + amount * pods
    measure = holding.queue.measure
    return max((amount * measure.get(resource, 0) for resource, amount in total.items()), default=0)
