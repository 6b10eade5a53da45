"""Which form an application is to have now: held, started, resized, or left alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from tidegate.model.jobs import JobKind, Kinds, Obj, inside, is_at_rest, is_finished, is_suspended
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.scheduler import PodSet as SeenPodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import (
    WORKLOAD,
    Allowance,
    Written,
    granted_to,
    held_as_it_is,
    next_step,
    start,
    stop,
    written_into,
)

Flavors = Mapping[str, ResourceFlavorSpec]


def allowance(flavor: str, count: int, flavors: Flavors) -> Allowance:
    """So many pods of a flavor, and what they need to be placed on its nodes."""
    spec = flavors.get(flavor, ResourceFlavorSpec())
    tolerations: tuple[Mapping[str, Any], ...] = tuple(msgspec.to_builtins(each) for each in spec.tolerations)
    return Allowance(count=count, flavor=flavor, node_labels=dict(spec.node_labels), tolerations=tolerations)


def allowances(seen: SeenWorkload, flavors: Flavors, *, runs: bool = False) -> dict[str, Allowance] | None:
    """By pod set: what may run now; None while the whole floor may not, or nothing at all. One that `runs` goes on with
    what it has while it waits for the rest of a floor that was raised."""
    result: dict[str, Allowance] = {}
    if not any(sum(each.granted.values()) > sum(each.held.values()) or not each.wanted for each in seen.pod_sets):
        # Shrunk to nothing is held: another flavor may be granted next, and only what is held may be given another.
        return None
    for pod_set in seen.pod_sets:
        free = {flavor: count - pod_set.held.get(flavor, 0) for flavor, count in pod_set.granted.items()}
        count = sum(free.values())
        if count < min(pod_set.least, pod_set.wanted) and not runs:
            return None
        # With all it can still use, it is left as it wants to be: places of pods that ended need not be taken away.
        count = pod_set.count if count >= pod_set.wanted else count
        flavor = next(iter(pod_set.granted), next(iter(pod_set.present), ""))
        result[pod_set.name] = allowance(flavor, count, flavors)
    return result


def wanted_form(
    entry: JobKind, obj: Obj, seen: SeenWorkload, flavors: Flavors, *, kinds: Kinds, referred: Obj | None = None
) -> Obj:
    """The application as it is to be; itself where nothing is to be done, or not yet."""
    if is_finished(entry, obj):
        return obj
    runs = not is_suspended(entry, obj) and bool(granted_to(obj))
    allowed = allowances(seen, flavors, runs=runs) if seen.admitted_at is not None and seen.active else None
    is_empty = not any(pod_set.present for pod_set in seen.pod_sets)
    if allowed is None:
        if not is_suspended(entry, obj):
            return held_as_it_is(entry, obj)
        # What was written into it comes out once nothing of it runs; before that many kinds would refuse.
        return stop(entry, obj) if is_empty and is_at_rest(entry, obj) else obj
    if is_suspended(entry, obj) and not (is_empty and is_at_rest(entry, obj)):
        return obj  # Pods of last time are still going, or may still come: their room is not free for new ones yet.
    name, queue = seen.name.partition("/")[2], seen.queue.partition("/")[2]
    if not is_suspended(entry, obj) and inside(obj, ("metadata", "annotations")).get(WORKLOAD) != name:
        # It ran before anybody could hold it. What is granted cannot be written into what runs.
        return held_as_it_is(entry, obj)
    loose = written_into(entry, obj, referred=referred, kinds=kinds)
    allowed = {name: _kept(each, loose.get(name)) for name, each in allowed.items()}
    if any(_moved(allowed.get(name), there) for name, there in loose.items()):
        return held_as_it_is(entry, obj)
    if not is_suspended(entry, obj) and any(map(_is_elsewhere, seen.pod_sets)):
        return held_as_it_is(entry, obj)
    queue = next((there.queue for there in loose.values() if there.queue), queue)
    started = start(entry, obj, name, allowed, queue=queue, referred=referred, kinds=kinds)
    return next_step(entry, obj, started)


def _kept(allowed: Allowance, there: Written | None) -> Allowance:
    """As what runs was let go, but for its size. A flavor may say something else by now, which is for those who start;
    and one whose pods have all ended is granted none any more, until it says itself that it is over. One whose pods
    wait at a gate goes on so: its own operator may take any other word in its template for a new version."""
    if there is None or (allowed.flavor and allowed.flavor != there.flavor and not there.waits):
        return allowed
    return replace(allowed, flavor=there.flavor, node_labels=there.node_labels, tolerations=there.tolerations)


def _moved(allowed: Allowance | None, there: Written) -> bool:
    """Whether its pods are to be of another flavor than it was let go with. It lost that one and was given this one, at
    a stroke, or was let go with no pods at all: it is held first, and let go anew when nothing of it runs."""
    if allowed is None or not allowed.count or not (there.flavor or there.tells):
        return False
    return allowed.flavor != there.flavor


def _is_elsewhere(pods: SeenPodSet) -> bool:
    """Whether some of its pods are of a flavor that it is not granted. Whoever makes them had not heard that it was
    held and given another, so that they came when it was thought to be empty; they would do its work there."""
    there = {flavor for flavor, count in pods.present.items() if count > pods.coming.get(flavor, 0)}
    return bool(pods.granted) and not pods.mixes and not there <= pods.granted.keys()
