"""What is judged when an application is changed that is there already.

    larger than granted   it stays at what was granted; what is wanted is remembered, and asked for
    let go by hand        it stays held until its Workload is admitted
    held by hand          it goes on: a manifest that is applied again says `suspend: true`, and means no harm
    another Queue         free to choose while it is held; what runs, runs on what one Queue granted
    Tidegate's own notes  are put back where somebody left them out

All of it can be told from the object as it was and as it is to be: what was granted is noted on it, and that note is
written only by who may grant. So Tidegate's own writes pass unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.controller.doors.door import Door, RefusedError, Submitter
from tidegate.kube.wire import Object
from tidegate.model.jobs import JobKind, Kinds, Obj, inside, is_finished, is_gated, is_suspended, with_suspend
from tidegate.workloads import (
    WORKLOAD,
    Growth,
    granted_to,
    held_as_it_is,
    hold_pods,
    holds,
    is_part,
    is_run_here,
    marked_as,
    remembering,
    within_grant,
    workload_name,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """An object as it is to be stored, and what whoever wrote it is told."""

    obj: Obj
    warnings: tuple[str, ...] = ()


class UpdateDoor:
    """Judges what is changed, by the same sight as the door that judges what is created."""

    def __init__(self, door: Door, kinds: Kinds) -> None:
        self._door = door
        self._kinds = kinds

    def judge(
        self,
        old: Object,
        new: Object,
        namespace: str,
        by: Submitter,
        *,
        maker: Object | None = None,
        believed: bool = False,
    ) -> Judged:
        """The object as it is to be stored; RefusedError where it is not to be changed so. `believed`: whether `by` may
        write what is granted, and so what was written into applications."""
        entry = self._kinds.find(new)
        if entry is None or (entry.kind == "Pod" and not entry.group) or not self._door.rules_in(namespace):
            return Judged(new)
        if inside(new, ("metadata",)).get("deletionTimestamp") or is_part(entry, new, self._kinds):
            return Judged(new)
        new = new if believed else dict(remembering(new, old))
        before, after = (self._door.queue_for(entry, each, namespace, maker=maker) for each in (old, new))
        if before is None and after is None:
            return Judged(new)
        if before != after:
            self._moved(entry, old, before, after)
            self._door.check(str(after), namespace, by)
        if is_run_here(entry) or entry.makes is not None or is_finished(entry, new):
            return Judged(new)
        return self._gated(entry, old, new) if is_gated(entry) else self._held(entry, old, new)

    def _moved(self, entry: JobKind, old: Object, before: str | None, after: str | None) -> None:
        called = f"{entry.kind} {old['metadata'].get('name')}"
        if after is None:
            raise RefusedError(f"{called} would be in no Queue; name another one, or delete it and create it anew")
        if before is not None and entry.makes is None and _runs(entry, old):
            workload = workload_name(self._kinds.prefix(entry), str(old["metadata"].get("name")))
            raise RefusedError(
                f"{called} runs on what Queue {before} granted, so it stays there; "
                f"set spec.active of Workload {workload} to false first, and to true when it has moved"
            )

    def _gated(self, entry: JobKind, old: Object, new: Object) -> Judged:
        """Its pods go on being made behind a gate, however it is written anew."""
        if WORKLOAD not in inside(old, ("metadata", "annotations")):
            return Judged(new)  # The operator holds its pods, which is a rollout, when it has seen it.
        name = workload_name(self._kinds.prefix(entry), str(new["metadata"].get("name")))
        marked = marked_as(new, old)
        return Judged(hold_pods(entry, marked, name, granted_to(marked), kinds=self._kinds))

    def _held(self, entry: JobKind, old: Object, new: Object) -> Judged:
        if is_suspended(entry, new):
            if is_suspended(entry, old) or not granted_to(old) or holds(new):
                return Judged(new)
            on = self._held(entry, old, dict(with_suspend(entry, new, False)))
            return Judged(on.obj, (self._goes_on(entry, new), *on.warnings))
        marked = marked_as(new, old)
        if not granted_to(marked):
            said = "it stays held until its Workload is admitted; `tidegate why` tells what it waits for"
            return Judged(held_as_it_is(entry, marked), (said,) if is_suspended(entry, old) else ())
        kept, growth = within_grant(entry, old, marked, kinds=self._kinds)
        is_new = kept != new
        return Judged(kept, tuple(_told(each) for each in growth) if is_new else ())

    def _goes_on(self, entry: JobKind, obj: Object) -> str:
        workload = workload_name(self._kinds.prefix(entry), str(obj["metadata"].get("name")))
        return f"it goes on; to stop it, set spec.active of Workload {workload} to false, and to true to let it go on"


def _runs(entry: JobKind, obj: Obj) -> bool:
    if is_run_here(entry):
        return bool(inside(obj, ("status",)).get("running"))
    return any(granted_to(obj).values()) if is_gated(entry) else not is_suspended(entry, obj)


def _told(growth: Growth) -> str:
    shape = growth.shape
    field = ".".join(map(str, shape.resize)) if shape.resize is not None else shape.name
    return f"{field}: {shape.count} pods are asked for; it runs with the {growth.allowed} that are granted until then"
