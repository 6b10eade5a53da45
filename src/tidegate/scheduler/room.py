"""Making room: what may be taken from others for an ask that does not fit.

Theory of operation. *The floor is yours, the surplus is everyone's.* Four rights, asked for one victim at a time:

  FloorBeforeSurplus  a waiting floor takes surplus of its own Queue, of equal or lower priority.
  WithinQueue         a waiting floor takes floors of its own Queue by priority, where the ClusterQueue says so.
  FairShare           an ask takes from other queues that hold more than they deserve.
  LowerPriority       an ask takes from workloads of lower priority in other queues, where its ClusterQueue says so.

Across queues (the last two) the asker's nodes must stay at or below what they deserve, counted from its Queue up to
where its path meets the victim's; and FairShare leaves every node of the victim's path below there at or above what
it deserves. Nodes above and below are compared by share, with two consequences that make this settle:

  - Taking never lifts a node above what it deserves, and only takes from nodes that are strictly above. So no node is
    victim and asker in turn while demand stays the same, since deserved depends on demand alone: no ping-pong.
  - A share of 0 says only "inside the guarantee"; what lacks is therefore never taken from inside a victim's guarantee.

Units are taken until the ask fits, then given back in reverse order as long as it still fits: nothing is taken that is
not needed. If it never fits, everything is put back. Pods on their way out count as room already, so that nothing is
taken twice for one ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.model.kinds.cluster_queue import AcrossQueues, WithinQueue
from tidegate.scheduler.amounts import Cells
from tidegate.scheduler.asks import Ask
from tidegate.scheduler.draft import Draft, Taken
from tidegate.scheduler.fairness import share
from tidegate.scheduler.fit import Placement, in_one_flavor_each, place
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.ledger import Ledger, Short
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.tree import TreeNode
from tidegate.scheduler.victims import Victims, below_meeting


@dataclass(frozen=True, slots=True)
class OnItsWay:
    """Enough pods are leaving already: wait for them instead of taking more."""


def make_room(ask: Ask, draft: Draft, empty: Ledger) -> Placement | OnItsWay | None:
    """Take what the ask needs and may take, and say where it then fits. Changes nothing unless it fits."""
    for placement in _worth_trying(ask, draft, empty):
        rights = _Rights(ask, draft, placement.need)
        if not rights.any:
            continue
        if draft.ledger.fits(ask.queue, placement.need, held=True):
            return OnItsWay()
        if _take(ask, draft, placement, rights):
            return placement
    return None


def _worth_trying(ask: Ask, draft: Draft, empty: Ledger) -> Iterator[Placement]:
    """Flavors in order; then, for pods that may be split, as they would stand if nobody else were there."""
    for placement in in_one_flavor_each(ask, draft.ledger):
        if empty.fits(ask.queue, placement.need):
            yield placement
    if any(part.splits for part in ask.parts) and (split := place(ask, empty)):
        yield split


def _take(ask: Ask, draft: Draft, placement: Placement, rights: _Rights) -> bool:
    ledger, need = draft.ledger, placement.need
    taken: list[Taken] = []
    victims: dict[TreeNode, Victims] = {}
    while short := list(ledger.shortfalls(ask.queue, need, held=True)):
        # Only who is below the first node that is short helps there; whatever is taken there helps all nodes above.
        node = short[0].node
        if node not in victims:
            scope = min(node, rights.scope, key=ask.queue.path.index)
            victims[node] = Victims(draft, scope, rights.permit, needed_by=ask.name, near=ask.queue)
        rights.short = [lack for lack in short if lack.node is node]
        unit = victims[node].take(rights.short)
        if unit is None:
            for undone in reversed(taken):
                draft.undo(undone)
            return False
        taken.append(unit)
    _give_back(ask, draft, need, taken)
    return True


def _give_back(ask: Ask, draft: Draft, need: Cells, taken: list[Taken]) -> None:
    for unit in reversed(taken[:-1]):
        if not unit.evicts and not unit.holding.admitted:
            continue
        draft.undo(unit)
        if not draft.ledger.fits(ask.queue, need, held=True):
            _take_again(draft, unit)


def _take_again(draft: Draft, unit: Taken) -> None:
    if unit.evicts:
        draft.evict(unit.holding, unit.rule, unit.needed_by)
    else:
        pods = [(some.index, some.flavor, some.count) for some in unit.pods]
        draft.shrink(unit.holding, pods, unit.rule, unit.needed_by)


class _Rights:
    """What one ask may take, and by which rule."""

    def __init__(self, ask: Ask, draft: Draft, need: Cells) -> None:
        self.ask = ask
        self.draft = draft
        self.short: list[Short] = []
        self.within = ask.queue.rules.preemption.within_queue
        self.across = ask.queue.rules.preemption.across_queues
        # Nodes of the asker's path, from its Queue up, that stay at or below what they deserve.
        self.modest: set[TreeNode] = set()
        for node in ask.queue.path:
            granted, deserved = draft.ledger.granted[node.name], draft.deserved.shares[node.name]
            if node.parent is not None and share(node, granted, need) > deserved:
                break
            self.modest.add(node)
        # Nobody outside of this node can be asked to give way.
        self.scope = ask.queue.path[min(len(self.modest), len(ask.queue.path) - 1)]

    @property
    def any(self) -> bool:
        return self.ask.is_floor or bool(self.modest)

    def permit(self, holding: Holding, amounts: Cells, floor: bool) -> Rule | None:
        """By which rule these amounts may be taken from a workload."""
        assert holding.queue is not None
        if holding.queue is self.ask.queue:
            return self._within(holding, floor)
        if not all(node in self.modest for node in below_meeting(self.ask.queue, holding.queue)):
            return None
        if not floor or (self.across is AcrossQueues.FAIR_SHARE and not holding.was_impatient):
            apart = below_meeting(holding.queue, self.ask.queue)
            if all(self._stays_above(node, amounts) for node in apart):
                return Rule.FAIR_SHARE
        lower = holding.workload.priority < self.ask.priority
        return Rule.LOWER_PRIORITY if self.across is AcrossQueues.LOWER_PRIORITY and lower else None

    def _within(self, holding: Holding, floor: bool) -> Rule | None:
        if not self.ask.is_floor:
            return None
        mine, theirs = self.ask.priority, holding.workload.priority
        if not floor:
            return Rule.FLOOR_BEFORE_SURPLUS if theirs <= mine else None
        newer = theirs == mine and holding.workload.created > self.ask.created
        lower = theirs < mine and self.within is not WithinQueue.NEVER
        if lower or (newer and self.within is WithinQueue.LOWER_OR_NEWER_EQUAL_PRIORITY):
            return Rule.WITHIN_QUEUE
        return None

    def _stays_above(self, node: TreeNode, amounts: Cells) -> bool:
        """Whether a node holds more than it deserves, and no less than it deserves without these amounts."""
        granted, deserved = self.draft.ledger.granted[node.name], self.draft.deserved
        if not share(node, granted) > deserved.shares[node.name] <= share(node, granted, amounts, times=-1):
            return False
        own = deserved.of(node)
        return all(
            granted.get(cell, 0) - amounts[cell] >= min(node.guarantee.get(cell, 0), own.get(cell, 0))
            for cell in amounts
            if any(lack.cell == cell for lack in self.short)
        )
