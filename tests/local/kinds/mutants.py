"""Wrong manifests made from right ones: one value is taken away, emptied, lengthened, repeated or put out of range."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = Any
Path = tuple[str | int, ...]
_LEFT_ALONE = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace"))
_SERVERS = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
)
_TEXTS = ("", "Bad_Value!", "x" * 300, "a.b", "/abs", "../up", "10", "-")
_NUMBERS = (-1, 0, 1, 70000, 2**31 - 1)


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of one place; `value` None takes the place away."""

    path: Path
    word: str
    value: Json

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))} {self.word}"

    def apply(self, obj: Json) -> bool:
        """Changes `obj`; False if the place is not there (an earlier mutation took it away)."""
        for step in self.path[:-1]:
            if not _has(obj, step):
                return False
            obj = obj[step]
        last = self.path[-1]
        if not _has(obj, last):
            return False
        if self.value is None:
            del obj[last]
        else:
            obj[last] = copy.deepcopy(self.value)
        return True


def _has(obj: Json, step: str | int) -> bool:
    if isinstance(obj, list):
        return isinstance(step, int) and step < len(obj)
    return isinstance(obj, dict) and step in obj


def mutated(obj: Json, *mutations: Mutation) -> Json:
    changed = copy.deepcopy(obj)
    for mutation in mutations:
        mutation.apply(changed)
    return changed


def mutations(obj: Json, under: Path = ()) -> Iterator[Mutation]:
    """Every mutation of `obj`, in a stable order."""
    for path, value in _places(obj, ()):
        if path[: len(under)] != under or path in _LEFT_ALONE:
            continue
        if path[0] == "metadata" and len(path) > 1 and path[1] in _SERVERS:
            continue
        yield Mutation(path, "removed", None)
        for word, other in _others(value):
            if other != value or type(other) is not type(value):
                yield Mutation(path, word, other)


def _places(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if path:
        yield path, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield from _places(item, (*path, step))


def _others(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, int):
        for number in _NUMBERS:
            yield f"= {number}", number
    elif isinstance(value, str):
        for text in _TEXTS:
            yield f"= {text[:12]!r}", text
        yield "in capitals", value.upper()
    elif isinstance(value, list):
        yield "emptied", []
        if value:
            yield "with a repeated item", [*value, value[0]]
    elif isinstance(value, dict):
        yield "emptied", {}
        if value and all(isinstance(item, str) for item in value.values()):
            yield "with a bad key", {**value, "bad key!": "1"}
            yield "with an extra key", {**value, "extra": "1"}
