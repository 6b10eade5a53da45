"""Law 2: only what is needed is taken, and then given; and what law 3 has to know of that."""

from __future__ import annotations

from collections.abc import Container, Iterator
from fractions import Fraction

from tidegate.model.flavored import Flavored
from tidegate.scheduler import Eviction, Rule, Shrink
from tidegate.sim.laws.accounts import Accounts, Pods, amounts_of, takings
from tidegate.sim.laws.breach import Breach
from tidegate.sim.laws.commitments import over_committed
from tidegate.sim.laws.quota import Amounts, Place

WITHIN = {Rule.FLOOR_BEFORE_SURPLUS, Rule.WITHIN_QUEUE}
ACROSS = {Rule.FAIR_SHARE, Rule.LOWER_PRIORITY}
MAKES_ROOM = WITHIN | ACROSS


def law_2(accounts: Accounts, held: Container[str]) -> Iterator[Breach]:
    """`held`: resources of which what is free may be meant for who lost patience, and says nothing about taking."""
    granted = {grant.workload for grant in accounts.plan.grants}
    already_over = next(over_committed(accounts.tree.places.values(), accounts.after), None) is not None
    judged = {*MAKES_ROOM, Rule.OVER_QUOTA}
    for taken in takings(accounts.plan):
        verb = "is shrunk" if isinstance(taken, Shrink) else "is evicted"
        if not taken.causes:
            yield Breach(2, f"{taken.workload} {verb} for no reason")
        for cause in taken.causes:
            if cause.rule in MAKES_ROOM and cause.needed_by not in granted:
                yield Breach(2, f"{taken.workload} {verb} for {cause.needed_by}, which is granted nothing")
        if not already_over and all(cause.rule in judged for cause in taken.causes):
            yield from needless(taken, accounts, held)


def needless(taken: Shrink | Eviction, accounts: Accounts, held: Container[str]) -> Iterator[Breach]:
    """What could be given back without over-committing anything was not needed: all of an eviction, one step of a
    shrink, or of steps over several flavors all. Of resources that are `held` for somebody that cannot be told."""
    workload = accounts.workloads[taken.workload]
    queue = accounts.place_of(taken.workload)
    if queue is None:
        return
    parts: list[Pods] = [taken.pods]
    if isinstance(taken, Shrink):
        steps = {pod_set.name: pod_set.step for pod_set in workload.pod_sets}
        parts = [
            {pod_set: {flavor: min(count, steps[pod_set])}}
            for pod_set, by_flavor in taken.pods.items()
            for flavor, count in by_flavor.items()
            if len(by_flavor) == 1 or steps[pod_set] == 1
        ]
        parts += ({pod_set: by_flavor} for pod_set, by_flavor in taken.pods.items() if len(by_flavor) > 1)
    for part in parts:
        amounts = amounts_of(workload, part)
        if not any(amounts.values()) or any(some and resource in held for (_, resource), some in amounts.items()):
            continue
        accounts.charge(accounts.after, taken.workload, part, 1)
        fits = next(over_committed(queue.path, accounts.after), None) is None
        accounts.charge(accounts.after, taken.workload, part, -1)
        if fits:
            verb = "was shrunk by" if isinstance(taken, Shrink) else "was evicted with"
            yield Breach(2, f"{taken.workload} {verb} more than was needed: {dict(part)} could stay")


def deserved_amounts(place: Place, accounts: Accounts) -> Amounts:
    standing = accounts.plan.standings.get(place.name)
    amounts = Flavored() if standing is None else standing.deserved
    return {(flavor, name): n for flavor, some in amounts.items() for name, n in some.items()}


def deserved_share(place: Place, accounts: Accounts) -> Fraction:
    return place.share(deserved_amounts(place, accounts))
