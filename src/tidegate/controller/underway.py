"""Statuses that were decided and are not known to be written yet, and which of them may be written now. Pure.

What is given to one was taken from another, so a status that gives waits for every status decided before it that
takes; those wait for nobody. Who loses and is given at once loses first, unless less than its floor would be left.
Whatever subset of these writes has taken effect when the operator is killed, too little was given, never too much; of a
floor everything, or nothing. Room is counted as somebody who starts anew would read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import islice

from msgspec import structs

from tidegate.controller.kinds import Key
from tidegate.kube.wire import Object
from tidegate.model.kinds.shape import ConditionStatus
from tidegate.model.kinds.workload import PodSetStatus, WorkloadStatus
from tidegate.scheduler import Plan

NO_FLOORS: Mapping[str, int] = {}
Room = dict[tuple[str, str, bool], int]
"""Pods by pod set and flavor: those granted, and (True) those of them that may start. Without a flavor, as less than
nothing, those that have ended: an application that may still start them takes their room."""


class Urgency(IntEnum):
    """What is written first."""

    TAKES = 0
    GIVES = 1
    TELLS = 2
    """What was observed; it changes nobody's room."""
    REPORTS = 3
    """Why somebody waits."""


@dataclass(slots=True, eq=False)
class Step:
    """One status of one Workload, to be written."""

    key: Key
    status: WorkloadStatus
    urgency: Urgency
    number: int = 0
    """Of one that takes; those that give wait for the numbers before them."""
    after: int = 0
    """All others that take, up to this number, are written first."""
    moves: bool = False
    """Whether it takes and gives at once."""
    told: tuple[Plan, ...] = ()
    """What is to be said and counted once it is written."""


@dataclass(slots=True)
class _Chain:
    """What is decided of one Workload, in the order in which it is written: `sent`, `takes`, `last`."""

    made_from: Object
    known: WorkloadStatus
    """What the server has."""
    sent: Step | None = None
    takes: Step | None = None
    last: Step | None = None

    def before_last(self) -> WorkloadStatus:
        """What stands in the status when `last` is written."""
        step = self.takes or self.sent
        return step.status if step is not None else self.known


@dataclass(slots=True)
class Underway:
    """Every Workload's chain."""

    _chains: dict[Key, _Chain] = field(default_factory=dict)
    _ready: tuple[dict[Key, None], ...] = field(default_factory=lambda: tuple({} for _ in Urgency))
    """Whose next step may be sent, by its urgency, in the order in which they came."""
    _takes: dict[int, None] = field(default_factory=dict)
    """Numbers of those that are not written yet, in order."""
    _number: int = 0
    _given: list[Step] = field(default_factory=list)
    """Put since something was last asked for: they were decided together with everything else that was put since."""
    _moving: Key | None = None
    """Who loses and is given in one write. Only one at a time: of two, each might wait for the other."""

    def __len__(self) -> int:
        return len(self._chains)

    def __contains__(self, key: Key) -> bool:
        return key in self._chains

    def waiting(self, urgency: Urgency) -> int:
        """How many could be sent."""
        return len(self._ready[urgency])

    def assumed(self, key: Key) -> WorkloadStatus | None:
        """The status that a Workload has when everything is written; None where nothing is underway."""
        chain = self._chains.get(key)
        if chain is None:
            return None
        return chain.last.status if chain.last is not None else chain.before_last()

    def is_taken_from(self, key: Key) -> bool:
        """Whether something is taken from it that the server may not know of yet."""
        chain = self._chains.get(key)
        return chain is not None and any(step is not None and step.number for step in (chain.sent, chain.takes))

    def put(
        self,
        key: Key,
        made_from: Object,
        known: WorkloadStatus,
        status: WorkloadStatus,
        *,
        urgency: Urgency,
        told: tuple[Plan, ...] = (),
        floors: Mapping[str, int] = NO_FLOORS,
    ) -> None:
        """A status was decided, on top of what is assumed. `urgency` is meant for one that changes nobody's room. Of
        `floors`, by pod set, it holds all at any moment, or nothing."""
        chain = self._chains.setdefault(key, _Chain(made_from, known))
        step = Step(key, status, urgency, told=(*_told(chain.last), *told))
        room, before = room_of(status), room_of(chain.before_last())
        gives, takes = rises(before, room), falls(before, room)
        if gives and takes:
            first = _at_most(status, before)
            if _is_whole(first, floors) or self._moving is not None:
                # Who loses and is given at once loses first, like everybody.
                first = first if _is_whole(first, floors) else _without_pods(first)
                self._take(chain, replace(step, status=first, told=()))
                gives = room_of(first) != room
            else:
                self._moving, step.moves, gives = key, True, False
        if not gives and (takes or chain.takes is not None):
            chain.last = None
            self._take(chain, step)
        else:
            self._put_last(chain, step, gives=gives)
        self._make_ready(key, chain)

    def _put_last(self, chain: _Chain, step: Step, *, gives: bool) -> None:
        old = chain.last
        if gives:
            step.urgency = Urgency.GIVES
            self._given.append(step)
        elif old is not None and old.urgency > Urgency.GIVES:
            step.urgency = min(step.urgency, old.urgency)
        chain.last = step

    def _take(self, chain: _Chain, step: Step) -> None:
        """Written before everything else of this Workload. Once decided it stays, since others wait for it: only for
        one that takes more it makes room."""
        old = chain.takes
        if old is None:
            self._number += 1
            self._takes[self._number] = None
        number = old.number if old is not None else self._number
        moves = step.moves or (old is not None and old.moves)
        chain.takes = replace(step, urgency=Urgency.TAKES, number=number, moves=moves, told=(*_told(old), *step.told))
        if moves:
            self._given.append(chain.takes)

    def _make_ready(self, key: Key, chain: _Chain) -> None:
        step = chain.takes or chain.last
        for urgency, keys in enumerate(self._ready):
            if step is None or chain.sent is not None or urgency != step.urgency:
                keys.pop(key, None)
            else:
                keys.setdefault(key)

    def next(self, least: Urgency) -> tuple[Step, Object] | None:
        """What is to be sent now, and the object that it was made from; nothing less urgent than `least`."""
        for given in self._given:
            given.after = self._number
        self._given.clear()
        for urgency in range(least + 1):
            # Of those that take, only the one that moves may have to wait.
            for key in islice(self._ready[urgency], 2 if urgency == Urgency.TAKES else 1):
                chain = self._chains[key]
                step = chain.takes or chain.last
                assert step is not None
                if self._may_go(step):
                    if step is chain.takes:
                        chain.takes = None
                    else:
                        chain.last = None
                    chain.sent = step
                    self._make_ready(key, chain)
                    return step, chain.made_from
        return None

    def _may_go(self, step: Step) -> bool:
        """Whether all is written that it is to wait for."""
        others = (number for number in self._takes if number != step.number)
        return next(others, step.after + 1) > step.after

    def written(self, step: Step, answer: Object) -> None:
        """The server has it; what follows is made from its answer."""
        chain = self._chains[step.key]
        chain.sent, chain.made_from, chain.known = None, answer, step.status
        self._takes.pop(step.number, None)
        self._moving = None if step.moves else self._moving
        if chain.takes is None and chain.last is None:
            del self._chains[step.key]
        else:
            self._make_ready(step.key, chain)

    def forget_words(self, key: Key) -> None:
        """What was only to be said of a Workload, and was not sent yet, is not: it is looked at again."""
        chain = self._chains.get(key)
        if chain is not None and chain.sent is None and chain.takes is None:
            assert chain.last is not None
            if chain.last.urgency > Urgency.GIVES:
                del self._chains[key]
                self._ready[chain.last.urgency].pop(key, None)

    def forget(self) -> set[Key]:
        """Nothing of all this is assumed any more; whose it was."""
        keys = set(self._chains)
        self._chains.clear()
        self._takes.clear()
        self._given.clear()
        self._moving = None
        for each in self._ready:
            each.clear()
        return keys


