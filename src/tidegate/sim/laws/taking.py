"""Laws 2 and 3: only what is needed is taken, and then given; nobody is taken below what they deserve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tidegate.model.flavored import Flavored
from tidegate.scheduler import Eviction, Rule, Shrink, Workload
from tidegate.sim.laws.accounts import Accounts, Pods, amounts_of, takings
from tidegate.sim.laws.breach import Breach
from tidegate.sim.laws.commitments import over_committed
from tidegate.sim.laws.quota import Amounts, Place, add

MAKES_ROOM = {Rule.FLOOR_BEFORE_SURPLUS, Rule.FAIR_SHARE, Rule.WITHIN_QUEUE, Rule.LOWER_PRIORITY}
ACROSS = {Rule.FAIR_SHARE, Rule.LOWER_PRIORITY}


def law_2(accounts: Accounts, *, held_for: Iterable[Workload]) -> Iterator[Breach]:
    """`held_for`: who lost patience. Free room of what they ask for may be meant for them, and says nothing about
    taking."""
    held = {resource for workload in held_for for pod_set in workload.pod_sets for resource in pod_set.requests}
    granted = {grant.workload for grant in accounts.plan.grants}
    already_over = next(over_committed(accounts.tree.places.values(), accounts.after), None) is not None
    # What two roots share of the nodes is nobody's bound here: what goes because it is too little cannot be judged.
    alone = sum(place.parent is None for place in accounts.tree.places.values()) == 1
    judged = {*MAKES_ROOM, Rule.OVER_QUOTA} if alone else MAKES_ROOM
    for taken in takings(accounts.plan):
        verb = "is shrunk" if isinstance(taken, Shrink) else "is evicted"
        if not taken.causes:
            yield Breach(2, f"{taken.workload} {verb} for no reason")
        for cause in taken.causes:
            if cause.rule in MAKES_ROOM and cause.needed_by not in granted:
                yield Breach(2, f"{taken.workload} {verb} for {cause.needed_by}, which is granted nothing")
        if not already_over and all(cause.rule in judged for cause in taken.causes):
            yield from _needless(taken, accounts, held)


def _needless(taken: Shrink | Eviction, accounts: Accounts, held: set[str]) -> Iterator[Breach]:
    """What could be given back without over-committing anything was not needed: all of an eviction, one step of a
    shrink. Of resources that are `held` for somebody that cannot be told."""
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


def law_3(accounts: Accounts) -> Iterator[Breach]:
    yield from _victims_keep_what_they_deserve(accounts)
    yield from _askers_stay_within_what_they_deserve(accounts)


def _victims_keep_what_they_deserve(accounts: Accounts) -> Iterator[Breach]:
    rules: dict[str, set[Rule]] = {}
    met: dict[str, set[str]] = {}
    for taken in takings(accounts.plan):
        place = accounts.place_of(taken.workload)
        for one in place.path if place is not None else ():
            rules.setdefault(one.name, set()).update(cause.rule for cause in taken.causes)
            met.setdefault(one.name, set()).update(cause.needed_by for cause in taken.causes if cause.needed_by)
    for name, by in rules.items():
        place = accounts.tree.places[name]
        if by != {Rule.FAIR_SHARE} or any(_is_below(place, asker, accounts) for asker in met[name]):
            continue
        holds, deserves = place.share(accounts.after.get(name, {})), place.share(_deserved(place, accounts))
        if holds < deserves:
            yield Breach(3, f"{name} is taken below what it deserves: its share is {holds}, it deserves {deserves}")


def _askers_stay_within_what_they_deserve(accounts: Accounts) -> Iterator[Breach]:
    """Counted with what it held and keeps, and with the pods that others made room for; what was free anyway, or was
    given up in its own Queue, is welcome."""
    holds: dict[str, Amounts] = {name: dict(amounts) for name, amounts in accounts.before.items()}
    askers = {cause.needed_by for taken in takings(accounts.plan) for cause in taken.causes if cause.rule in ACROSS}
    for taken in takings(accounts.plan):
        accounts.charge(holds, taken.workload, taken.pods, -1)
    for grant in accounts.plan.grants:
        if grant.workload in askers:
            accounts.charge(holds, grant.workload, grant.held, 1)
    for taken in takings(accounts.plan):
        for cause in taken.causes:
            if cause.rule not in ACROSS or cause.needed_by is None:
                continue
            for place in _apart(cause.needed_by, taken.workload, accounts):
                share, deserves = place.share(holds.get(place.name, {})), place.share(_deserved(place, accounts))
                if share <= deserves or place.share(_without_leftovers(place, holds, taken, accounts)) <= deserves:
                    continue
                if not _is_left_over(place, holds[place.name], accounts):
                    why = f"its share becomes {share}, it deserves {deserves}"
                    yield Breach(3, f"{place.name} takes more than it deserves for {cause.needed_by}: {why}")


def _without_leftovers(
    place: Place, holds: Mapping[str, Amounts], taken: Shrink | Eviction, accounts: Accounts
) -> Amounts:
    """What a place holds, but for what was left over: a floor and a step go whole, though less was needed, and the rest
    of it is as good as free. It was needed for one pod at least."""
    amounts, victim = dict(holds.get(place.name, {})), accounts.workloads[taken.workload]
    if isinstance(taken, Shrink):
        steps = {pod_set.name: pod_set.step for pod_set in victim.pod_sets}
        for pod_set, by_flavor in taken.pods.items():
            rest = {flavor: min(count, steps[pod_set] - 1) for flavor, count in by_flavor.items()}
            add(amounts, amounts_of(victim, {pod_set: rest}), -1)
        return amounts
    add(amounts, amounts_of(victim, taken.pods), -1)
    askers = {cause.needed_by for cause in taken.causes}
    for grant in accounts.plan.grants:
        if grant.workload in askers:
            one_each = {pod_set: dict.fromkeys(by_flavor, 1) for pod_set, by_flavor in grant.held.items()}
            add(amounts, amounts_of(accounts.workloads[grant.workload], one_each))
    return amounts


def _is_left_over(place: Place, holds: Amounts, accounts: Accounts) -> bool:
    """Whether growth beyond what a place deserves got only what was left of pods that went whole, though less of them
    was needed: without it, nothing that was taken for those below could have stayed."""
    beyond = _growth_beyond(place, holds, accounts)
    if beyond is None:
        return False
    for name, pods in beyond:
        accounts.charge(accounts.after, name, pods, -1)
    needed = not any(
        any(_needless(taken, accounts, set()))
        for taken in takings(accounts.plan)
        if any(cause.needed_by and _is_below(place, cause.needed_by, accounts) for cause in taken.causes)
    )
    for name, pods in beyond:
        accounts.charge(accounts.after, name, pods, 1)
    return needed


def _growth_beyond(place: Place, holds: Amounts, accounts: Accounts) -> list[tuple[str, Pods]] | None:
    """Pods above floors that wait for others to go, without which a place holds what it deserves; None if that is not
    enough."""
    left, deserves = dict(holds), place.share(_deserved(place, accounts))
    beyond: list[tuple[str, Pods]] = []
    for grant in accounts.plan.grants:
        workload = accounts.workloads[grant.workload]
        for pod_set in workload.pod_sets if _is_below(place, grant.workload, accounts) else ():
            growth = sum(accounts.granted[grant.workload].get(pod_set.name, {}).values()) - pod_set.least
            for flavor, count in grant.held.get(pod_set.name, {}).items():
                for _ in range(min(count, growth)):
                    if place.share(left) <= deserves:
                        return beyond
                    pod: Pods = {pod_set.name: {flavor: 1}}
                    add(left, amounts_of(workload, pod), -1)
                    beyond.append((grant.workload, pod))
                    growth -= 1
    return beyond if place.share(left) <= deserves else None


def _deserved(place: Place, accounts: Accounts) -> Amounts:
    standing = accounts.plan.standings.get(place.name)
    amounts = Flavored() if standing is None else standing.deserved
    return {(flavor, name): amount for flavor, some in amounts.items() for name, amount in some.items()}


def _is_below(place: Place, workload: str, accounts: Accounts) -> bool:
    queue = accounts.place_of(workload)
    return queue is not None and place in queue.path


def _apart(asker: str, victim: str, accounts: Accounts) -> Iterator[Place]:
    """The places of the asker's path below where it meets the victim's."""
    theirs, mine = accounts.place_of(victim), accounts.place_of(asker)
    shared = set(theirs.path) if theirs is not None else set()
    return (place for place in (mine.path if mine is not None else ()) if place not in shared)
