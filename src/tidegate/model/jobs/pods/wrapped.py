"""Pods of objects that another one carries, as an AppWrapper carries them: declared by path, or known by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tidegate.model.jobs.entry import JobKind, Wrapped
from tidegate.model.jobs.language.edit import inside, peek
from tidegate.model.jobs.language.paths import Found, JobError, JobPath, Obj, Scope, mapping, sequence
from tidegate.model.jobs.pods.places import Form, PodPlace
from tidegate.model.jobs.pods.requests import container_requests, pod_requests
from tidegate.model.jobs.pods.shapes import PodSetShape, podsets
from tidegate.model.problems import Path

Find = Callable[[Obj], JobKind | None]


def wrapped_shapes(wraps: Wrapped, obj: Obj, find: Find | None) -> Iterator[PodSetShape]:
    """Pod sets of every component, in order."""
    for index, component in enumerate(wraps.each.all(Scope(obj, strict=True))):
        mapping(component.value, component.path)
        scope = Scope(obj, item=component.value, at=component.path, strict=True)
        carried = wraps.object.first(scope)
        more = wraps.overrides.place(scope) if wraps.overrides else None
        declared = sequence(wraps.pod_sets.value(scope), (*component.path, "podSets"))
        if declared:
            for number, said in enumerate(declared):
                name = f"component-{index}-{number}" if len(declared) > 1 else f"component-{index}"
                shape = _declared(component, mapping(said, (*component.path, "podSets", number)), name, number)
                yield _overridden(shape, more, number)
        elif carried is not None:
            for number, shape in enumerate(_known(carried, find, index)):
                yield _overridden(shape, more, number)


def _overridden(shape: PodSetShape, overrides: Path | None, number: int) -> PodSetShape:
    """Its pods are changed by the item of their number, and how many they are by nobody."""
    if overrides is None:
        return shape
    place = None if shape.place is None else replace(shape.place, overrides=(*overrides, number))
    return replace(shape, resize=None, overrides=None, place=place)


def _known(carried: Found, find: Find | None, index: int) -> Iterator[PodSetShape]:
    entry = find(mapping(carried.value, carried.path)) if find else None
    if entry is None:
        return
    for shape in podsets(entry, carried.value, find=find):
        yield replace(
            shape,
            name=f"component-{index}-{shape.name}",
            place=None if shape.place is None else shape.place.under(carried.path),
            overrides=None if shape.overrides is None else (*carried.path, *shape.overrides),
            resize=None if shape.resize is None else (*carried.path, *shape.resize),
        )


def _steps(said: object, at: Path) -> Path:
    """A path as components write it: template.spec.groups[0].template."""
    try:
        path = JobPath.parse(f".{said.lstrip('.')}" if isinstance(said, str) else said)
        if path.steps:
            return path.place(Scope({}))
        raise ValueError
    except (ValueError, TypeError):
        raise JobError(at, f'"{said}" is not a path; write it like template.spec.groups[0].template') from None


def _declared(component: Found, said: Obj, name: str, number: int) -> PodSetShape:
    """A pod set named by its path in the component, such as `template.spec.template`."""
    own: Path = (*component.path, "podSets", number)
    steps = _steps(said.get("path"), (*own, "path"))
    content = peek(component.value, steps)
    at: Path = (*component.path, *steps)
    if not isinstance(content, Mapping):
        raise JobError(at, "is not there; correct the path in podSets")
    pod = mapping(content.get("spec"), (*at, "spec"))
    each = pod_requests(pod, (*at, "spec"))
    count = said.get("replicas", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise JobError((*own, "replicas"), f'"{count}" is not a count of pods; write a whole number')
    place = PodPlace(
        form=Form.TEMPLATE,
        labels=(*at, "metadata", "labels"),
        annotations=(*at, "metadata", "annotations"),
        pod=(*at, "spec"),
        content=content,
    )
    return PodSetShape(
        name=name,
        role=name,
        count=count,
        floor=count,
        gang=count,
        requests=each,
        containers=container_requests(pod, (*at, "spec")),
        written=each.quantities(),
        node_selector={str(key): str(value) for key, value in inside(pod, ("nodeSelector",)).items()},
        place=place,
    )