def room_of(status: WorkloadStatus) -> Room:
    """What a Workload with this status holds in the eyes of somebody who knows nothing else."""
    room: Room = {(each.name, "", True): -each.count for each in status.reclaimed_pod_set_pods}
    flags = {each.type for each in status.conditions if each.status is ConditionStatus.TRUE}
    if "Admitted" not in flags or "Finished" in flags:
        return room
    for each in status.pod_sets:
        for flavor, count in each.flavors.items():
            if count:
                room[each.name, flavor, False] = count
                room[each.name, flavor, True] = count - each.held.get(flavor, 0)
    return room


def rises(before: Room, after: Room) -> bool:
    """Whether there is more of anything."""
    return any(after.get(cell, 0) > before.get(cell, 0) for cell in {*before, *after})


def falls(before: Room, after: Room) -> bool:
    """Whether there is less of anything."""
    return rises(after, before)


def _at_most(status: WorkloadStatus, room: Room) -> WorkloadStatus:
    """A status without what it has beyond this."""

    def limited(each: PodSetStatus) -> PodSetStatus:
        flavors: dict[str, int] = {}
        held: dict[str, int] = {}
        for flavor, count in each.flavors.items():
            granted = min(count, room.get((each.name, flavor, False), 0))
            free = min(count - each.held.get(flavor, 0), room.get((each.name, flavor, True), 0))
            flavors |= {flavor: granted} if granted else {}
            held |= {flavor: granted - free} if granted > free else {}
        return structs.replace(each, granted=sum(flavors.values()), flavors=flavors, held=held)

    return structs.replace(status, pod_sets=tuple(map(limited, status.pod_sets)))


def _is_whole(status: WorkloadStatus, floors: Mapping[str, int]) -> bool:
    return all(each.granted >= floors.get(each.name, 0) for each in status.pod_sets)


def _without_pods(status: WorkloadStatus) -> WorkloadStatus:
    """Half a gang would run on; whoever starts anew reads this as not admitted."""
    pod_sets = tuple(structs.replace(each, granted=0, flavors={}, held={}) for each in status.pod_sets)
    return structs.replace(status, pod_sets=pod_sets)


def _told(step: Step | None) -> tuple[Plan, ...]:
    return step.told if step is not None else ()
