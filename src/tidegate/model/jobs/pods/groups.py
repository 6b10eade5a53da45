"""Pods that run in groups: floors and ceilings of whole groups, and sets that are counted as one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.model.jobs.pods.shapes import PodSetShape

Shapes = tuple["PodSetShape", ...]


def grouped(shapes: Shapes, *, one_by_one: bool) -> Shapes:
    """Every floor and ceiling is one of whole steps; sets that form groups together start with as many of them.
    `one_by_one`: whether their pods are let go one by one, as many as are granted; else all of them are."""
    together = tuple(shape for shape in shapes if one_by_one and shape.group and shape.count)
    floor = min((_up(shape.floor, shape.step) for shape in together), default=0)
    ceilings = [shape.ceiling // shape.step for shape in together if shape.ceiling is not None]
    ceiling = min(ceilings) if ceilings else None
    joint = _joint(together)
    return tuple(
        _of_groups(shape, floor, ceiling, joint or shape.name)
        if shape in together
        else _of_groups(shape, _up(shape.floor, shape.step), None, shape.name)
        for shape in shapes
    )


def _of_groups(shape: PodSetShape, floor: int, ceiling: int | None, pod_set: str) -> PodSetShape:
    """With a floor, and perhaps a ceiling, of so many groups."""
    most = shape.ceiling if ceiling is None else ceiling * shape.step
    return replace(shape, floor=min(floor * shape.step, shape.count), ceiling=most, pod_set=pod_set)


def _joint(together: Shapes) -> str:
    """The name of the one set that they are counted in, where each pod of a group asks for the same; else none."""
    if len({(shape.requests, tuple(sorted(shape.node_selector.items()))) for shape in together}) != 1:
        return ""
    return next((shape.name for shape in together if shape.workers), together[0].name)


def _up(pods: int, step: int) -> int:
    """Groups that so many pods are, the last of them perhaps not whole."""
    return -(-pods // step)
