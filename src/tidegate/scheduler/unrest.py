"""Unrest: whether what happened in a pass may change the answer for those who wait. Then there is another."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model.kinds.cluster_queue import Stop, WithinQueue
from tidegate.scheduler.fair.demand import demand
from tidegate.scheduler.line.asks import Ask, Row
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.outcome import carried_out
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.hopes import takes_within
from tidegate.scheduler.tree.node import TreeNode


class Unrest:
    """What happens in one pass."""

    def __init__(self, draft: Draft, line: Line) -> None:
        self._draft = draft
        self._line = line
        self._granted: set[TreeNode] = set()
        self._grown: set[TreeNode] = set()
        self.somebody_waits = False
        self.took = False
        """Whether something was taken for somebody."""
        self.withdrew = False
        """Whether somebody lost again what others had given for it."""
        draft.awaits_leaving.clear()

    def granted(self, ask: Ask) -> None:
        """Somebody was given what they asked for."""
        self._granted.add(ask.queue)
        if not ask.kind.is_floor:
            self._grown.add(ask.queue)

    def goes_on(self, *, somebody_gave: bool) -> bool:
        """Whether the pass took something, or gave what somebody waits for, or what who waits may now take: of a node
        that holds more than it deserves, or of somebody behind them in their own Queue. `somebody_gave`: those will ask
        for theirs again."""
        if not (self.somebody_waits or somebody_gave):
            return False
        if self.withdrew or self.took:
            return True
        if not all(self._draft.ledger.fits(*wanted, held=True) for wanted in self._draft.awaits_leaving.values()):
            return True
        if any(map(self._may_take_within, self._line.set_aside_rows)):
            return True
        holds_more = self._draft.above.holds_more
        above = (holds_more(node) for queue in self._granted for node in queue.path if node.parent)
        asks = self._line.blocks or somebody_gave or any(map(self._is_modest, self._line.set_aside_rows))
        return asks and any(above)

    def _may_take_within(self, row: Row) -> bool:
        """Whether its first is a floor that might take what its own Queue was given in this pass: growth, or floors."""
        if not row.kind.is_floor or row.queue not in self._granted:
            return False
        return row.queue in self._grown or row.queue.rules.preemption.within_queue is not WithinQueue.NEVER

    def _is_modest(self, row: Row) -> bool:
        """Whether its Queue would stay at or below what it deserves, or might if some of its own went first."""
        held = self._draft.ledger.granted_anything(row.queue)
        if held and row.kind.is_floor and takes_within(row.queue, self._draft.books):
            return True
        wanted = row.shape.first
        due = self._draft.deserved.share(row.queue)
        return wanted is not None and self._draft.ledger.share_with(row.queue, wanted.need) <= due


def want_what_is_left(draft: Draft, line: Line, gave: Iterable[Holding]) -> None:
    """Where growth is on hold, whoever gave something wants no more than what is left; others then deserve more."""
    on_hold = [one for one in gave if one.queue is not None and one.queue.stop is Stop.HOLD]
    for holding in on_hold:
        if left := demand(carried_out(holding, draft.now), holding.queue, allowed=True):
            draft.deserved.want(left)
        else:
            draft.deserved.forget(holding.workload.name)
    if on_hold and not draft.deserved.settled:
        for queue in draft.deserved.news():
            line.changed(queue)
