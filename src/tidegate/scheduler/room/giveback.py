"""What is taken back although nobody asks for the room: it is not wanted, not allowed, or no longer there.

None of this is preemption. A queue that is drained, or gone, gives back all at once; a lowered quota or a lost node
takes surplus first and then the newest floors, until nothing is over-committed any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model.kinds.cluster_queue import Stop
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.victims import Victims, surplus_units
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.ledger import Short
from tidegate.scheduler.tree.node import TreeNode


def must_give_back(holding: Holding) -> bool:
    """Whether a workload holds something it may not keep, or does not want."""
    if not holding.admitted:
        return False
    wanted = holding.workload.pod_sets
    return _may_hold_nothing(holding) is not None or any(
        holding.count(index) > pod_set.wanted for index, pod_set in enumerate(wanted)
    )


def give_back(draft: Draft, names: Iterable[str], crowded: Iterable[TreeNode]) -> None:
    """Take back what must be, before anybody is asked what they want: from these workloads, and below these nodes."""
    for name in sorted(names):
        holding = draft.books.holdings[name]
        rule = _may_hold_nothing(holding)
        if rule is not None:
            draft.evict(holding, rule)
        else:
            _what_is_not_wanted(holding, draft)
    for node in sorted(crowded, key=lambda node: -node.index):
        _what_is_too_much(node, draft)


def _what_is_too_much(node: TreeNode, draft: Draft) -> None:
    """Take in the order of victims, then give back what those who went last made needless: before anybody is asked what
    they want, or they would be judged by what they are about to get back."""
    rights = _OverQuota(draft)
    victims = Victims(draft, rights, needed_by=None)
    taken = []
    while rights.look(node) and (unit := victims.take(node, rights.short)):
        taken.append(unit)
    if rights.look(node):
        return
    for unit in reversed(taken[:-1]):
        if unit.evicts or unit.holding.admitted:
            draft.undo(unit)
            if rights.look(node):
                draft.take_again(unit)


class _OverQuota:
    """Everything may be taken, if that helps."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.short: list[Short] = []

    def look(self, node: TreeNode) -> bool:
        """Whether a node still holds too much."""
        self.short = self.draft.ledger.excesses(node)
        return bool(self.short)

    def below(self, node: TreeNode) -> Iterable[TreeNode]:
        for child in node.children:
            if self.draft.ledger.granted_anything(child) and any(self._helps(child, lack) for lack in self.short):
                yield child

    def _helps(self, node: TreeNode, lack: Short) -> bool:
        """What is taken from a node that keeps as much for itself is not free for others; it is no longer held, though,
        and that alone may be too much: a lost node."""
        ledger, at = self.draft.ledger, lack.node
        held = sum(ledger.granted[at.index][axis] for axis in lack.axes)
        return lack.limited or held > at.most[lack.axes[0]] or not ledger.keeps_all(node, lack.axes)

    def above(self, node: TreeNode, floors: bool) -> int:
        """Surplus goes from who is most above what they deserve of what is left. Of floors the newest goes, whosesoever
        it is; only what is inside a guarantee stays as long as others have more."""
        share = self.draft.ledger.shares[node.index]
        return min(share, 1) if floors else share - self.draft.deserved.share(node)

    def permit(self, _holding: Holding, _need: Need, _floor: bool) -> Rule:
        return Rule.OVER_QUOTA

    def alike(self, _holding: Holding) -> None:
        """Nobody is refused."""

    def spares(self, _queue: TreeNode) -> None:
        """Nobody is spared."""


def start_held(draft: Draft, names: Iterable[str]) -> None:
    """Let granted pods start for which others have gone by now: whole floors, and what is above them in steps."""
    waiting = (draft.books.holdings[name] for name in names)
    for holding in sorted(waiting, key=lambda one: (one.workload.created, one.workload.name)):
        if holding.queue is not None:
            _start(draft, holding, holding.queue)


def _start(draft: Draft, holding: Holding, queue: TreeNode) -> None:
    pod_sets = holding.workload.pod_sets
    held = [
        (index, flavor, count)
        for index, counts in enumerate(holding.held)
        for flavor, count in sorted(counts.items())
        if count
    ]
    axes = queue.axes
    all_of_them = total(axes.pods(pod_sets[index].requests, flavor, count) for index, flavor, count in held)
    if draft.ledger.really_free(queue, all_of_them):
        for index, flavor, count in held:
            draft.start(holding, index, flavor, count)
    elif _floor_runs(holding):
        for index, flavor, count in held:
            step = pod_sets[index].step
            need = axes.pods(pod_sets[index].requests, flavor, step)
            for _ in range(count // step):
                if draft.ledger.really_free(queue, need):
                    draft.start(holding, index, flavor, step)


def _floor_runs(holding: Holding) -> bool:
    return all(
        holding.count(index) - sum(holding.held[index].values()) >= pod_set.least
        for index, pod_set in enumerate(holding.workload.pod_sets)
    )


def _may_hold_nothing(holding: Holding) -> Rule | None:
    if not holding.workload.active:
        return Rule.INACTIVE
    if holding.queue is None:
        return Rule.NO_QUEUE
    return Rule.DRAINED if holding.queue.stop is Stop.HOLD_AND_DRAIN else None


def _what_is_not_wanted(holding: Holding, draft: Draft) -> None:
    for index, pod_set in enumerate(holding.workload.pod_sets):
        while holding.count(index) > pod_set.wanted:
            unit = next(unit for unit in surplus_units(holding) if unit[0][0] == index)
            draft.shrink(holding, unit, Rule.NOT_WANTED)
