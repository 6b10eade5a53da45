"""The pods of an object, by shape: how many are wanted, with how many it can start, and what each takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidegate.model.jobs.entry import JobKind, PodSetRule
from tidegate.model.jobs.language.counts import MOST, Number
from tidegate.model.jobs.language.edit import put
from tidegate.model.jobs.language.paths import JobError, JobPath, Obj, Scope, fill, mapping, sequence
from tidegate.model.jobs.pods.groups import grouped
from tidegate.model.jobs.pods.places import PodPlace, node_selector, place_of
from tidegate.model.jobs.pods.requests import container_requests, pod_requests, requested
from tidegate.model.jobs.pods.spark import spark_requests
from tidegate.model.problems import Path
from tidegate.model.resources import NOTHING, Resources

MIN_COUNT, MAX_COUNT = "tidegate.dev/min-count", "tidegate.dev/max-count"
_UNFIT = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetShape:
    """The pods of one shape of one object."""

    name: str
    """Fit for a Workload's pod set: a DNS label, unique in the object."""
    role: str
    """As the object calls it."""
    count: int
    floor: int
    ceiling: int | None = None
    """The most it can grow to; None: it does not grow by itself beyond its count."""
    gang: int
    """How many its own operator reserves together at the start."""
    later: bool = False
    """Made only once pods of another set run."""
    step: int = 1
    group: str = ""
    """The label that tells groups of its pods apart."""
    pod_set: str = ""
    """The pod set of the Workload that its pods are counted in: its own name, or that of a set it forms groups with."""
    requests: Resources = NOTHING
    """Of one pod, effective."""
    containers: Resources = NOTHING
    """Of one pod, summed over its containers as written, without what is added or runs before them."""
    written: Mapping[str, str] = field(default_factory=dict)
    """`requests` in the notation the kind's own operator uses."""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    """Labels a node must have to run them, wherever that is said."""
    extra: Resources = NOTHING
    """Part of `requests`: containers the operator adds."""
    mixes: bool = False
    workers: bool = False
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels by which its pods are known; a pod is of the first set whose labels it has. Empty: known by owner."""
    reclaimed: int = 0
    """Pods that ended well, whose quota comes back."""
    active: int = 0
    """Pods that there are, as the object's own controller says."""
    place: PodPlace | None = None
    """Where the object describes these pods; None where another object does."""
    foreign: PodPlace | None = None
    """Where that other object describes them."""
    overrides: Path | None = None
    """Where the object changes pods that another object describes."""
    resize: Path | None = None
    """Where the object says how many of them run at once, if that may be lowered."""


Find = Callable[[Obj], JobKind | None]


def podsets(
    entry: JobKind, obj: Obj, *, referred: Obj | None = None, find: Find | None = None
) -> tuple[PodSetShape, ...]:
    """The pod sets of an object, in the order of its kind's entry. `referred` is the object it names by `refers`, if
    known; `find` looks up kinds of objects it carries. JobError says which field cannot be read."""
    shapes = list(_of_rules(entry, obj, referred))
    if entry.wraps is not None:
        from tidegate.model.jobs.pods.wrapped import wrapped_shapes

        shapes += wrapped_shapes(entry.wraps, obj, find)
    stated = tuple(_with_annotations(_uniquely_named(shapes), obj))
    return grouped(stated, one_by_one=entry.suspend is None)


def _of_rules(entry: JobKind, obj: Obj, referred: Obj | None) -> Iterator[PodSetShape]:
    for rule in entry.pod_sets:
        for scope in _scopes(rule, Scope(obj, referred=referred, strict=True)):
            if rule.when is None or rule.when.holds(scope):
                shape = _shape(entry, rule, scope)
                if shape is not None:
                    yield shape


def _scopes(rule: PodSetRule, scope: Scope) -> Iterator[Scope]:
    if rule.each is None:
        yield _named(rule, scope)
        return
    for found in rule.each.all(scope):
        mapping(found.value, found.path)
        yield _named(rule, replace(scope, item=found.value, at=found.path, key=str(found.path[-1])))


