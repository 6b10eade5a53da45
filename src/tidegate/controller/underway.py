"""Statuses that were decided and are not known to be written yet, and which of them may be written now. Pure.

What is given to one was taken from another, so a status that gives waits for every status decided before it that
takes, of the same tree of quotas; those wait for nobody. Who loses and is given at once loses first, unless less than
its floor would be left. Whatever subset of these writes has taken effect when the operator is killed, too little was
given, never too much; of a floor everything, or nothing. Room is counted as somebody who starts anew would read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import islice

from tidegate.controller.kinds import Key
from tidegate.controller.moving import Moves
from tidegate.controller.told.room import falls, is_whole, rises, room_of, without_gain, without_pods
from tidegate.kube.wire import Object
from tidegate.model.kinds.workload import WorkloadStatus
from tidegate.scheduler import Plan

ANY = ""
"""In place of a root: what counts in every tree, because it is not known in which."""
NO_FLOORS: Mapping[str, int] = {}


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
    root: str = ANY
    number: int = 0
    """Of one that takes; those that give wait for the numbers before them."""
    after: int = 0
    """All others of its tree that take, up to this number, are written first."""
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

    def before(self) -> WorkloadStatus:
        """What stands in the status when the next is sent."""
        return self.sent.status if self.sent is not None else self.known

    def before_last(self) -> WorkloadStatus:
        """What stands in the status when `last` is written."""
        return self.takes.status if self.takes is not None else self.before()


@dataclass(slots=True)
class Underway:
    """Every Workload's chain."""

    _chains: dict[Key, _Chain] = field(default_factory=dict)
    _ready: tuple[dict[str, dict[Key, None]], ...] = field(default_factory=lambda: tuple({} for _ in Urgency))
    """Whose next step may be sent, by its urgency and its tree, in the order in which they came; trees take turns."""
    _places: dict[Key, tuple[Urgency, str]] = field(default_factory=dict)
    """Where in `_ready` each is."""
    _takes: dict[str, dict[int, None]] = field(default_factory=dict)
    """Numbers of those that are not written yet, by tree, in order."""
    _number: int = 0
    _held_back: set[Key] = field(default_factory=set)
    _given: list[Step] = field(default_factory=list)
    """Put since something was last asked for: they were decided together with everything else that was put since."""
    _moves: Moves = field(default_factory=Moves)
    """Of those that take, the ones that give in the same write."""

    def __len__(self) -> int:
        return len(self._chains)

    def __contains__(self, key: Key) -> bool:
        return key in self._chains

    def waiting(self, urgency: Urgency) -> int:
        """How many could be sent."""
        return sum(map(len, self._ready[urgency].values()))

    def assumed(self, key: Key) -> WorkloadStatus | None:
        """The status that a Workload has when everything is written; None where nothing is underway."""
        chain = self._chains.get(key)
        if chain is None:
            return None
        return chain.last.status if chain.last is not None else chain.before_last()

    def is_sent(self, key: Key) -> bool:
        """Whether a write of it is on its way."""
        chain = self._chains.get(key)
        return chain is not None and chain.sent is not None

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
        root: str = ANY,
        told: tuple[Plan, ...] = (),
        floors: Mapping[str, int] = NO_FLOORS,
    ) -> None:
        """A status was decided, on top of what is assumed. `urgency` is meant for one that changes nobody's room;
        `root` is that of the tree in which it holds what it holds; of `floors`, by pod set, it holds all at any moment,
        or nothing."""
        chain = self._chains.setdefault(key, _Chain(made_from, known))
        step = Step(key, status, urgency, root, told=(*_told(chain.last), *told))
        room, before = room_of(status), room_of(chain.before_last())
        gives, takes = rises(before, room), falls(before, room)
        if gives and takes:
            # Who loses and is given at once loses first, like everybody; where that leaves half a floor, in one write.
            first = without_gain(status, chain.before_last())
            gives = is_whole(first, floors) and room_of(self._take(chain, replace(step, status=first, told=()))) != room
        if not gives and (takes or chain.takes is not None):
            chain.last = None
            gives = room_of(self._take(chain, step)) != room
        if gives or chain.takes is None:
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

    def _take(self, chain: _Chain, step: Step) -> WorkloadStatus:
        """Written before everything else of this Workload. Once decided it stays, since others wait for it: only for
        one that takes more it makes room. What is written then: nothing of it is left where it could not be given in
        the same write."""
        old = chain.takes
        if old is None:
            self._number += 1
            self._takes.setdefault(step.root, {})[self._number] = None
        number, root = (old.number, old.root) if old is not None else (self._number, step.root)
        status, told = step.status, (*_told(old), *step.told)
        if not self._moves.put(number, room_of(chain.before()), room_of(status)):
            status, told = without_pods(status), _told(old)
        chain.takes = replace(step, status=status, urgency=Urgency.TAKES, root=root, number=number, told=told)
        if number in self._moves:
            self._given.append(chain.takes)
        return status

    def _make_ready(self, key: Key, chain: _Chain | None) -> None:
        step = (chain.takes or chain.last) if chain is not None else None
        waits = chain is None or chain.sent is not None or key in self._held_back
        place = None if step is None or waits else (step.urgency, step.root)
        before = self._places.get(key)
        if before == place:
            return
        if before is not None:
            urgency, root = before
            del self._places[key], self._ready[urgency][root][key]
            if not self._ready[urgency][root]:
                del self._ready[urgency][root]
        if place is not None:
            urgency, root = self._places[key] = place
            self._ready[urgency].setdefault(root, {})[key] = None

    def next(self, least: Urgency, most: Urgency = Urgency.TAKES) -> tuple[Step, Object] | None:
        """What is to be sent now, and the object that it was made from; nothing less urgent than `least`, nor more than
        `most`."""
        for given in self._given:
            given.after = self._number
        self._given.clear()
        for urgency in range(most, least + 1):
            trees = self._ready[urgency]
            for root, keys in trees.items():
                # Of those that take, only the ones that move may have to wait.
                for key in islice(keys, 1 + (len(self._moves) if urgency == Urgency.TAKES else 0)):
                    chain = self._chains[key]
                    step = chain.takes or chain.last
                    assert step is not None
                    if not self._is_early(step):
                        trees[root] = trees.pop(root)
                        return self._sent(key, chain, step), chain.made_from
        return None

    def _is_early(self, step: Step) -> bool:
        """Whether something else that takes is to be written before it."""
        trees = self._takes.values() if step.root == ANY else (self._takes.get(each, {}) for each in (step.root, ANY))
        passed = {step.number, *self._moves.unneeded(step.number)}
        others = (next((each for each in numbers if each not in passed), step.after + 1) for numbers in trees)
        return any(number <= step.after for number in others)

    def _sent(self, key: Key, chain: _Chain, step: Step) -> Step:
        if step is chain.takes:
            chain.takes = None
        else:
            chain.last = None
        chain.sent = step
        self._moves.sent(step.number)
        self._make_ready(key, chain)
        return step

    def written(self, step: Step, answer: Object) -> None:
        """The server has it; what follows is made from its answer."""
        chain = self._chains[step.key]
        chain.sent, chain.made_from, chain.known = None, answer, step.status
        self._is_taken(step)
        self._moves.done(step.number)
        if chain.takes is None and chain.last is None:
            del self._chains[step.key]
        else:
            self._make_ready(step.key, chain)

    def _is_taken(self, step: Step) -> None:
        numbers = self._takes.get(step.root, {})
        numbers.pop(step.number, None)
        if not numbers:
            self._takes.pop(step.root, None)

    def forget_words(self, key: Key) -> None:
        """What was only to be said of a Workload, and was not sent yet, is not: it is looked at again."""
        chain = self._chains.get(key)
        if chain is not None and chain.sent is None and chain.takes is None:
            assert chain.last is not None
            if chain.last.urgency > Urgency.GIVES:
                del self._chains[key]
                self._make_ready(key, None)

    def forget(self, failed: Step) -> set[Key]:
        """This was not written, and nothing that is not on its way is to be; whose all that was. What is on its way is
        safe by itself, since everything that it waited for is written."""
        keys = set(self._chains)
        flying = {key: each.sent for key, each in self._chains.items() if each.sent not in (None, failed)}
        self._chains = {key: replace(self._chains[key], takes=None, last=None) for key in flying}
        self._takes.clear()
        for step in sorted((step for step in flying.values() if step and step.number), key=lambda step: step.number):
            self._takes.setdefault(step.root, {})[step.number] = None
        self._given.clear()
        self._moves.keep(step.number for step in flying.values() if step)
        self._places.clear()
        for trees in self._ready:
            trees.clear()
        return keys

    def replant(self) -> None:
        """Trees were changed: what is being taken in one of them may be given in any."""
        steps = [step for chain in self._chains.values() for step in (chain.sent, chain.takes) if step and step.number]
        for step in steps:
            step.root = ANY
        self._takes = (
            {ANY: {step.number: None for step in sorted(steps, key=lambda step: step.number)}} if steps else {}
        )
        for key, chain in self._chains.items():
            self._make_ready(key, chain)

    def hold_back(self, key: Key) -> None:
        """Nothing of this Workload is sent until it is let go."""
        self._held_back.add(key)
        self._make_ready(key, self._chains.get(key))

    def let_go(self, key: Key) -> None:
        """It may be sent again."""
        self._held_back.discard(key)
        self._make_ready(key, self._chains.get(key))


def _told(step: Step | None) -> tuple[Plan, ...]:
    return step.told if step is not None else ()
