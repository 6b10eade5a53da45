"""Reasons: why an ask waits, as a value; and that value in a sentence. Nothing here guesses: all comes from the
ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tidegate.model.flavored import Flavored
from tidegate.model.kinds.workload import WaitingReason
from tidegate.model.quantity import Quantity
from tidegate.scheduler.amounts import Cells, flavored
from tidegate.scheduler.asks import Ask
from tidegate.scheduler.fit import Placement, choices, hosting, in_one_flavor_each, place
from tidegate.scheduler.flavors import Hosting
from tidegate.scheduler.ledger import Ledger, Short
from tidegate.scheduler.plan import Waiting


@contextmanager
def alone(ask: Ask, empty: Ledger) -> Iterator[Ledger]:
    """A ledger in which nobody but the asker holds anything."""
    own = ask.holding.amounts()
    empty.grant(ask.queue, own)
    yield empty
    empty.grant(ask.queue, own, -1)


def can_ever_fit(ask: Ask, empty: Ledger) -> bool:
    """Whether it would fit if nobody else held anything."""
    with alone(ask, empty) as ledger:
        return place(ask, ledger) is not None


def why_it_waits(ask: Ask, ledger: Ledger, empty: Ledger, *, held_for: str | None, ahead: int) -> Waiting:
    """The reason of an ask for which there is no room and none can be made."""
    if choices(ask, ledger) is None:
        reason = WaitingReason.EXCEEDS_QUOTA if _too_large(ask, ledger) else WaitingReason.NO_MATCHING_FLAVOR
        return Waiting(workload=ask.name, pod_set=ask.pod_set, reason=reason, ahead=ahead)
    if held_for is not None:
        return behind(ask, held_for, ahead)
    if can_ever_fit(ask, empty):
        return _short(ask, ledger, WaitingReason.WAITING_FOR_QUOTA, ahead)
    with alone(ask, empty) as nobody_else:
        return _short(ask, nobody_else, WaitingReason.EXCEEDS_QUOTA, ahead)


def behind(ask: Ask, other: str, ahead: int) -> Waiting:
    """It may not pass another, or the room is held for that other."""
    reason = WaitingReason.BEHIND_IN_QUEUE
    return Waiting(workload=ask.name, pod_set=ask.pod_set, reason=reason, behind=other, ahead=ahead)


def _too_large(ask: Ask, ledger: Ledger) -> bool:
    """Whether every part has a flavor that would do, were its nodes larger."""
    return all(
        any(
            hosting(ask, part, ledger, flavor) is not Hosting.NOWHERE
            for flavor in ((part.flavor,) if part.flavor else ask.queue.flavors)
        )
        for part in ask.parts
    )


def _short(ask: Ask, ledger: Ledger, reason: WaitingReason, ahead: int) -> Waiting:
    """By how much it is short in the flavors where that is least many resources, then the first in order."""
    options = in_one_flavor_each(ask, ledger)
    lists: list[tuple[Placement, list[Short]]] = [
        (one, list(ledger.shortfalls(ask.queue, one.need))) for one in options
    ]
    _, short = min(lists, key=lambda option: len(option[1]))
    lacking: Cells = {}
    for lack in short:
        cell = (lack.cell[0] or "*", lack.cell[1])
        lacking[cell] = max(lacking.get(cell, 0), lack.lacking)
    where = max(short, key=lambda lack: (lack.lacking, lack.node.name)).node if short else ask.queue
    room = {
        lack.cell: ledger.free(where, lack.cell, most=2**62) for lack in short if lack.node is where and lack.cell[0]
    }
    return Waiting(
        workload=ask.name,
        pod_set=ask.pod_set,
        reason=reason,
        short_by=flavored(lacking),
        at=where.name,
        room=flavored(room),
        ahead=ahead,
    )


def message(waiting: Waiting) -> str:
    """The reason for people, with its numbers."""
    match waiting.reason:
        case WaitingReason.WAITING_FOR_QUOTA:
            return f"needs {_amounts(waiting.short_by)} more; {waiting.at} has {_amounts(waiting.room)} left"
        case WaitingReason.EXCEEDS_QUOTA if waiting.short_by:
            return f"needs {_amounts(waiting.short_by)} more than {waiting.at} can ever have; ask for less or raise it"
        case WaitingReason.EXCEEDS_QUOTA:
            return "a pod is larger than any node where it may run; make its pods smaller or add a larger node"
        case WaitingReason.NO_MATCHING_FLAVOR:
            return "no flavor has the resources it requests on nodes where its pods may run"
        case WaitingReason.BEHIND_IN_QUEUE:
            return f"{waiting.behind} comes first and may not be passed"
        case WaitingReason.WAITING_FOR_PREEMPTED:
            return "its room is made; it starts when the pods that give way are gone"
        case WaitingReason.QUEUE_STOPPED:
            return f"{waiting.at} is held; it goes on when its stop is None again"
        case WaitingReason.NO_QUEUE:
            return "the Queue it names, or the ClusterQueue behind it, does not exist; create it or name another"
        case WaitingReason.NOT_ALLOWED:
            return "its namespace or its submitter may not use this queue; ask whoever owns the queue"
        case WaitingReason.BACKOFF:
            return "it was evicted and asks again a little later"
        case WaitingReason.INACTIVE:
            return "it is not active; set active to true to let it ask"


def _amounts(amounts: Flavored) -> str:
    """For people: "2 cpu of flavor default"."""
    parts = []
    for flavor, resources in amounts.items():
        named = ", ".join(f"{Quantity.parse(amount)} {name}" for name, amount in resources.quantities().items())
        parts.append(named if flavor == "*" else f"{named} of flavor {flavor}")
    return " and ".join(parts) or "nothing"
