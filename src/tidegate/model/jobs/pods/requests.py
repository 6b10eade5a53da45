"""What one pod takes from a node, counted as Kubernetes' scheduler counts it.

Containers run together, so they add up. Init containers run before them one by one, so only the largest counts; those
that are restarted (sidecars) stay, and count with all that comes after them. Amounts of the pod as a whole replace
the sum, the runtime's overhead comes on top, and a pod that is being resized holds the larger of old and new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.model.jobs.language.paths import JobError, Obj, mapping, sequence
from tidegate.model.problems import Path
from tidegate.model.resources import NOTHING, Resources

_POD_LEVEL = ("cpu", "memory")


def amounts(raw: Any, path: Path) -> Resources:
    """Quantities by resource, as an object states them."""
    # A number without quotes is a quantity to Kubernetes, with or without a point.
    stated = mapping(raw, path)
    plain = {str(name): str(value) if isinstance(value, float) else value for name, value in stated.items()}
    try:
        return Resources.parse(plain)
    except ValueError:
        raise _first_wrong(plain, path) from None


def _first_wrong(plain: Mapping[str, Any], path: Path) -> JobError:
    for name, value in plain.items():
        try:
            Resources.parse({name: value})
        except ValueError as error:
            return JobError((*path, name), str(error))
    return JobError(path, "is not a list of amounts; write e.g. {cpu: 500m, memory: 1Gi}")


def requested(resources: Any, path: Path) -> Resources:
    """Requests, with limits standing in for those that are not stated."""
    stated = mapping(resources, path)
    limits = amounts(stated.get("limits"), (*path, "limits"))
    requests = amounts(stated.get("requests"), (*path, "requests"))
    named = set(stated.get("requests") or {})
    return requests + Resources({name: limits[name] for name in limits if name not in named})


def container_requests(pod: Obj, path: Path = (), field: str = "containers") -> Resources:
    """The sum over the pod's containers alone, as operators that make gangs compute it."""
    return sum((each for each, _ in _containers(pod, field, path)), NOTHING)


def pod_requests(
    pod: Obj,
    path: Path = (),
    *,
    status: Obj | None = None,
    init: Iterable[Resources] = (),
    beside: Resources = NOTHING,
) -> Resources:
    """What a pod with this spec takes. `init` are further init containers that run first, `beside` is what further
    containers take; `status` is that of a pod that exists, whose containers may hold more than the spec asks for."""
    held = _held(status or {})
    running = beside
    for each, container in _containers(pod, "containers", path):
        running += each.upper(held.get(str(container.get("name")), NOTHING))
    kept, largest = NOTHING, NOTHING
    for each in init:
        largest = largest.upper(each)
    for each, container in _containers(pod, "initContainers", path):
        if container.get("restartPolicy") == "Always":
            each = each.upper(held.get(str(container.get("name")), NOTHING))  # noqa: PLW2901
            kept += each
            largest = largest.upper(kept)
        else:
            largest = largest.upper(each + kept)
    total = (running + kept).upper(largest)
    return _whole(pod, path, total) + amounts(pod.get("overhead"), (*path, "overhead"))


def _containers(pod: Obj, field: str, path: Path) -> Iterable[tuple[Resources, Obj]]:
    for index, listed in enumerate(sequence(pod.get(field), (*path, field))):
        container = mapping(listed, (*path, field, index))
        yield requested(container.get("resources"), (*path, field, index, "resources")), container


def _whole(pod: Obj, path: Path, total: Resources) -> Resources:
    """Amounts of the pod as a whole, where it states any, in place of the sum over its containers."""
    stated = mapping(pod.get("resources"), (*path, "resources"))
    requests = amounts(stated.get("requests"), (*path, "resources", "requests"))
    limits = amounts(stated.get("limits"), (*path, "resources", "limits"))
    result = dict(total)
    said = set(stated.get("requests") or {})
    for name in {*said, *limits}:
        if name in _POD_LEVEL or name.startswith("hugepages-"):
            # Containers that say nothing of a resource leave the pod's limit as what is known; a 0 is said.
            result[name] = requests.of(name) if name in said else total.of(name) or limits.of(name)
    return Resources(result)


def _held(status: Obj) -> dict[str, Resources]:
    """By container: what the node has given it, which a resize under way may leave above what the spec says."""
    held: dict[str, Resources] = {}
    for field in ("containerStatuses", "initContainerStatuses"):
        for index, listed in enumerate(sequence(status.get(field), ("status", field))):
            path: Path = ("status", field, index)
            container = mapping(listed, path)
            stated = mapping(container.get("resources"), (*path, "resources"))
            actual = amounts(stated.get("requests"), (*path, "resources", "requests"))
            allocated = amounts(container.get("allocatedResources"), (*path, "allocatedResources"))
            held[str(container.get("name"))] = actual.upper(allocated)
    return held
