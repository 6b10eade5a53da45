"""Giving applications what was granted, once it is written down: let go, resized, held; gates lifted.

From the first word to an application until its answer, everything it may start counts as if it were there: else its
room could be given away while it is being let go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from tidegate.controller.applications.form import Flavors
from tidegate.controller.doing import Deed, Doing
from tidegate.controller.kinds import Key
from tidegate.controller.looking import Looking
from tidegate.controller.seen.workloads import holds
from tidegate.controller.told.room import falls, room_of
from tidegate.controller.underway import Underway
from tidegate.controller.watch.changes import Changes
from tidegate.kube.answers import StatusError
from tidegate.model.kinds import Workload
from tidegate.scheduler import PodSet as SeenPodSet
from tidegate.scheduler import Workload as SeenWorkload

_UNWELL = 500
"""A server that says so or worse may have done what it was asked for."""


class Hands(Protocol):
    """Who writes to applications of one sort."""

    def is_ours(self, workload: Workload) -> bool:
        """Whether these are the ones for this Workload."""

    async def carry_out(
        self, workload: Workload, seen: SeenWorkload, flavors: Flavors, *, stands: Callable[[], bool]
    ) -> None:
        """Give its application the form that what was granted calls for. `stands`: whether nothing of that was taken
        back since; who starts several things asks before each."""


class Carrying:
    """What was granted, given to applications. Of each Workload one thing at a time."""

    def __init__(
        self,
        hands: Sequence[Hands],
        looking: Looking,
        underway: Underway,
        doing: Doing,
        *,
        look: Callable[[Key], None],
        changes: Changes,
    ) -> None:
        """`look` puts what there is of a Workload before the planner."""
        self._hands = hands
        self._looking = looking
        self._underway = underway
        self._doing = doing
        self._look = look
        self._changes = changes
        self.flavors: Flavors = {}

    def carry_out(self, key: Key) -> None:
        """See to it that an application has what its Workload's status, as it is written, grants it."""
        workload = self._looking.written(key)
        if workload is not None and (workload.spec.owner is not None or workload.metadata.name.startswith("podgroup-")):
            self._doing.do(Deed(key, "carry out", partial(self._one, key), partial(self._changes.mark, [key])))

    async def _one(self, key: Key) -> None:
        found = self._looking.granted(key)
        if self._underway.is_taken_from(key):
            return  # What is about to be taken is not given; this is done again when that is written.
        if found is None:
            self._arrived(key)
            return
        workload, seen = found
        if holds(workload, "Admitted") and seen.admitted_at is None and seen.active:
            return  # It is on its way from one flavor to another: what stays does not go. Likewise.
        hands = next(each for each in self._hands if each.is_ours(workload))
        going = self._looking.going
        if key not in going and any(_may_start_more(each) for each in seen.pod_sets):
            going[key] = seen
            self._look(key)
        try:
            await hands.carry_out(workload, seen, self.flavors, stands=partial(self._stands, key, workload))
        except OSError:
            raise  # It may be let go, now or later: that counts until there is an answer.
        except StatusError as refused:
            if refused.code < _UNWELL:
                self._arrived(key)
            raise
        self._arrived(key)

    def _stands(self, key: Key, workload: Workload) -> bool:
        """Whether all that it was granted then is still its own, by what is written and by what is decided: what was
        taken back and is to be given again may not start before that is written."""
        then = room_of(workload.status)
        views = (self._looking.written(key), self._looking.workload(key))
        return all(now is not None and not falls(then, room_of(now.status)) for now in views)

    def _arrived(self, key: Key) -> None:
        """What there is of it tells now what it may start. Who waited for its room may have waited for nothing."""
        if self._looking.going.pop(key, None) is not None:
            self._look(key)
            self._changes.wake()


def _may_start_more(pods: SeenPodSet) -> bool:
    """Whether more of them may start than are there."""
    free = {flavor: count - pods.held.get(flavor, 0) for flavor, count in pods.granted.items()}
    return any(count > pods.present.get(flavor, 0) for flavor, count in free.items())
