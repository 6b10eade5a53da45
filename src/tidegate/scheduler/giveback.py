"""What is taken back although nobody asks for the room: it is not wanted, not allowed, or no longer there.

None of this is preemption. A queue that is drained, or gone, gives back all at once; a lowered quota or a lost node
takes surplus first and then the newest floors, until nothing is over-committed any more.
"""

from __future__ import annotations

from tidegate.model.kinds.cluster_queue import Stop
from tidegate.scheduler.amounts import Cells
from tidegate.scheduler.draft import Draft
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.ledger import Ledger, Short
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.tree import TreeNode
from tidegate.scheduler.victims import Victims, surplus_units


def give_back(draft: Draft) -> None:
    """Take back what must be, before anybody is asked what they want."""
    for name in sorted(draft.holdings):
        holding = draft.holdings[name]
        if holding.admitted:
            rule = _may_hold_nothing(holding)
            if rule is not None:
                draft.evict(holding, rule)
            else:
                _what_is_not_wanted(holding, draft)
    for root in draft.tree.roots:
        for node in reversed(list(root.below())):
            _within_bounds(node, draft)


def start_held(draft: Draft) -> None:
    """Let granted pods start for which others have gone by now: whole floors, and what is above them in steps."""
    waiting = [holding for holding in draft.holdings.values() if any(any(held.values()) for held in holding.held)]
    for holding in sorted(waiting, key=lambda one: (one.workload.created, one.workload.name)):
        queue = holding.queue
        if queue is None:
            continue
        held = [
            (index, flavor, count)
            for index, counts in enumerate(holding.held)
            for flavor, count in sorted(counts.items())
            if count
        ]
        needs = [_cells(holding, index, flavor, count) for index, flavor, count in held]
        total: Cells = {}
        for need in needs:
            for cell, amount in need.items():
                total[cell] = total.get(cell, 0) + amount
        if draft.ledger.really_free(queue, total):
            for index, flavor, count in held:
                draft.start(holding, index, flavor, count)
        elif _floor_runs(holding):
            for index, flavor, count in held:
                _start_some(draft, holding, index, flavor, count)


def _start_some(draft: Draft, holding: Holding, index: int, flavor: str, count: int) -> None:
    assert holding.queue is not None
    step = holding.workload.pod_sets[index].step
    while count >= step and draft.ledger.really_free(holding.queue, _cells(holding, index, flavor, step)):
        draft.start(holding, index, flavor, step)
        count -= step


def _floor_runs(holding: Holding) -> bool:
    return all(
        holding.count(index) - sum(holding.held[index].values()) >= pod_set.least
        for index, pod_set in enumerate(holding.workload.pod_sets)
    )


def _cells(holding: Holding, index: int, flavor: str, count: int) -> Cells:
    requests = holding.workload.pod_sets[index].requests
    return {(flavor, resource): amount * count for resource, amount in requests.items()}


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


def _within_bounds(node: TreeNode, draft: Draft) -> None:
    """Bring a node back within its quota, its limits or its capacity."""
    short = _excess(node, draft.ledger)
    if not short:
        return
    victims = Victims(draft, node, lambda *_: Rule.OVER_QUOTA, needed_by=None, near=node)
    while short and victims.take(short):
        short = _excess(node, draft.ledger)


def _excess(node: TreeNode, ledger: Ledger) -> list[Short]:
    granted = ledger.granted[node.name]
    short = []
    for cell, amount in granted.items():
        most = node.bound(cell)
        if most is not None and amount > most:
            short.append(Short(node, cell, amount - most))
    for resource, limit in node.limits.items():
        total = sum(amount for (_, name), amount in granted.items() if name == resource)
        if total > limit:
            short.append(Short(node, ("", resource), total - limit))
    return short
