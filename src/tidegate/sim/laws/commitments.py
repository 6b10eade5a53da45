"""Law 1: no quota, limit or capacity is over-committed; a floor is granted whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tidegate.model.quantity import Quantity
from tidegate.sim.laws.accounts import Accounts
from tidegate.sim.laws.breach import Breach
from tidegate.sim.laws.quota import Amounts, Cell, Place


def over_committed(places: Iterable[Place], sums: Mapping[str, Amounts]) -> Iterator[str]:
    """Where, of these places, more is granted than may be."""
    for place in places:
        holds = sums.get(place.name, {})
        for cell, amount in holds.items():
            bound = place.bound(cell)
            if bound is not None and amount > bound:
                yield f"{place.name} holds {_shown(amount)} {cell[1]} of flavor {cell[0]}, {_shown(bound)} at most"
        for resource, limit in place.limits.items():
            total = sum(amount for (_, name), amount in holds.items() if name == resource)
            if total > limit:
                yield f"{place.name} holds {_shown(total)} {resource}, and its limit is {_shown(limit)}"
        for cell in {cell for one in place.below() for cell in one.kept} if place.children else ():
            yield from _lent_too_much(place, cell, sums)


def _lent_too_much(place: Place, cell: Cell, sums: Mapping[str, Amounts]) -> Iterator[str]:
    """Where others use what a child keeps for itself. Guarantees that no longer fit (a lost node) protect nothing."""
    bound = place.bound(cell)
    if bound is None:
        return
    kept = sum(_kept(child, cell) for child in place.children)
    beyond = sum(max(0, _taken(child, cell, sums) - _kept(child, cell)) for child in place.children)
    if beyond > max(0, bound - kept):
        may = _shown(max(0, bound - kept))
        yield f"below {place.name} {_shown(beyond)} {cell[1]} of flavor {cell[0]} are lent, and {may} may be"


def _kept(place: Place, cell: Cell) -> int:
    """What a place keeps from its parent: its own, or what those below it keep."""
    return max(place.kept.get(cell, 0), sum(_kept(child, cell) for child in place.children))


def _taken(place: Place, cell: Cell, sums: Mapping[str, Amounts]) -> int:
    """What a place takes from its parent: what is kept counts as taken, also while idle."""
    below = (_taken(child, cell, sums) for child in place.children)
    held = sum(below) if place.children else sums.get(place.name, {}).get(cell, 0)
    return max(place.kept.get(cell, 0), held)


def _shown(nano: int) -> str:
    return str(Quantity(nano))


def law_1(accounts: Accounts) -> Iterator[Breach]:
    for message in over_committed(accounts.tree.places.values(), accounts.after):
        yield Breach(1, message)
    admitted = accounts.admitted_after()
    for name, pods in accounts.granted.items():
        for pod_set in accounts.workloads[name].pod_sets:
            counts = pods.get(pod_set.name, {})
            count = sum(counts.values())
            if name not in admitted and count:
                yield Breach(1, f"{name} holds {count} pods of {pod_set.name} without being admitted")
            elif name in admitted and count < pod_set.least and _touched(name, accounts):
                yield Breach(1, f"{name} holds {count} pods of {pod_set.name}, and its floor is {pod_set.least}")
            elif any(some < 0 for some in counts.values()):
                yield Breach(1, f"{name} loses more pods of {pod_set.name} than it holds")
            elif name in admitted and count > pod_set.wanted:
                yield Breach(1, f"{name} holds {count} pods of {pod_set.name} and wants {pod_set.wanted}")


def _touched(name: str, accounts: Accounts) -> bool:
    """A floor that is raised while it runs is asked for like growth; nobody broke it."""
    plan = accounts.plan
    return (
        name in {grant.workload for grant in plan.grants} or name in {shrink.workload for shrink in plan.shrinks}
    ) and all(
        sum(pod_set.granted.values()) >= pod_set.least or accounts.workloads[name].admitted_at is None
        for pod_set in accounts.workloads[name].pod_sets
    )
