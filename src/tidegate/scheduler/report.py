"""The report of a cycle: why everybody who waits does."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler.cycle import Cycle
from tidegate.scheduler.line.asks import Ask, Row, floor_place, growth
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.shapes import Shape, floor_kind
from tidegate.scheduler.plan import Plan, Waiting
from tidegate.scheduler.reasons import behind, why_it_waits
from tidegate.scheduler.tree.node import TreeNode

_Key = tuple[str, str]


def waiting(cycle: Cycle, made: Plan) -> tuple[Waiting, ...]:
    """One reason for every ask that waits, by workload and pod set."""
    reasons: dict[_Key, Waiting] = {}
    for name, why in cycle.known.kept_out.items():
        holding = cycle.books.holdings.get(name)
        if holding is None or not holding.admitted or wants_more(holding):
            reasons[name, ""] = why
    for queue in cycle.books.tree.in_order:
        if queue.is_queue:
            reasons.update({(why.workload, why.pod_set or ""): why for why in _in_line(cycle, queue)})
    for name in cycle.stepped_aside:
        reasons.update({(why.workload, why.pod_set or ""): why for why in _gave_way(cycle, name)})
    for eviction in made.evictions:
        again = Waiting(
            workload=eviction.workload, pod_set=None, reason=WaitingReason.BACKOFF, until=eviction.requeue_at
        )
        reasons.setdefault((eviction.workload, ""), again)
    for name, holding in cycle.books.holdings.items():
        if holding.admitted and holding.waits_to_start:
            held = Waiting(workload=name, pod_set=None, reason=WaitingReason.WAITING_FOR_PREEMPTED)
            reasons[name, ""] = held
    return tuple(reasons[key] for key in sorted(reasons))


def wants_more(holding: Holding) -> bool:
    """Whether there is a step it could grow by."""
    return holding.queue is not None and any(growth(holding, index) for index in range(len(holding.granted)))


def _in_line(cycle: Cycle, queue: TreeNode) -> Iterator[Waiting]:
    """Those who stand in line and were not served."""
    blocker = cycle.line.blocker(queue)
    places = sorted((row.rank, place) for row in cycle.line.rows(queue) for place in row.in_order())
    ahead = {place: number for number, (_, place) in enumerate(places)}
    for row in cycle.line.rows(queue):
        known: dict[Hashable, Waiting] = {}
        for place in row.in_order():
            ask = Ask(row, place)
            holding = cycle.books.holdings.get(ask.name)
            blocks = blocker is not None and blocker.row is row and blocker.place == place
            # Growth beside what a workload already has may be impossible for one and not for another of its row.
            like = blocks if row.kind.is_floor else (blocks, *_beside(ask, holding))
            if like not in known:
                known[like] = _why(cycle, ask, None if blocks else blocker, holding)
            yield known[like].told_to(ask.name, ahead[place])


def _beside(ask: Ask, holding: Holding | None) -> tuple[Hashable, ...]:
    """What of a workload makes a difference to why it waits for more."""
    assert holding is not None
    assert ask.pod_set is not None
    return holding.need(), holding.workload.pod_sets[ask.pod_set].name


def _why(cycle: Cycle, ask: Ask, blocker: Ask | None, holding: Holding | None) -> Waiting:
    alone = why_it_waits(ask, holding, cycle.draft.ledger, cycle.empty)
    if alone.reason is not WaitingReason.WAITING_FOR_QUOTA:
        return alone  # It can never fit, whoever is before it.
    if blocker is not None and not ask.row.failed:
        return behind(ask, holding, blocker.name)
    held_for = cycle.held_room.in_the_way_of(ask)
    return alone if held_for is None else behind(ask, holding, held_for)


def _gave_way(cycle: Cycle, name: str) -> Iterator[Waiting]:
    """Those who lost something and will ask for it again."""
    holding = cycle.stepped_aside[name]
    queue = holding.queue
    if queue is None:
        return
    if not holding.admitted:
        if holding.workload.admitted_at is None:
            shape = Shape(floor_kind(holding.workload), queue, cycle.books.tree.flavors)
            ask = Ask(Row(queue, shape), floor_place(holding.workload))
            yield why_it_waits(ask, None, cycle.draft.ledger, cycle.empty)
        return
    for index in range(len(holding.granted)):
        wanted = growth(holding, index)
        if wanted is not None:
            ask = Ask(Row(queue, Shape(wanted[0], queue, cycle.books.tree.flavors)), wanted[1])
            yield why_it_waits(ask, holding, cycle.draft.ledger, cycle.empty)
