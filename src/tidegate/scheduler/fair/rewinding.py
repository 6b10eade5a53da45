"""Rewinding: what was handed out holds up to the turn of who changed; from there on it is handed out again.

Who asks makes no difference before it is their turn in their own Queue. So all later grants are undone, the last first,
and handing out goes on from that moment. It is right whatever the order of turns follows: a choice of flavors,
registered policies, machines that roots share. A workload that comes last in its Queue costs a few grants; one that was
served first costs all of them.
"""

from __future__ import annotations

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.fair.fill import Fill, Given
from tidegate.scheduler.line.asks import floor_place
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.shapes import rank_of
from tidegate.scheduler.snapshot import Workload


class Rewinding:
    """Keeps a Fill true as demand changes."""

    def __init__(self, fill: Fill) -> None:
        self.fill = fill
        self._given: list[Given] = []
        """In the order of turns."""

    def disturb(self, workload: Workload) -> None:
        """What a workload wants is about to change: back to the moment when it is, or would be, its turn."""
        queue = self.fill.tree.nodes[workload.queue]
        own = (rank_of(workload.priority, is_floor=True), floor_place(workload))
        given = self._given
        kept = 0 if self.fill.line.blocks else len(given)
        while kept and not (given[kept - 1].queue is queue and given[kept - 1].order < own):
            kept -= 1
        self._back_to(kept)

    def _back_to(self, kept: int) -> None:
        """Undo what was given after so many."""
        line = self.fill.line
        if kept == len(self._given) and not (line.failures or line.blocks):
            return
        failed = self._given[kept - 1].failed if kept else 0
        while len(self._given) > kept:
            self.fill.undo(self._given.pop())
        line.reopen(failed)

    def run(self) -> None:
        """Hand out what there is to those who want it now."""
        fill = self.fill
        while ask := fill.line.next():
            placement = place(ask.row, fill.ledger)
            if placement is not None:
                self._given.append(fill.grant(ask, placement))
            elif ask.queue.rules.ordering is Ordering.STRICT:
                fill.line.block(ask)
            else:
                fill.line.set_aside(ask)
