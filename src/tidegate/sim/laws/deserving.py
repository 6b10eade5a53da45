"""Law 3: making room across queues takes nobody below what they deserve, and puts nobody above it.

What an asker's node holds beyond that once a Plan is carried out must have cost nobody anything: it was free, or was
left of pods and floors that go whole though less of them was needed. That is so if there are asks which the Plan grants
below the node, whole floors and whole steps, or pods which those may take in their own Queue, without which the node is
within what it deserves and yet nothing that was taken from others could have stayed where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

from tidegate.scheduler import Eviction, PodSet, Rule, Shrink
from tidegate.sim.laws.accounts import Accounts, Pods, takings
from tidegate.sim.laws.breach import Breach
from tidegate.sim.laws.quota import Place
from tidegate.sim.laws.taking import ACROSS, WITHIN, deserved_share, needless


def law_3(accounts: Accounts, held: Container[str]) -> Iterator[Breach]:
    """`held`: as for law 2."""
    for taken in takings(accounts.plan):
        yield from _is_by_right(taken, accounts)
    for place in accounts.tree.places.values():
        yield from _keeps_what_it_deserves(place, accounts)
    for place, asker in _took_across(accounts):
        share, deserves = place.share(accounts.after.get(place.name, {})), deserved_share(place, accounts)
        if share > deserves and not _WithoutSome(place, accounts, held).is_within():
            why = f"its share becomes {share}, it deserves {deserves}"
            yield Breach(3, f"{place.name} takes more than it deserves for {asker}: {why}")


def _is_by_right(taken: Shrink | Eviction, accounts: Accounts) -> Iterator[Breach]:
    """Whether a rule that takes from anybody, deserved or not, is true of who lost and for whom."""
    victim = accounts.workloads[taken.workload]
    for cause in taken.causes:
        asker = accounts.workloads.get(cause.needed_by or "")
        if asker is None:
            continue
        if cause.rule is Rule.LOWER_PRIORITY and asker.priority <= victim.priority:
            yield Breach(3, f"{victim.name} gives way by priority for {asker.name}, whose priority is not higher")
        if cause.rule in WITHIN and asker.queue != victim.queue:
            yield Breach(3, f"{victim.name} gives way as if in one Queue for {asker.name}, which is in another")


def _keeps_what_it_deserves(place: Place, accounts: Accounts) -> Iterator[Breach]:
    """Of what was taken by other rights, or for somebody below the place, nothing is counted as lost."""
    fair: list[Shrink | Eviction] = []
    other: list[Shrink | Eviction] = []
    for taken in takings(accounts.plan):
        if _is_below(place, taken.workload, accounts):
            across = all(
                cause.rule is Rule.FAIR_SHARE and not _is_below(place, cause.needed_by, accounts)
                for cause in taken.causes
            )
            (fair if across else other).append(taken)
    if not fair:
        return
    for taken in other:
        accounts.charge(accounts.after, taken.workload, taken.pods, 1)
    holds, deserves = place.share(accounts.after.get(place.name, {})), deserved_share(place, accounts)
    for taken in other:
        accounts.charge(accounts.after, taken.workload, taken.pods, -1)
    if holds < deserves:
        yield Breach(3, f"{place.name} is taken below what it deserves: its share is {holds}, it deserves {deserves}")


def _took_across(accounts: Accounts) -> dict[tuple[Place, str], None]:
    """Places below where their path meets that of somebody who gave, and for whom it was."""
    found: dict[tuple[Place, str], None] = {}
    for taken in takings(accounts.plan):
        theirs = accounts.place_of(taken.workload)
        shared = set(theirs.path) if theirs is not None else set()
        for cause in taken.causes:
            mine = accounts.place_of(cause.needed_by) if cause.rule in ACROSS and cause.needed_by else None
            for place in mine.path if mine is not None else ():
                if place not in shared:
                    found[place, cause.needed_by or ""] = None
    return found


def _is_below(place: Place, workload: str | None, accounts: Accounts) -> bool:
    queue = accounts.place_of(workload) if workload is not None else None
    return queue is not None and place in queue.path


class _WithoutSome:
    """A Plan without some of the asks that it grants below a place."""

    def __init__(self, place: Place, accounts: Accounts, held: Container[str]) -> None:
        self.place = place
        self.accounts = accounts
        self.held = held
        self.deserves = deserved_share(place, accounts)
        self.new: dict[str, dict[str, dict[str, int]]] = {}
        """By workload, pod set and flavor: pods of the Plan that are still thought to be granted."""
        self.without: Counter[tuple[str, str]] = Counter()
        """By workload and pod set: those that are not."""
        self._seen: set[str] = set()
        self._admitted = {grant.workload for grant in accounts.plan.grants if grant.admits}
        for grant in accounts.plan.grants:
            self._look_at(grant.workload, grant.pods)
        for shrink in accounts.plan.shrinks:
            self._look_at(shrink.workload, _regained(shrink, accounts))
        self._kept = sorted(self._might_have_given())
        for name in self._kept:
            self._look_at(name, accounts.granted[name])

    def _look_at(self, name: str, pods: Pods) -> None:
        if _is_below(self.place, name, self.accounts):
            mine, has = self.new.setdefault(name, {}), self.accounts.granted[name]
            for pod_set, counts in pods.items():
                there = mine.setdefault(pod_set, {})
                for flavor, count in counts.items():
                    there[flavor] = min(has[pod_set].get(flavor, 0), there.get(flavor, 0) + count)

    def _might_have_given(self) -> Iterator[str]:
        """Those of whom a floor of their own Queue would have taken what they have above theirs, had not others left
        more than was needed of them."""
        grows = {grant.workload for grant in self.accounts.plan.grants}
        most: dict[str, int] = {}
        for name in self._admitted:
            asker = self.accounts.workloads[name]
            most[asker.queue] = max(most.get(asker.queue, asker.priority), asker.priority)
        for name in self.accounts.granted:
            one = self.accounts.workloads.get(name)
            if one is None or name in grows or not _is_below(self.place, name, self.accounts):
                continue
            if one.priority <= most.get(one.queue, one.priority - 1):
                yield name

    def is_within(self) -> bool:
        """Whether the place holds what it deserves, without some that nothing was taken for."""
        if self.place.share(self.accounts.after[self.place.name]) <= self.deserves:
            return True
        if (here := repr(self.new)) in self._seen:
            return False
        self._seen.add(here)
        asks = [(name, ask) for name in self.new if name not in self._kept for ask in self._last_asks(name)]
        # Of what is kept the order does not matter much, and there may be a lot.
        asks += next(([(name, ask)] for name in self._kept for ask in self._last_asks(name)), [])
        return any(self._is_within_without(name, ask) for name, ask in asks)

    def _is_within_without(self, name: str, ask: Pods) -> bool:
        self._change(name, ask, -1)
        found = not self._something_could_stay() and self.is_within()
        self._change(name, ask, 1)
        return found

    def _change(self, name: str, ask: Pods, sign: int) -> None:
        self.accounts.charge(self.accounts.after, name, ask, sign)
        for pod_set, by_flavor in ask.items():
            for flavor, count in by_flavor.items():
                self.new[name][pod_set][flavor] += sign * count
                self.without[name, pod_set] -= sign * count

    def _something_could_stay(self) -> bool:
        """What those below the place gave each other does not make it hold more."""
        return any(
            any(needless(taken, self.accounts, self.held))
            for taken in takings(self.accounts.plan)
            if any(cause.rule in ACROSS for cause in taken.causes)
            and not _is_below(self.place, taken.workload, self.accounts)
        )

    def _last_asks(self, name: str) -> Iterator[Pods]:
        """What a workload may have asked for last: a step of one of its pod sets; when there is no more, its floor."""
        new, grows = self.new[name], False
        for pod_set in self.accounts.workloads[name].pod_sets:
            counts = new.get(pod_set.name, {})
            growth = min(sum(counts.values()), self._above_the_floor(name, pod_set))
            for first in (flavor for flavor, count in counts.items() if count and growth > 0):
                grows = True
                yield {pod_set.name: _first_of(first, counts, min(growth, pod_set.step))}
        if not grows and name in self._admitted and any(map(any, map(dict.values, new.values()))):
            yield {pod_set: dict(counts) for pod_set, counts in new.items()}

    def _above_the_floor(self, name: str, pod_set: PodSet) -> int:
        granted = sum(self.accounts.granted[name].get(pod_set.name, {}).values())
        return granted - self.without[name, pod_set.name] - pod_set.least


def _regained(shrink: Shrink, accounts: Accounts) -> Pods:
    """Pods of a workload that were taken and given again, to it that lost others: only their number is told."""
    most = sum(cause.pods for cause in shrink.causes) - sum(sum(counts.values()) for counts in shrink.pods.values())
    has = accounts.granted[shrink.workload]
    return {name: {flavor: min(most, count) for flavor, count in has[name].items()} for name in shrink.pods}


def _first_of(flavor: str, counts: dict[str, int], pods: int) -> dict[str, int]:
    """So many pods, of one flavor before others."""
    taken: dict[str, int] = {}
    for one in (flavor, *(other for other in counts if other != flavor)):
        some = min(counts[one], pods)
        if some:
            taken[one] = some
            pods -= some
    return taken
