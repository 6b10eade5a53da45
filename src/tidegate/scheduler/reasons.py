"""Reasons: why an ask waits, as a value; and that value in a sentence. Nothing here guesses: all comes from the
ledger."""

from __future__ import annotations

from tidegate.model.flavored import Flavored
from tidegate.model.kinds.workload import WaitingReason
from tidegate.model.quantity import Quantity
from tidegate.scheduler.line.asks import Ask, Row
from tidegate.scheduler.line.fit import in_one_flavor_each, place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.shapes import hosting
from tidegate.scheduler.plan import Waiting
from tidegate.scheduler.tree.cells import Cells, flavored
from tidegate.scheduler.tree.flavors import Flavors, Hosting
from tidegate.scheduler.tree.ledger import Ledger


def why_it_waits(ask: Ask, holding: Holding | None, ledger: Ledger, empty: Ledger) -> Waiting:
    """The reason of an ask for which there is no room and none can be made."""
    row = ask.row
    pod_set = pod_set_of(ask, holding)
    if not all(row.shape.hosts):
        too_large = _too_large(row, ledger.tree.flavors)
        reason = WaitingReason.EXCEEDS_QUOTA if too_large else WaitingReason.NO_MATCHING_FLAVOR
        return Waiting(workload=ask.name, pod_set=pod_set, reason=reason)
    own = holding.need() if holding is not None else ()
    empty.grant(ask.queue, own)
    ever = place(row, empty) is not None
    reason = WaitingReason.WAITING_FOR_QUOTA if ever else WaitingReason.EXCEEDS_QUOTA
    waiting = _short(ask, pod_set, ledger if ever else empty, reason)
    empty.grant(ask.queue, own, -1)
    return waiting


def pod_set_of(ask: Ask, holding: Holding | None) -> str | None:
    """The name of the pod set that would grow; None for a floor."""
    if ask.pod_set is None or holding is None:
        return None
    return holding.workload.pod_sets[ask.pod_set].name


def behind(ask: Ask, holding: Holding | None, other: str) -> Waiting:
    """It may not pass another, or the room is held for that other."""
    pod_set = pod_set_of(ask, holding)
    return Waiting(workload=ask.name, pod_set=pod_set, reason=WaitingReason.BEHIND_IN_QUEUE, behind=other)


def _too_large(row: Row, flavors: Flavors) -> bool:
    """Whether every part has a flavor that would do, were its nodes larger."""
    return all(
        any(
            hosting(part, row.queue, flavors, flavor) is not Hosting.NOWHERE
            for flavor in ((part.flavor,) if part.flavor else row.queue.flavors)
        )
        for part in row.kind.parts
    )


def _short(ask: Ask, pod_set: str | None, ledger: Ledger, reason: WaitingReason) -> Waiting:
    """By how much it is short in the flavors where that is least many resources, then the first in order."""
    lists = [list(ledger.shortfalls(ask.queue, way.need)) for way in in_one_flavor_each(ask.row)]
    short = min(lists, key=len)
    cells, grains = ledger.tree.axes.cells, ledger.tree.axes.grains
    lacking: Cells = {}
    for lack in short:
        flavor, resource = cells[lack.axes[0]]
        cell = ("*" if lack.limited else flavor, resource)
        lacking[cell] = max(lacking.get(cell, 0), lack.lacking * grains[lack.axes[0]])
    most = max(short, key=lambda lack: (lack.lacking * grains[lack.axes[0]], lack.node.name), default=None)
    where = ask.queue if most is None else most.node
    room = {
        cells[lack.axes[0]]: ledger.free(where, lack.axes[0]) * grains[lack.axes[0]]
        for lack in short
        if lack.node is where and not lack.limited
    }
    return Waiting(
        workload=ask.name,
        pod_set=pod_set,
        reason=reason,
        short_by=flavored(lacking),
        at=where.name or "the cluster",  # What several roots read has no name of its own.
        room=flavored(room),
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
        case WaitingReason.NOT_ALLOWED if waiting.missing_class:
            return f"there is no PriorityClass {waiting.missing_class}, which it names; create it or name another"
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
