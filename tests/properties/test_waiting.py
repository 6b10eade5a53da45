"""Nobody waits for what is free, or for what they might take: every ask that waits is tried by brute force.

The planner looks only at those who could have a turn. Here everybody who is told `WaitingForQuota` is asked: does it
fit after all? And if all who must give way by the sentences of the design were gone, would it then?
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.oracle import HandingOut, Wish
from tests.properties.test_oracle import amounts_of, submit, worlds
from tests.scheduler.world import World
from tidegate.model.kinds.cluster_queue import AcrossQueues, Preemption, WithinQueue
from tidegate.model.kinds.workload import WaitingReason
from tidegate.sim.laws.quota import Amounts, Cell, Place, add
from tidegate.sim.results.history import over_flavors

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
A_WHILE = 700
"""Seconds after which nobody backs off any more, and nobody has lost patience."""


class Waiting(HandingOut):
    """What everybody holds as things are, and who else might."""

    def __init__(self, world: World) -> None:
        super().__init__(world.snapshot())
        self.deserved = {name: amounts_of(one.deserved) for name, one in world.last.standings.items()}
        self.since = {one.name: one.admitted_at or 0 for one in world.snapshot().workloads}
        self.now = world.now
        self.told = {one.workload: one.reason for one in world.last.waiting}
        for wish in self.wishes:
            workload = world.workloads.get(wish.name)
            wish.started = workload is not None and workload.admitted_at is not None
            wish.granted = dict(workload.pod_sets[0].granted) if workload else {}
            for place in wish.queue.path:
                add(self.holds[place.name], wish.amounts(wish.granted))

    def who_waits(self) -> Iterator[Wish]:
        for wish in self.wishes:
            if self.told.get(wish.name) is WaitingReason.WAITING_FOR_QUOTA and wish.ask:
                yield wish

    def could_take(self, wish: Wish) -> bool:
        """Whether it would fit if who must give way did; and nobody else who waits might take it from there at once, so
        that those would have given way for nothing."""
        with self._as_if():
            if self._make_room(wish) is None:
                return False
            pods = self.where(wish)
            assert pods is not None
            wish.granted = {flavor: wish.granted.get(flavor, 0) + count for flavor, count in pods.items()}
            wish.started = True
            self.since[wish.name] = self.now
            for place in wish.queue.path:
                add(self.holds[place.name], wish.amounts(pods))
            return not any(self._would_take_of(wish, other) for other in self.who_waits() if other is not wish)

    def _would_take_of(self, wish: Wish, other: Wish) -> bool:
        with self._as_if():
            return wish in (self._make_room(other) or ())

    @contextmanager
    def _as_if(self) -> Iterator[None]:
        """Nothing has happened in the end."""
        holds, since = {name: dict(held) for name, held in self.holds.items()}, dict(self.since)
        before = [(one, dict(one.granted), one.started) for one in self.wishes]
        yield
        self.holds, self.since = holds, since
        for one, granted, started in before:
            one.granted, one.started = granted, started

    def _make_room(self, wish: Wish) -> list[Wish] | None:
        """Who gives way for an ask, one after the other in the order of victims, if it then fits; of one flavor, so
        that there is only one way to go."""
        (flavor,) = self.flavors(wish.queue)
        ask = wish.amounts({flavor: wish.ask})
        taken: list[tuple[Wish, int]] = []
        while self.where(wish) is None:
            give = [one for one in self.wishes if self._may_give(one, wish, ask)]
            if not give:
                return None
            first = min(give, key=lambda one: self._order(one, wish))
            taken.append((first, self._unit(first)))
            self._move(*taken[-1], -1)
        kept = [one for one, unit in reversed(taken) if not self._spare(one, unit, wish)]
        by_right = all(self._is_modest(wish, ask, one) for one in kept if one.queue is not wish.queue)
        return kept if by_right else None

    def _spare(self, other: Wish, unit: int, wish: Wish) -> bool:
        """Give back what was not needed after all."""
        self._move(other, unit, 1)
        if self.where(wish) is not None:
            return True
        self._move(other, unit, -1)
        return False

    def _unit(self, other: Wish) -> int:
        """Pods that go together: the last step above the floor, else all."""
        surplus = other.count - other.pod_set.least
        above = other.count + other.pod_set.ended - min(other.pod_set.floor, other.pod_set.count)
        return min(surplus, (above - 1) % other.pod_set.step + 1) if surplus > 0 else other.count

    def _move(self, other: Wish, count: int, sign: int) -> None:
        (flavor,) = other.granted
        other.granted[flavor] += sign * count
        for place in other.queue.path:
            add(self.holds[place.name], other.amounts({flavor: count}), sign)

    def _order(self, other: Wish, wish: Wish) -> tuple[object, ...]:
        """Surplus before floors, the node most above what it deserves, lowest priority, newest, last by name."""
        apart = [place for place in reversed(list(other.queue.path)) if place not in set(wish.queue.path)]
        above = tuple(place.share(self.deserved[place.name]) - place.share(self.holds[place.name]) for place in apart)
        since = self.since[other.name]
        name = tuple(-ord(letter) for letter in other.name)
        return other.count <= other.pod_set.least, above, other.priority, -since, -other.created, name

    def _may_give(self, other: Wish, wish: Wish, ask: Amounts) -> bool:
        if other is wish or other.standing or not other.started or not other.count:
            return False
        (flavor,) = other.granted
        unit = other.amounts({flavor: self._unit(other)})
        floor = other.count <= other.pod_set.least
        return self._helps(other, wish, ask, unit) and self._allowed(other, wish, ask, unit, floor)

    def _helps(self, other: Wish, wish: Wish, ask: Amounts, unit: Amounts) -> bool:
        """Whether it takes of what lacks at the lowest place where something does."""
        for place in wish.queue.path:
            held = dict(self.holds[place.name])
            add(held, ask)
            resources = {cell[1] for cell in ask}
            over = {cell for cell, some in held.items() if (top := place.bound(cell)) is not None and some > top}
            over |= {cell for cell, some in held.items() if some > place.limits.get(cell[1], some)}
            lacking = {cell for cell in over if cell[1] in resources}
            if lacking:
                return place in other.queue.path and any(unit.get(cell) for cell in lacking)
        return True

    def _is_modest(self, wish: Wish, ask: Amounts, other: Wish) -> bool:
        mine = [place for place in wish.queue.path if place not in set(other.queue.path)]
        return all(
            self._share(place, ask, 1) <= place.share(self.deserved[place.name])  # type: ignore[operator]
            and self._is_within(place, {cell: some for cell, some in ask.items() if cell in self._contested(place)})
            for place in mine
        )

    def _deserves_all(self, wish: Wish, ask: Amounts, other: Wish) -> bool:
        """Whether what is asked for is deserved resource by resource, whatever the flavor."""
        mine = [place for place in wish.queue.path if place not in set(other.queue.path)]
        return all(
            over_flavors(self.holds[place.name]).get(resource, 0) + some
            <= over_flavors(self.deserved[place.name]).get(resource, 0)
            for place in mine
            for resource, some in over_flavors(ask).items()
            if some
        )

    def _is_within(self, place: Place, ask: Amounts) -> bool:
        """Whether a place would hold no more than it deserves, amount by amount."""
        holds, own = self.holds[place.name], self.deserved[place.name]
        return all(holds.get(cell, 0) + some <= own.get(cell, 0) for cell, some in ask.items() if some)

    def _contested(self, place: Place) -> set[Cell]:
        """What it is guaranteed of that, somewhere above it, more is guaranteed than there is."""
        over: set[Cell] = set()
        for above in list(place.path)[1:]:
            has = above.guarantee if above.parent else above.capacity
            promised: Amounts = {}
            for child in above.children:
                add(promised, child.guarantee)
            over |= {cell for cell, some in promised.items() if some > has.get(cell, 0)}
        return {cell for cell in over if place.guarantee.get(cell)}

    def _allowed(self, other: Wish, wish: Wish, ask: Amounts, unit: Amounts, floor: bool) -> bool:
        rules = self.rules(wish.queue.parent).preemption  # type: ignore[arg-type]
        if other.queue is wish.queue:
            if wish.started:
                return False
            if not floor:
                return other.priority <= wish.priority
            lower = other.priority < wish.priority and rules.within_queue is not WithinQueue.NEVER
            newer = other.priority == wish.priority and other.created > wish.created
            return lower or (newer and rules.within_queue is WithinQueue.LOWER_OR_NEWER_EQUAL_PRIORITY)
        theirs = [place for place in other.queue.path if place not in set(wish.queue.path)]
        if not self._is_modest(wish, ask, other):
            return False
        if floor and rules.across_queues is AcrossQueues.LOWER_PRIORITY:
            return other.priority < wish.priority and self._deserves_all(wish, ask, other)
        if floor and rules.across_queues is AcrossQueues.NEVER:
            return False
        return all(
            self._stays_above(place, unit) or self._is_promised_to_both(place, unit, wish, ask) for place in theirs
        )

    def _is_promised_to_both(self, place: Place, unit: Amounts, wish: Wish, ask: Amounts) -> bool:
        """Where guarantees exceed what there is, also what is inside of one goes to who deserves it."""
        if not self._contested(place) & {cell for cell, some in ask.items() if some}:
            return False
        holds, own = self.holds[place.name], self.deserved[place.name]
        mine = [one for one in wish.queue.path if one not in set(place.path)]
        return all(holds[cell] - some >= own.get(cell, 0) for cell, some in unit.items() if some) and all(
            self._is_within(one, ask) for one in mine
        )

    def _share(self, place: Place, more: Amounts, times: int) -> object:
        held = dict(self.holds[place.name])
        add(held, more, times)
        return place.share(held)

    def _stays_above(self, place: Place, unit: Amounts) -> bool:
        due = place.share(self.deserved[place.name])
        if not place.share(self.holds[place.name]) > due <= self._share(place, unit, -1):  # type: ignore[operator]
            return False
        holds = self.holds[place.name]
        own = self.deserved[place.name]
        return all(
            holds[cell] - some >= min(place.guarantee.get(cell, 0), own.get(cell, 0)) for cell, some in unit.items()
        )


def waves(chance: Random) -> World:
    """A world in which more comes when all is given out, and some of what runs ends. The laws are judged elsewhere."""
    world = worlds(chance)
    for name, rules in world.cluster_queues.items():
        preemption = Preemption(
            within_queue=chance.choice(list(WithinQueue)), across_queues=chance.choice(list(AcrossQueues))
        )
        world.cluster_queues[name] = replace(rules, preemption=preemption)
    settle = world.simulation.settle
    settle()
    for wave in range(3):
        for index in range(chance.randint(0, 3)):
            submit(chance, world, f"x{wave}{index}")
        running = sorted(name for name, one in world.workloads.items() if one.admitted_at is not None)
        if running and chance.random() < 0.5:
            world.end(chance.choice(running))
        world.now += 1
        settle()
    world.now += A_WHILE
    settle()
    return world


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
def test_nobody_waits_for_what_is_free(seed: int) -> None:
    world = waves(Random(seed))
    waiting = Waiting(world)
    for wish in waiting.who_waits():
        assert waiting.where(wish) is None, (seed, wish.name)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
# Its own surplus entitled it to others', which made part of its own needless, and so it was not entitled any more.
@example(4014297516)
# Of two floors that might go, the first has memory, too: so its own memory need not go, without which it is not
# entitled to that floor; with the other one it is.
@example(29245055)
def test_nobody_waits_for_what_they_may_take(seed: int) -> None:
    world = waves(Random(seed))
    assume(not world.flavors)
    waiting = Waiting(world)
    for wish in waiting.who_waits():
        assert not waiting.could_take(wish), (seed, wish.name)


def test_one_who_waits_since_what_it_got_was_withdrawn() -> None:
    waiting = Waiting(waves(Random(22982)))
    assert not any(map(waiting.could_take, waiting.who_waits()))
