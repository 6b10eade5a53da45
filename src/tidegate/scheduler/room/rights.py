"""Rights: what may be taken from others for an ask that does not fit.

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
  - A share of 0 says only "inside the guarantee"; what lacks is therefore never taken from inside a victim's guarantee,
    unless the same was promised to others too (a lost node): there amounts are compared.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from itertools import takewhile
from operator import ge

from tidegate.model.kinds.cluster_queue import AcrossQueues, WithinQueue
from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.hold import Users
from tidegate.scheduler.room.hopes import takes_within
from tidegate.scheduler.room.taken import Taken, total_of
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.ledger import Short
from tidegate.scheduler.tree.node import TreeNode


class Rights:
    """What one ask may take, and by which rule."""

    def __init__(self, ask: Ask, draft: Draft, need: Need) -> None:
        self.ask = ask
        self.draft = draft
        self.need = need
        self.short: list[Short] = []
        """Where room lacks now."""
        self.widens = True
        """Whether what is taken near the asker may entitle it to more of others."""
        self.widened = False
        """Whether anything was."""
        self.spared: set[tuple[Holding, bool]] = set()
        """From whom nothing is taken (or not their floor), since the asker would not be entitled to it in the end."""
        self.users: Users | None = None
        """Who uses room held for somebody else that the asker would not leave in time: they give nothing, and what they
        have is none of what their nodes hold too much."""
        self.path = set(ask.queue.path)
        self.within = ask.queue.rules.preemption.within_queue
        self.across = ask.queue.rules.preemption.across_queues
        self.takes_within = ask.kind.is_floor and takes_within(ask.queue, draft.books)
        self.look()

    def look_again(self, taken: Taken) -> None:
        """What was taken, or given back, near the asker changes who else may be asked: with less held there its nodes
        are entitled to more of others."""
        queue = taken.holding.queue
        if self.widens and queue is not None and any(node in self.path for node in queue.path[:-1]):
            self.widened = True
            self.look()

    def look(self) -> None:
        """Who may be asked as things are."""
        ledger, deserved, path = self.draft.ledger, self.draft.deserved, self.ask.queue.path
        # Nodes of the asker's path, from its Queue up, that stay at or below what they deserve.
        self.modest: set[TreeNode] = set()
        for node in path:
            if node.parent is not None and ledger.share_with(node, self.need) > deserved.share(node):
                break
            if node.contested and not self._stays_within(node, node.contested):
                break
            self.modest.add(node)
        # Those of them that would hold no more than they deserve of what is asked for. Shares do not tell that of
        # a resource that does not dominate, and who took by priority what others deserve would have to give it back.
        by_priority = self.across is AcrossQueues.LOWER_PRIORITY
        self.deserving = set(takewhile(self._deserves_all, path[: len(self.modest)])) if by_priority else set()
        # Nobody outside of this node can be asked to give way: where their path meets the asker's, all below is modest.
        self.scope = path[min(len(self.modest), len(path) - 1)]

    @property
    def any(self) -> bool:
        return bool(self.modest) or self.takes_within

    @property
    def finds_somebody(self) -> bool:
        """Whether there might be anybody to take from."""
        by_priority = self.across is AcrossQueues.LOWER_PRIORITY
        return self.takes_within or by_priority or self.draft.above.beside(self.ask.queue, self.scope)

    def below(self, node: TreeNode) -> Iterator[TreeNode]:
        """The children of a node from which anything might be taken at all."""
        if self.across is AcrossQueues.LOWER_PRIORITY:
            others: Iterable[TreeNode] = filter(self.draft.ledger.granted_anything, node.children)
        else:
            others = self.draft.above.givers(node)
        yield from (child for child in others if child not in self.path)
        for child in self.path:
            if child.parent is node and (self.takes_within or not child.is_queue):
                yield child

    def above(self, node: TreeNode, _floors: bool) -> int:
        """How far a node is above what it deserves."""
        return self.draft.ledger.shares[node.index] - self.draft.deserved.share(node)

    def permit(self, holding: Holding, need: Need, floor: bool) -> Rule | None:
        """By which rule this much may be taken from a workload (`floor`: with its floor), if by any."""
        assert holding.queue is not None
        if (holding, floor) in self.spared or (self.users is not None and holding in self.users):
            return None
        if holding.queue is self.ask.queue:
            return self._within(holding, floor)
        if not floor or (self.across is AcrossQueues.FAIR_SHARE and not holding.was_impatient):
            apart = holding.queue.meets(self.ask.queue)
            if all(self._stays_above(node, need) for node in apart):
                return Rule.FAIR_SHARE
        lower = holding.workload.priority < self.ask.kind.priority
        if lower and self.deserving.issuperset(self.ask.queue.meets(holding.queue)):
            return Rule.LOWER_PRIORITY
        return None

    def alike(self, holding: Holding) -> Hashable:
        """Between workloads of one Queue and size their priority decides, and in the asker's own also who is newer."""
        newer = holding.queue is self.ask.queue and holding.workload.created > self.ask.created
        uses = self.users is not None and holding in self.users
        return (holding.workload.priority, holding.was_impatient, newer, uses)

    def spares(self, queue: TreeNode) -> int | None:
        """Where priority alone decides, nobody above the asker's gives anything; nor its equals in other Queues."""
        if queue is self.ask.queue:
            return self.ask.kind.priority + 1
        return None if self.draft.above.is_all(queue, self.ask.queue) else self.ask.kind.priority

    def may_take_of(self, taken: Taken) -> bool:
        """Whether it stays at or below what it deserves, of what it shares with who gave."""
        queue = taken.holding.queue
        return queue is None or all(node in self.modest for node in self.ask.queue.meets(queue))

    def permit_again(self, taken: Taken) -> Rule | None:
        """By which rule something could be taken that was taken for somebody else, if by any."""
        rule = self.permit(taken.holding, total_of(taken), taken.evicts) if taken.holding.queue else taken.rule
        return rule if rule is None or self.may_take_of(taken) else None

    def _within(self, holding: Holding, floor: bool) -> Rule | None:
        if not self.ask.kind.is_floor:
            return None
        mine, theirs = self.ask.kind.priority, holding.workload.priority
        if not floor:
            return Rule.FLOOR_BEFORE_SURPLUS if theirs <= mine else None
        newer = theirs == mine and holding.workload.created > self.ask.created
        lower = theirs < mine and self.within is not WithinQueue.NEVER
        if lower or (newer and self.within is WithinQueue.LOWER_OR_NEWER_EQUAL_PRIORITY):
            return Rule.WITHIN_QUEUE
        return None

    def _stays_above(self, node: TreeNode, need: Need) -> bool:
        """Whether a node holds more than it deserves, and no less than it deserves without these amounts."""
        ledger, deserved = self.draft.ledger, self.draft.deserved
        due = deserved.share(node)
        if self.users is not None and not self._is_above_without_users(node, need):
            return False
        if not ledger.shares[node.index] > due <= ledger.share_without(node, need):
            return bool(node.contested) and self._is_promised_to_both(node, need)
        granted, own = ledger.granted[node.index], deserved.amounts(node)
        return all(
            granted[axis] - amount >= min(node.guarantee[axis], own[axis])
            for axis, amount in need
            if any(axis in lack.axes and not lack.limited for lack in self.short)
        )

    def _is_above_without_users(self, node: TreeNode, need: Need) -> bool:
        """Whether a node would give these amounts if nobody backfilled below it."""
        assert self.users is not None
        used, ledger, due = self.users.below(node), self.draft.ledger, self.draft.deserved.share(node)
        return not used or ledger.share_without(node, used) > due <= ledger.share_without(node, total([used, need]))

    def _is_promised_to_both(self, node: TreeNode, need: Need) -> bool:
        """Whether amounts inside a guarantee are due to the asker, which is guaranteed them as well: the node keeps all
        that it deserves without them, and the asker gets no more than it deserves, amount by amount."""
        granted, own = self.draft.ledger.granted[node.index], self.draft.deserved.amounts(node)
        lacks = any(axis in node.contested for lack in self.short for axis in lack.axes if not lack.limited)
        return (
            lacks
            and all(granted[axis] - amount >= own[axis] for axis, amount in need)
            and all(self._stays_within(mine) for mine in self.ask.queue.meets(node))
            and self._keeps_its_due(node, need)
        )

    def _keeps_its_due(self, node: TreeNode, need: Need) -> bool:
        """Whether a node has its due without these amounts: by its share, or as much of every resource, whatever the
        flavor. Of what is not promised twice it may lack something, and then has a right to the rest."""
        if self.draft.ledger.share_without(node, need) >= self.draft.deserved.share(node):
            return True
        axes = node.axes
        holds = axes.by_resource(self.draft.ledger.granted[node.index])
        for axis, amount in need:
            holds[axes.resource[axis]] -= amount
        return all(map(ge, holds, axes.by_resource(self.draft.deserved.amounts(node))))

    def _stays_within(self, node: TreeNode, axes: Container[int] | None = None) -> bool:
        """Whether a node of the asker's would hold no more than it deserves, of all it asks for or of these axes."""
        granted, own = self.draft.ledger.granted[node.index], self.draft.deserved.amounts(node)
        return all(granted[axis] + amount <= own[axis] for axis, amount in self.need if axes is None or axis in axes)

    def _deserves_all(self, node: TreeNode) -> bool:
        """Whether a node of the asker's would hold no more than it deserves of each resource asked for, whatever the
        flavor."""
        axes, ledger = node.axes, self.draft.ledger
        holds = axes.by_resource(ledger.granted[node.index])
        due = axes.by_resource(self.draft.deserved.amounts(node))
        for axis, amount in self.need:
            holds[axes.resource[axis]] += amount
        return all(holds[place] <= due[place] for place in {axes.resource[axis] for axis, _ in self.need})
