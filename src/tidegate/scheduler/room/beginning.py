"""The beginning of a draft: what everybody held before anybody had their turn, to go back to.

What somebody is given and loses again in one plan never was. Yet others may have been judged by it: with a gang that
did not last their Queue held more than it deserves, and they were taken from. Then the plan is made again without it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.taken import Pods, Taken


class Beginning:
    """A draft before anybody had their turn."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._taken: list[tuple[Taken, tuple[Pods, ...]]] = [(taken, taken.pods) for taken in draft.taken]
        self._held = {
            name: (
                [dict(counts) for counts in one.granted],
                [dict(counts) for counts in one.held],
                one.admitted,
                one.new,
            )
            for name, one in draft.touched.items()
        }

    def go_back(self) -> list[Holding]:
        """Everybody holds again what they held; those who held something else meanwhile."""
        draft = self._draft
        back = list(draft.touched.values())
        for holding in back:
            self._restore(holding)
        draft.begin_again(self._taken, {name: draft.touched[name] for name in self._held})
        return back

    def _restore(self, holding: Holding) -> None:
        workload = holding.workload
        granted, held, holding.admitted, holding.new = self._held.get(workload.name) or (
            [dict(one.granted) for one in workload.pod_sets],
            [dict(one.held) for one in workload.pod_sets],
            workload.admitted_at is not None,
            False,
        )
        for index, (given, waits) in enumerate(zip(granted, held, strict=True)):
            for flavor in sorted(given.keys() | holding.granted[index].keys()):
                more = given.get(flavor, 0) - holding.granted[index].get(flavor, 0)
                later = waits.get(flavor, 0) - holding.held[index].get(flavor, 0)
                if more or later:
                    self._draft.books.change(holding, index, flavor, more, later)
        if not holding.admitted and not any(holding.present):
            self._draft.books.forget(workload.name)


def lost_and_wronged_others(draft: Draft, given: Mapping[str, Holding]) -> dict[str, Holding]:
    """Those who were given something and lost it again, if others gave for them or are left below what they deserve."""
    if not draft.taken:
        return {}
    lost = {name: one for name, one in given.items() if not (one.gained or (one.new and one.admitted))}
    for_nobody = any(draft.taken_for(name) for name in lost if name not in draft.gave_way)
    return lost if for_nobody or (lost and _is_left_below_its_due(draft)) else {}


def _is_left_below_its_due(draft: Draft) -> bool:
    """Whether somebody was taken from, as holding more than they deserve, who now hold less."""
    shares, due = draft.ledger.shares, draft.deserved.share
    for taken in draft.taken:
        queue, asker = taken.holding.queue, draft.books.holdings.get(taken.needed_by or "")
        if taken.rule is not Rule.FAIR_SHARE or queue is None or asker is None or asker.queue is None:
            continue
        if any(shares[node.index] < due(node) for node in queue.meets(asker.queue)):
            return True
    return False