def _named(rule: PodSetRule, scope: Scope) -> Scope:
    """A list's items are known by the name they give themselves, a map's entries by theirs."""
    by_path = rule.name.startswith((".", "@"))
    said = _said(JobPath.parse(rule.name), scope) if by_path else fill(rule.name, scope)
    return replace(scope, name=said.lower(), key=said if by_path else scope.key or said)


def _said(path: JobPath, scope: Scope) -> str:
    found = path.first(scope)
    if found is not None and not isinstance(found.value, str):
        raise JobError(found.path, f'"{found.value}" is not a name; write text, in quotes where it looks like a number')
    return "" if found is None else str(found.value)


def _shape(entry: JobKind, rule: PodSetRule, scope: Scope) -> PodSetShape | None:
    sized = _sized(rule, scope)
    if sized is None:
        return None
    count = rule.count.of(scope) or 0
    floor = _or(rule.floor, scope, count)
    gang = min(_or(rule.gang, scope, floor), MOST)
    ceiling = rule.ceiling.of(scope) if rule.ceiling else None
    labels = entry.children if rule.children is None else rule.children
    return replace(
        sized,
        name=scope.name,
        role=scope.key or scope.name,
        node_selector=node_selector(rule, scope, sized.place or sized.foreign),
        count=count,
        floor=min(floor, count),
        gang=gang,
        later=rule.later is not None and rule.later.holds(scope),
        ceiling=None if ceiling is None else max(ceiling, min(floor, count)),
        step=max(rule.step.of(scope) or 1, 1),
        group=rule.group,
        mixes=rule.mixes,
        workers=rule.workers,
        selector=_selector({**labels, **rule.pods}, scope),
        reclaimed=_reclaimed(rule, scope, count),
        active=_or(rule.active, scope, 0),
        overrides=rule.overrides.place(scope) if rule.overrides else None,
        resize=rule.resize.place(scope) if rule.resize else None,
    )


def _selector(labels: Mapping[str, str], scope: Scope) -> dict[str, str]:
    """Empty while the object does not say yet what its pods are labelled with, since half a selector finds too much."""
    filled = {key: fill(value, scope) for key, value in labels.items()}
    return filled if all(filled.values()) else {}


def _or(number: Number | None, scope: Scope, otherwise: int) -> int:
    value = number.of(scope) if number else None
    return otherwise if value is None else value


def _reclaimed(rule: PodSetRule, scope: Scope, count: int) -> int:
    """Pods that will not be needed again: the count, less what is still to be done."""
    if rule.done is None:
        return 0
    left = max(_or(rule.total, scope, count) - (rule.done.of(scope) or 0), 0)
    return max(count - left, 0) if rule.done.of(scope) else 0


def _sized(rule: PodSetRule, scope: Scope) -> PodSetShape | None:
    """The amounts of one pod; None where the object has no such pods."""
    place = place_of(rule, scope)
    own, foreign = (None, place) if place and place.foreign else (place, None)
    blank = PodSetShape(name="", role="", count=0, floor=0, gang=0, place=own, foreign=foreign)
    if rule.resources is not None:
        found = rule.resources.first(scope)
        each = requested(found.value, found.path) if found else NOTHING
        return replace(blank, requests=each, containers=each, written=each.quantities())
    if rule.spark is not None:
        app = rule.spark.app.first(scope)
        if app is None:
            return None
        sized = spark_requests(mapping(app.value, app.path), rule.spark.role, app.path)
        return replace(blank, requests=sized.requests, containers=sized.containers, written=sized.written)
    if place is None:
        return None
    return _of_pod(rule, scope, blank, place)


