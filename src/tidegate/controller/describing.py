"""What applications and pods ask for, written down as Workloads, beside the circle."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

from tidegate.controller.applications.gated import GatedPods
from tidegate.controller.applications.objects import Applications
from tidegate.controller.doing import Deed, Doing
from tidegate.controller.kinds import Key
from tidegate.controller.looking import Looking
from tidegate.controller.watch.changes import Changes
from tidegate.kube.wire import Object


class Describing:
    """Who is being asked for anew."""

    def __init__(
        self, applications: Applications, gated: GatedPods, looking: Looking, doing: Doing, changes: Changes
    ) -> None:
        self._applications = applications
        self._gated = gated
        self._looking = looking
        self._doing = doing
        self._changes = changes
        self.keys: set[Key] = set()
        """Workloads of which that is not written yet: they are looked at when it is, with what it says."""
        self._written: set[Key] = set()
        """Those of which it was since the last cycle."""

    def begin(self, applications: list[Object], waiting: set[Key]) -> None:
        """Ask for these applications, and for pods that wait for these Workloads. Who has just been asked for is looked
        at first: one whose pods come and go all the time never would be."""
        looked_at, self._written = self._written, set()
        for deed in self._deeds(applications, waiting):
            if deed.key in looked_at:
                deed.again()
            else:
                self.keys.add(deed.key)
                self._doing.do(deed)

    def _deeds(self, applications: list[Object], waiting: set[Key]) -> Iterator[Deed]:
        for obj in applications:
            key, again = self._applications.workload_key(obj), partial(self._changes.add, obj)
            work = partial(self._one, key, partial(self._applications.describe, obj))
            yield Deed(key, "describe", work, again, about=obj)
        for key in sorted(waiting):
            again = partial(self._changes.add_pods, key)
            yield Deed(key, "ask for pods", partial(self._one, key, partial(self._pods, key)), again)

    def _pods(self, key: Key) -> Coroutine[Any, Any, None]:
        """Ask for pods that wait: by the application that made them, or by themselves."""
        workload = self._looking.workload(key)
        found = self._applications.owner_of(workload) if workload else None
        return self._gated.describe(key) if found is None else self._applications.describe(found[1])

    async def _one(self, key: Key, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        finally:
            self.keys.discard(key)
            self._written.add(key)
            self._changes.mark([key])
