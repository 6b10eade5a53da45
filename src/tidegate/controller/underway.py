"""Statuses that were decided and are not known to be written yet, and which of them may be written now. Pure.

What is given to one was taken from another, so a status that gives waits for every status decided before it that
takes; those wait for nobody. Whatever subset of these writes has taken effect when the operator is killed, too little
was given, never too much. Room is counted as somebody who starts anew would read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

from msgspec import structs

from tidegate.controller.kinds import Key
from tidegate.kube.wire import Object
from tidegate.model.kinds.shape import ConditionStatus
from tidegate.model.kinds.workload import PodSetStatus, WorkloadStatus
from tidegate.scheduler import Plan

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
    """All that take, up to this number, are written first."""
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
    _held_back: set[Key] = field(default_factory=set)
    _given: list[Step] = field(default_factory=list)
    """Put since something was last asked for: they were decided together with everything else that was put since."""

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
    ) -> None:
        """A status was decided, on top of what is assumed. `urgency` is meant for one that changes nobody's room."""
        chain = self._chains.setdefault(key, _Chain(made_from, known))
        step = Step(key, status, urgency, told=(*_told(chain.last), *told))
        room = room_of(status)
        rises, falls = _change(room_of(chain.before_last()), room)
        if rises and falls:
            # Who loses and is given at once loses first, like everybody.
            first = _without_gain(status, chain.before_last())
            self._take(chain, replace(step, status=first, told=()))
            rises = room_of(first) != room
        if not rises and (falls or chain.takes is not None):
            chain.last = None
            self._take(chain, step)
        else:
            self._put_last(chain, step, gives=rises)
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
        chain.takes = replace(step, urgency=Urgency.TAKES, number=number, told=(*_told(old), *step.told))

    def _make_ready(self, key: Key, chain: _Chain | None) -> None:
        step = (chain.takes or chain.last) if chain is not None else None
        waits = chain is None or chain.sent is not None or key in self._held_back
        for urgency, keys in enumerate(self._ready):
            if step is None or waits or urgency != step.urgency:
                keys.pop(key, None)
            else:
                keys.setdefault(key)

    def next(self, least: Urgency) -> tuple[Step, Object] | None:
        """What is to be sent now, and the object that it was made from; nothing less urgent than `least`."""
        for given in self._given:
            given.after = self._number
        self._given.clear()
        for keys in self._ready[: least + 1]:
            key = next(iter(keys), None)
            if key is None:
                continue
            chain = self._chains[key]
            step = chain.takes or chain.last
            assert step is not None
            if step.urgency is Urgency.GIVES and next(iter(self._takes), step.after + 1) <= step.after:
                continue
            if step is chain.takes:
                chain.takes = None
            else:
                chain.last = None
            chain.sent = step
            self._make_ready(key, chain)
            return step, chain.made_from
        return None

    def written(self, step: Step, answer: Object) -> None:
        """The server has it; what follows is made from its answer."""
        chain = self._chains[step.key]
        chain.sent, chain.made_from, chain.known = None, answer, step.status
        self._takes.pop(step.number, None)
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

    def forget(self, failed: Step) -> set[Key]:
        """This was not written, and nothing that is not on its way is to be; whose all that was. What is on its way is
        safe by itself, since everything that it waited for is written."""
        keys = set(self._chains)
        flying = {key: each.sent for key, each in self._chains.items() if each.sent not in (None, failed)}
        self._chains = {key: replace(self._chains[key], takes=None, last=None) for key in flying}
        numbers = {step.number for step in flying.values() if step is not None}
        self._takes = {number: None for number in self._takes if number in numbers}
        self._given.clear()
        for each in self._ready:
            each.clear()
        return keys

    def hold_back(self, key: Key) -> None:
        """Nothing of this Workload is sent until it is let go."""
        self._held_back.add(key)
        self._make_ready(key, self._chains.get(key))

    def let_go(self, key: Key) -> None:
        """It may be sent again."""
        self._held_back.discard(key)
        self._make_ready(key, self._chains.get(key))


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


def _change(before: Room, after: Room) -> tuple[bool, bool]:
    """Whether anything rises, and whether anything falls."""
    differences = {after.get(cell, 0) - before.get(cell, 0) for cell in {*before, *after}}
    return max(differences, default=0) > 0, min(differences, default=0) < 0


def _without_gain(status: WorkloadStatus, before: WorkloadStatus) -> WorkloadStatus:
    """A status without what it has beyond the one before. Who is admitted by it is not, until all of it is written: a
    floor is granted whole or not at all, whenever the operator dies."""
    room = room_of(before)
    if not any(count > 0 for count in room.values()):
        return structs.replace(before, reclaimed_pod_set_pods=status.reclaimed_pod_set_pods)

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


def _told(step: Step | None) -> tuple[Plan, ...]:
    return step.told if step is not None else ()
