"""All doors in one, for a server that asks in its own process: the same decisions of the same writes as by webhooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.controller.doors.door import Door, InvalidError, Submitter, signed
from tidegate.controller.doors.sight import Seen
from tidegate.controller.doors.tree import what_is_wrong
from tidegate.controller.doors.update import Judged, UpdateDoor
from tidegate.controller.kinds import CLUSTER_QUEUES, WORKLOADS
from tidegate.controller.namespaces import Managed
from tidegate.controller.watch.cache import Cache
from tidegate.kube.wire import Object
from tidegate.workloads import Above

_WORKLOADS, _TREE = (WORKLOADS.group, WORKLOADS.plural), (CLUSTER_QUEUES.group, CLUSTER_QUEUES.plural)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write that is asked about; `old` is what is stored now, None when it is created."""

    what: tuple[str, str]
    """Group and plural."""
    namespace: str
    obj: Object
    old: Object | None
    by: Submitter
    may_grant: Callable[[], bool]
    """Whether whoever writes may write the status of Workloads there."""
    above: Above
    """The owners that a pod names, as the server has them."""


class Judge:
    """Judges by what the operator knows."""

    def __init__(self, cache: Cache, managed: Managed) -> None:
        self._cache = cache
        self._managed = managed
        self._door = Door(Seen.of(cache), managed)
        self._updates = UpdateDoor(self._door, cache.kinds)
        self._applications = {(entry.group, entry.plural) for entry in cache.kinds.entries}

    def is_asked(self, what: tuple[str, str]) -> bool:
        """Whether objects of this group and plural are judged at all."""
        return what in self._applications or what in (_WORKLOADS, _TREE)

    def judge(self, write: Write) -> Judged:
        """The object as it is to be stored; RefusedError, or JobError with the field, where it is not to be."""
        if write.what == _TREE:
            return self._cluster_queue(write.obj)
        if write.what == _WORKLOADS:
            return self._workload(write)
        maker = self._cache.maker(write.obj, write.namespace)
        if write.old is not None:
            believed = write.may_grant()
            return self._updates.judge(write.old, write.obj, write.namespace, write.by, maker=maker, believed=believed)
        judged = self._door.judge(write.obj, write.namespace, write.by, maker=maker, above=write.above)
        warning = self._door.warning(write.obj, write.namespace)
        return Judged(judged, (warning,) if warning else ())

    def _workload(self, write: Write) -> Judged:
        """One that somebody makes by hand is signed like any application."""
        is_new = write.old is None and self._managed.is_managed(write.namespace)
        return Judged(signed(write.obj, write.by) if is_new and not write.may_grant() else write.obj)

    def _cluster_queue(self, obj: Object) -> Judged:
        if (wrong := what_is_wrong(obj, self._cache.cluster_queues.get)) is not None:
            raise InvalidError(wrong)
        return Judged(obj)