def _of_pod(rule: PodSetRule, scope: Scope, blank: PodSetShape, place: PodPlace) -> PodSetShape:
    pod = _replaced(rule, scope, place.pod_content, place.pod)
    beside, first, reserved = _extras(rule, scope)
    status = mapping(scope.root.get("status"), ("status",)) if place.is_object else None
    total = pod_requests(pod, place.pod, status=status, init=first, beside=beside)
    plain = container_requests(pod, place.pod)
    return replace(blank, requests=total, containers=plain + reserved, written=total.quantities(), extra=beside)


def _replaced(rule: PodSetRule, scope: Scope, pod: Obj, path: Path) -> Obj:
    """The pod, with the resources that the object itself states for one of its containers."""
    said = rule.replaces
    found = said.path.first(scope) if said and (said.when is None or said.when.holds(scope)) else None
    if said is None or found is None or not mapping(found.value, found.path):
        return pod
    requested(found.value, found.path)  # What is wrong with them is named where they are.
    for index, each in enumerate(sequence(pod.get("containers"), (*path, "containers"))):
        if not said.container or mapping(each, (*path, "containers", index)).get("name") == said.container:
            changed: Obj = put(pod, ("containers", index, "resources"), found.value)
            return changed
    return pod


def _extras(rule: PodSetRule, scope: Scope) -> tuple[Resources, list[Resources], Resources]:
    """What the operator adds beside the containers, what it runs before them, and what of it it counts in a gang."""
    beside, first, reserved = NOTHING, [], NOTHING
    for extra in rule.extras:
        if extra.when is not None and not extra.when.holds(scope):
            continue
        found = extra.path.first(scope) if extra.path else None
        each = requested(found.value, found.path) if found else extra.requests
        if extra.init:
            first.append(each)
        else:
            beside += each
        if extra.gang:
            reserved += each
    return beside, first, reserved


def fit_name(said: str) -> str:
    """A DNS label made of what an object calls something."""
    return _UNFIT.sub("-", said.lower()).strip("-")[:63].strip("-") or "main"


def _uniquely_named(shapes: list[PodSetShape]) -> list[PodSetShape]:
    taken: set[str] = set()
    result = []
    for shape in shapes:
        name, number = fit_name(shape.name), 2
        while name in taken:
            name, number = f"{fit_name(shape.name)[:58].strip('-')}-{number}", number + 1
        taken.add(name)
        result.append(replace(shape, name=name))
    return result


def _with_annotations(shapes: list[PodSetShape], obj: Obj) -> Iterator[PodSetShape]:
    """Floors and ceilings a person states on the application count before those its kind states."""
    metadata = mapping(obj.get("metadata"), ("metadata",))
    annotations = mapping(metadata.get("annotations"), ("metadata", "annotations"))
    for shape in shapes:
        floor = _stated(annotations, MIN_COUNT, shape)
        ceiling = _stated(annotations, MAX_COUNT, shape)
        if ceiling is not None:
            if floor is not None and floor > ceiling:
                said = (
                    f"{ceiling} is less than the {floor} that it starts with; make {MIN_COUNT} smaller, or this larger"
                )
                raise JobError(("metadata", "annotations", MAX_COUNT), said)
            if floor is None and shape.floor > ceiling:
                floor = ceiling  # Who never wants more than that starts with it.
        if floor is not None and floor > shape.count:
            floor = shape.count
        yield replace(
            shape,
            floor=shape.floor if floor is None else floor,
            gang=shape.gang if floor is None else floor,
            ceiling=shape.ceiling if ceiling is None else ceiling,
        )


def _stated(annotations: Mapping[str, Any], key: str, shape: PodSetShape) -> int | None:
    for name in (f"{key}.{shape.name}", key if shape.workers else ""):
        if name and name in annotations:
            text = str(annotations[name])
            if not text.isascii() or not text.isdigit() or int(text) > MOST:
                how = 'write a whole number in quotes, e.g. "2"'
                raise JobError(("metadata", "annotations", name), f'"{text}" is not a count of pods; {how}')
            return int(text)
    return None
