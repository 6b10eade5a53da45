"""Held room: what is set aside for asks that lost patience, and who may use it meanwhile.

When an ask that has waited longer than its ClusterQueue's patience is next and does not fit, all that is free of what
it needs is set aside, on every node of its path, so that no other queue can take it either; cycle by cycle it
collects what others give back. Backfill: an ask that surely ends before the held room is complete does no harm there.
When that is can only be told from those who must end (`maxRunSeconds`); where it cannot be told nobody backfills, or
a stream of small jobs could keep a large gang waiting for ever. For the same reason what is used
so counts as held: it gives nobody a right who would not be gone in time as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.line.fit import in_one_flavor_each, place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.shapes import Placement
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.snapshot import Instant
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode


class _Hold:
    """Room set aside for one ask."""

    def __init__(self, ask: Ask, need: Need, since: Instant) -> None:
        self.ask = ask
        self.need = need
        self.since = since
        """When its patience ended."""
        self.by_node: list[tuple[TreeNode, Need]] = []

    def is_used_by(self, holding: Holding) -> bool:
        """Whether a workload backfills here: it came while room was held, has some of it, and surely ends."""
        if holding.since <= self.since or holding.ends_by is None or holding.queue is None:
            return False
        wanted = {axis for axis, amount in self.need if amount}
        return holding.queue.root is self.ask.queue.root and any(axis in wanted for axis, _ in holding.need())


class Users:
    """Those who backfill in some of the held room, and what they have of it."""

    def __init__(self, holds: Sequence[_Hold], draft: Draft) -> None:
        roots = dict.fromkeys(hold.ask.queue.path[-1] for hold in holds)
        there = (one for root in roots for one in draft.books.below(root))
        self._users = {one for one in there if any(hold.is_used_by(one) for hold in holds)}
        self._needs: dict[TreeNode, list[Need]] = {}
        for one in self._users:
            for node in one.queue.path if one.queue is not None else ():
                self._needs.setdefault(node, []).append(one.need())

    def __len__(self) -> int:
        return len(self._users)

    def __contains__(self, holding: Holding) -> bool:
        return holding in self._users

    def below(self, node: TreeNode) -> Need:
        """What they have below a node."""
        return total(self._needs.get(node, ()))


class HeldRoom:
    """All room that is set aside in a draft."""

    def __init__(self, draft: Draft, empty: Ledger) -> None:
        self.draft = draft
        self.empty = empty
        self._holds: list[_Hold] = []
        self._complete: dict[str, Instant | None] = {}

    @property
    def holds(self) -> bool:
        return bool(self._holds)

    def hold(self, ask: Ask, since: Instant) -> None:
        """Set aside what is free of what the ask needs, in the flavors it likes best and could have. Its patience ended
        at `since`."""
        ledger = self.draft.ledger
        ways = in_one_flavor_each(ask.row)
        need = next((one.need for one in ways if self.empty.fits(ask.queue, one.need)), None)
        if need is None and (split := place(ask.row, self.empty)):
            need = split.need
        if need is None:
            return
        hold = _Hold(ask, need, since)
        for node in ask.queue.path:
            free = ((axis, min(amount, ledger.free(node, axis, held=True))) for axis, amount in need)
            hold.by_node.append((node, tuple((axis, amount) for axis, amount in free if amount > 0)))
        self._holds.append(hold)
        self._reserve(hold, 1)

    def release(self) -> list[TreeNode]:
        """Set nothing aside any more; the Queues for which something was."""
        for hold in self._holds:
            self._reserve(hold, -1)
        queues = [hold.ask.queue for hold in self._holds]
        self._holds.clear()
        self._complete.clear()
        return queues

    def in_the_way_of(self, ask: Ask) -> str | None:
        """The workload for which room is held that this ask would otherwise get: of several, the first with whose room,
        and that of those before it, there would be enough. What others hold in other flavors is not in its way."""
        number = bisect_left(range(len(self._holds)), True, key=lambda last: self._fits_without(last, ask))
        return self._holds[number].ask.name if number < len(self._holds) else None

    def _fits_without(self, last: int, ask: Ask) -> bool:
        return self._without(self._holds[: last + 1], ask) is not None

    def backfill(self, ask: Ask) -> Placement | None:
        """Where the ask fits in room that is held for asks which can only start after it has ended."""
        later = self._complete_after(ask) if self._holds else []
        return self._without(later, ask) if later else None

    def users_to_spare(self, ask: Ask) -> Users | None:
        """Who uses held room in which the ask would still be when it is complete; None where there is none such."""
        if not self._holds:
            return None
        later = self._complete_after(ask)
        return Users([hold for hold in self._holds if hold not in later], self.draft) or None

    def _complete_after(self, ask: Ask) -> list[_Hold]:
        """Room that is complete only after the ask has surely ended."""
        end = self._ends(ask)
        if end is None:
            return []
        return [hold for hold in self._holds if (done := self._complete_at(hold)) is not None and end <= done]

    def _without(self, holds: list[_Hold], ask: Ask) -> Placement | None:
        for hold in holds:
            self._reserve(hold, -1)
        placement = place(ask.row, self.draft.ledger)
        for hold in holds:
            self._reserve(hold, 1)
        return placement

    def _reserve(self, hold: _Hold, times: int) -> None:
        for node, need in hold.by_node:
            self.draft.ledger.reserve(node, need, times)

    def _ends(self, ask: Ask) -> Instant | None:
        seconds = ask.kind.max_run_seconds
        if seconds is None:
            return None
        holding = self.draft.books.holdings.get(ask.name)
        began = holding.workload.admitted_at if holding is not None else None
        return (self.draft.now if began is None else began) + seconds

    def _complete_at(self, hold: _Hold) -> Instant | None:
        """By when the held ask surely fits, as those end who must; None if that cannot be told."""
        if hold.ask.name not in self._complete:
            self._complete[hold.ask.name] = self._completion(hold)
        return self._complete[hold.ask.name]

    def _completion(self, hold: _Hold) -> Instant | None:
        ledger, queue = self.draft.ledger, hold.ask.queue
        ending = sorted(
            (end, other.workload.name)
            for other in self.draft.books.below(queue.path[-1])
            if (end := other.ends_by) is not None
        )
        ended: list[tuple[TreeNode, Need]] = []
        found = None
        with ledger.nothing_reserved():
            for end, name in ending:
                other = self.draft.books.holdings[name]
                assert other.queue is not None
                ended.append((other.queue, other.need()))
                ledger.grant(*ended[-1], -1)
                if ledger.fits(queue, hold.need):
                    found = end
                    break
        for where, need in ended:
            ledger.grant(where, need)
        return found
