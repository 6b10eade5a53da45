"""Handing out: asks are granted one after another, from empty, as in a cycle, with nobody patient or impatient.

Here is what was handed out, and how something is given or taken back. What becomes of it when demand changes is said
by `mending`, where it follows from the order of turns alone, and else by `rewinding`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from operator import attrgetter

from tidegate.scheduler.line.asks import Ask, floor_place
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.line.shapes import Placement, floor_kind
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_order = attrgetter("order")


class Given:
    """One ask that was granted."""

    __slots__ = ("ask", "failed", "order", "placement", "queue")

    def __init__(self, ask: Ask, placement: Placement, failed: int) -> None:
        self.ask = ask
        self.queue = ask.queue
        self.order = (ask.row.rank, ask.place)
        """Its place in its Queue."""
        self.placement = placement
        self.failed = failed
        """How many rows had been found not to fit before."""


class Fill:
    """What everybody was granted, and who is still in line."""

    def __init__(self, tree: Tree, policies: Policies, demand: Mapping[str, Workload]) -> None:
        self.tree = tree
        self.policies = policies
        self.ledger = Ledger(tree)
        self._empty = Ledger(tree)
        self.line = Line(tree, self.ledger, policies, self._can_ever_fit)
        self.given_in: list[list[Given]] = [[] for _ in range(tree.size)]
        """By Queue, in its own order."""
        self.ages: list[list[int]] = [[] for _ in range(tree.size)]
        """By Queue, when those who were given something had come, in order."""
        self.moved: set[TreeNode] = set()
        """The Queues in which something was granted or undone."""
        self.moves = [0] * tree.size
        """By Queue, how often."""
        self._demand = demand
        self.holdings: dict[str, Holding] = {}
        """Of those who may ask for more than a floor: of the others it is enough to know what they were given."""
        self._given_to: dict[str, list[Given]] = {}

    @property
    def has_given(self) -> bool:
        """Whether anybody was granted anything."""
        return bool(self._given_to)

    def everything_moved(self) -> None:
        """Whoever keeps something of what was handed out looks at all of it again."""
        queues = [node for node in self.tree.in_order if node.is_queue]
        self.moved.update(queues)
        self.ledger.note(queues)

    def join(self, workload: Workload) -> None:
        """A workload wants something. One that needs nothing to start asks for growth at once: a floor of nothing is no
        ask, and would stand in the way of those behind it with its own age."""
        queue = self.tree.nodes[workload.queue]
        if any(pod_set.least for pod_set in workload.pod_sets):
            self.line.join(workload, queue)
        else:
            holding = self.holdings[workload.name] = Holding(workload, queue, afresh=True)
            self.line.join_growth(holding)

    def leave(self, workload: Workload) -> None:
        """It wants nothing any more, and was granted nothing."""
        self.holdings.pop(workload.name, None)
        self.line.leave(workload)

    def would_stand_behind(self, workload: Workload) -> bool:
        """Whether one like it waits and comes before it, so that nothing changes if it joins."""
        row = self.line.known_row(self.tree.nodes[workload.queue], floor_kind(workload))
        return row is not None and row.first is not None and row.first < floor_place(workload)

    def stands_behind(self, name: str) -> bool:
        """Whether a workload waits behind one like it."""
        row = self.line.floor_row(name)
        return row is not None and row.first is not None and row.first[1] != name

    def grant(self, ask: Ask, placement: Placement) -> Given:
        """Give somebody what they ask for."""
        holding = self.holdings.get(ask.name)
        if holding is not None:
            for index, flavor, count in placement.pods:
                holding.change(index, flavor, count)
        elif _may_grow(workload := self._demand[ask.name]):
            holding = self.holdings[ask.name] = Holding(workload, ask.queue, afresh=True)
            holding.take_up(placement.pods)
        self.ledger.grant(ask.queue, placement.need)
        given = Given(ask, placement, self.line.failures)
        before = self.given_in[ask.queue.index]
        if before and given.order < before[-1].order:
            insort(before, given, key=_order)
        else:
            before.append(given)
        insort(self.ages[ask.queue.index], ask.created)
        self._given_to.setdefault(ask.name, []).append(given)
        self.line.serve(ask, holding)
        self.moved.add(ask.queue)
        self.moves[ask.queue.index] += 1
        return given

    def undo(self, given: Given) -> None:
        """Take something back: what was given last, or comes last in its Queue."""
        name = given.ask.name
        self._strike_out(given)
        self._given_to[name].remove(given)
        self.ledger.grant(given.queue, given.placement.need, -1)
        if given.ask.kind.is_floor:
            del self._given_to[name]
            workload = self._demand[name]
            if self.holdings.pop(name, None) is not None:
                self.line.leave(workload)
            self.line.join(workload, given.queue)
        else:
            holding = self.holdings[name]
            for index, flavor, count in given.placement.pods:
                holding.change(index, flavor, -count)
            self.line.leave(holding.workload)
            self.line.join_growth(holding)
        self._changed(given.queue)

    def forget(self, workload: Workload) -> None:
        """Take back all that a workload was given, wherever in its Queue it comes."""
        queue = self.tree.nodes[workload.queue]
        holding = self.holdings.pop(workload.name, None)
        given_to = self._given_to.pop(workload.name, ())
        if holding is None and not given_to:
            return
        for given in given_to:
            self._strike_out(given)
            self.ledger.grant(queue, given.placement.need, -1)
        self._changed(queue)

    def _strike_out(self, given: Given) -> None:
        """It is found by its place, however many there are: most often it is the last."""
        given_in = self.given_in[given.queue.index]
        at = len(given_in) - 1
        if given_in[at] is not given:
            at = bisect_left(given_in, given.order, key=_order)
            while given_in[at] is not given:
                at += 1
        del given_in[at]
        ages = self.ages[given.queue.index]
        del ages[bisect_left(ages, given.ask.created)]

    def _changed(self, queue: TreeNode) -> None:
        self.line.changed(queue)
        self.moved.add(queue)
        self.moves[queue.index] += 1

    def _can_ever_fit(self, ask: Ask) -> bool:
        return can_ever_fit(ask, self._empty, self.holdings.get(ask.name))


def _may_grow(workload: Workload) -> bool:
    """Whether it wants more than its floor."""
    for pod_set in workload.pod_sets:  # noqa: SIM110 - this is asked at every turn
        if pod_set.count > pod_set.floor:
            return True
    return False


def can_ever_fit(ask: Ask, empty: Ledger, holding: Holding | None) -> bool:
    """Whether it would fit if nobody but the asker held anything."""
    own = holding.need() if holding is not None else ()
    empty.grant(ask.queue, own)
    fits = place(ask.row, empty) is not None
    empty.grant(ask.queue, own, -1)
    return fits
