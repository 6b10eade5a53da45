"""Law 1: no quota, limit or capacity is over-committed; a floor is granted whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tidegate.model.quantity import Quantity
from tidegate.scheduler import PodSet
from tidegate.sim.laws.accounts import Accounts, takings
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
    admitted, plan = accounts.admitted_after(accounts.granted), accounts.plan
    for grant in plan.grants:
        for pods_of, held in grant.held.items():
            if any(count > grant.pods.get(pods_of, {}).get(flavor, 0) for flavor, count in held.items()):
                yield Breach(1, f"{grant.workload} has more pods of {pods_of} held than it is given")
    moved = {(change.workload, pod_set) for change in (*plan.grants, *takings(plan)) for pod_set in change.pods}
    for name, pods in accounts.granted.items():
        workload = accounts.workloads[name]
        for pod_set in workload.pod_sets:
            counts = pods.get(pod_set.name, {})
            if name not in admitted:
                if any(counts.values()):
                    yield Breach(1, f"{name} holds {counts} of {pod_set.name} without being admitted")
                continue
            touched = workload.admitted_at is None or (name, pod_set.name) in moved
            if problem := _not_whole(pod_set, counts, touched):
                yield Breach(1, f"{name} {problem}")


def _not_whole(pod_set: PodSet, counts: Mapping[str, int], touched: bool) -> str | None:
    """What is wrong with the pods of an admitted workload. What is not touched by a Plan was not broken by it: a floor
    may be raised while it runs."""
    count = sum(counts.values())
    above = count + pod_set.ended - min(pod_set.floor, pod_set.count)
    flavors = sorted(flavor for flavor, some in counts.items() if some)
    if any(some < 0 for some in counts.values()):
        return f"loses more pods of {pod_set.name} than it holds"
    if count > pod_set.wanted:
        return f"holds {count} pods of {pod_set.name} and wants {pod_set.wanted}"
    if touched and count < pod_set.least:
        return f"holds {count} pods of {pod_set.name}, and its floor is {pod_set.least}"
    if touched and count > pod_set.least and above % pod_set.step:
        return f"holds {count} pods of {pod_set.name}, {above} above its floor, and its step is {pod_set.step}"
    if touched and not pod_set.mixes and len(flavors) > 1:
        return f"holds pods of {pod_set.name} of {' and '.join(flavors)}, and they cannot be of several flavors"
    return None
