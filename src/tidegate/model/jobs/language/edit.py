"""New objects from old: what is on the way to the changed place is copied, the rest is shared, nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.model.jobs.language.paths import Obj, mapping, sequence
from tidegate.model.problems import Path


def put(obj: Any, path: Path, value: Any, at: Path = ()) -> Any:
    """The object with `value` at `path`; maps on the way are made where there are none. `at`: where the object itself
    is, for whoever is told that something else is on the way."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    here = (*at, step)
    if isinstance(step, int):
        return [put(each, rest, value, here) if index == step else each for index, each in enumerate(sequence(obj, at))]
    copied = dict(mapping(obj, at))
    return copied | {step: put(copied.get(step), rest, value, here)}


def peek(obj: Any, path: Path) -> Any:
    """What is at `path`; None where there is nothing."""
    for step in path:
        if isinstance(step, int):
            obj = obj[step] if isinstance(obj, list | tuple) and step < len(obj) else None
        else:
            obj = obj.get(step) if isinstance(obj, Mapping) else None
    return obj


def inside(obj: Any, path: Path) -> Obj:
    """The map at `path`, empty where there is none; JobError where something else is."""
    return mapping(peek(obj, path), path)


def without(obj: Any, path: Path) -> Any:
    """The object without what is at `path`."""
    *way, last = path
    around = peek(obj, tuple(way))
    if not isinstance(around, Mapping) or last not in around:
        return obj
    return put(obj, tuple(way), {name: value for name, value in around.items() if name != last})


def merge(obj: Any, path: Path, entries: Mapping[str, Any]) -> Any:
    """The object with these entries in the map at `path`, over what is there."""
    return put(obj, path, {**inside(obj, path), **entries}) if entries else obj
