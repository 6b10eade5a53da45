"""What a Workload's status says that it holds, and how two of them differ in that."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from tidegate.model.kinds.shape import ConditionStatus
from tidegate.model.kinds.workload import PodSetStatus, WorkloadStatus

Room = dict[tuple[str, str, bool], int]
"""Pods by pod set and flavor: those granted, and (True) those of them that may start. Without a flavor, as less than
nothing, those that have ended: an application that may still start them takes their room."""


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


def is_whole(status: WorkloadStatus, floors: Mapping[str, int]) -> bool:
    """Whether it holds all of its floors, by pod set, or nothing."""
    holds = any(count > 0 for count in room_of(status).values())
    return not holds or all(each.granted >= floors.get(each.name, 0) for each in status.pod_sets)


def without_pods(status: WorkloadStatus) -> WorkloadStatus:
    """A status that holds nothing; whoever starts anew reads it as not admitted."""
    pod_sets = tuple(structs.replace(each, granted=0, flavors={}, held={}) for each in status.pod_sets)
    return structs.replace(status, pod_sets=pod_sets)


def without_gain(status: WorkloadStatus, before: WorkloadStatus) -> WorkloadStatus:
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
