"""Where something is in an object: a small part of JSONPath, as kind files write it.

.spec.template               from the object
@.replicas                   from the item that `each` stands at
^.spec.template              from the object that this one refers to (a TrainJob's runtime)
.spec.groups[*]              every item of a list;  .spec.replicas.*  every entry of a map
.spec.containers[0]          one item;  ["a.b/c"]  a name that is not a plain word
.status.jobs[name={name}]    the item with that field;  {name} and {key} are those of the pod set at hand
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.model.problems import Path, Problem

Obj = Mapping[str, Any]
"""An object as JSON has it. Never changed in place."""

_START = re.compile(r"[@^]?")
_STEP = re.compile(
    r"""\.(?P<word>[A-Za-z_][\w-]*) | \.(?P<filled>\{(?:key|name)\}) | \.(?P<every>\*) | \[(?P<all>\*)\]
      | \[(?P<index>[0-9]{1,4})\] | \["(?P<quoted>[^"\]]+)"\] | \[(?P<field>[A-Za-z]\w*)=(?P<value>[^\]]+)\]""",
    re.VERBOSE,
)
_HOW = "write it like .spec.template, @.replicas or .spec.groups[*]"


class JobError(ValueError):
    """An object that cannot be read as its kind says; which field, what is wrong, and what to do."""

    def __init__(self, path: Path, message: str) -> None:
        self.problem = Problem(path, message)
        super().__init__(str(self.problem))


def mapping(value: Any, path: Path) -> Obj:
    """The value, if it is a mapping; an empty one for null, as Kubernetes reads it."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise JobError(path, f'"{value}" is not a mapping; write names with values')
    return value


def sequence(value: Any, path: Path) -> Sequence[Any]:
    """The value, if it is a list; an empty one for null."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise JobError(path, f'"{value}" is not a list; write its items with a dash each')
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """What paths are read in: the object, and within `each` the item at hand."""

    root: Obj
    item: Any = None
    at: Path = ()
    key: str = ""
    name: str = ""
    referred: Obj | None = None
    strict: bool = False
    """Whether something else than fields on the way is a mistake: what is behind it would be lost without a word."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value, and the full path at which it is in the object."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class _All:
    """Every item of a list, or every entry of a map."""

    of_list: bool


@dataclass(frozen=True, slots=True)
class _Filled:
    """A name that depends on the pod set."""

    text: str


@dataclass(frozen=True, slots=True)
class _Where:
    """The item of a list that has this value in this field."""

    field: str
    text: str


_Step = str | int | _All | _Filled | _Where


class JobPath:
    """A path that was understood. A value of a kind file, so it is read and written by `parse` and `wire`."""

    __slots__ = ("start", "steps", "text")
    text: str
    start: str
    steps: tuple[_Step, ...]

    SCHEMA: ClassVar[dict[str, Any]] = {"type": "string"}

    def __init__(self, text: str, start: str, steps: tuple[_Step, ...]) -> None:
        self.text, self.start, self.steps = text, start, steps

    @classmethod
    def parse(cls, raw: object) -> JobPath:
        if not isinstance(raw, str) or raw[:1] not in (".", "@", "^", "["):
            raise ValueError(f'"{raw}" is not a path; {_HOW}')
        start = _START.match(raw)
        assert start is not None
        steps: list[_Step] = []
        at = start.end()
        while at < len(raw) and raw[at:] != ".":
            found = _STEP.match(raw, at)
            if not found:
                raise ValueError(f'"{raw}" is not a path from "{raw[at:]}" on; {_HOW}')
            steps.append(_step(found))
            at = found.end()
        return cls(raw, start[0], tuple(steps))

    def wire(self) -> str:
        return self.text

    @property
    def is_one_place(self) -> bool:
        """Whether it leads to a single place, at which something can be written."""
        return all(isinstance(step, str | int | _Filled) for step in self.steps)

    def all(self, scope: Scope) -> Iterator[Found]:
        """Everything there is at this path, in the object's own order; maps by name."""
        if self.start == "^":
            begin = Found((), scope.referred)
        else:
            begin = Found(scope.at, scope.item) if self.start == "@" else Found((), scope.root)
        yield from _walk(begin, self.steps, scope)

    def first(self, scope: Scope) -> Found | None:
        """The first value at this path that is not null."""
        return next((found for found in self.all(scope) if found.value is not None), None)

    def value(self, scope: Scope) -> Any:
        """The first value at this path; None where there is nothing."""
        found = self.first(scope)
        return None if found is None else found.value

    def place(self, scope: Scope) -> Path:
        """Where a value would be written: the path without wildcards, whether or not anything is there yet."""
        filled = (_fill(step, scope) for step in self.steps)
        return (*(scope.at if self.start == "@" else ()), *filled)

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, JobPath) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"JobPath({self.text!r})"


def _step(found: re.Match[str]) -> _Step:
    groups = found.groupdict()
    if groups["every"] or groups["all"]:
        return _All(of_list=bool(groups["all"]))
    if groups["index"]:
        return int(groups["index"])
    if groups["field"]:
        return _Where(groups["field"], groups["value"])
    return _Filled(groups["filled"]) if groups["filled"] else groups["word"] or groups["quoted"]


def fill(text: str, scope: Scope) -> str:
    """Text with {name}, {key} and {.paths} replaced by what they stand for; empty where there is nothing yet."""

    def one(found: re.Match[str]) -> str:
        inner = found[1]
        if inner in ("name", "key"):
            return scope.name if inner == "name" else scope.key
        if inner[0] not in ".@^":
            return found[0]  # Braces of somebody else, such as a shell's.
        value = JobPath.parse(inner).value(scope)
        return "" if value is None else str(value)

    return re.sub(r"\{([^{}]+)\}", one, text)


def _fill(step: _Step, scope: Scope) -> str | int:
    if isinstance(step, _Filled):
        return fill(step.text, scope)
    if isinstance(step, str | int):
        return step
    raise TypeError("a path with a wildcard names no single place")


def _walk(found: Found, steps: tuple[_Step, ...], scope: Scope) -> Iterator[Found]:
    if not steps:
        yield found
        return
    step, rest = steps[0], steps[1:]
    for inner in _inside(found, step, scope):
        yield from _walk(inner, rest, scope)


def _inside(found: Found, step: _Step, scope: Scope) -> Iterator[Found]:
    value = found.value
    if isinstance(step, _All):
        # Pods behind a field of the wrong type would be lost without a word.
        (sequence if step.of_list else mapping)(value, found.path)
    if isinstance(step, str | _Filled):
        name = fill(step.text, scope) if isinstance(step, _Filled) else step
        if scope.strict:
            mapping(value, found.path)
        if isinstance(value, Mapping) and name in value:
            yield Found((*found.path, name), value[name])
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            if isinstance(step, _Where):
                matches = isinstance(item, Mapping) and str(item.get(step.field)) == fill(step.text, scope)
            else:
                matches = isinstance(step, _All) or index == step
            if matches:
                yield Found((*found.path, index), item)
    elif isinstance(value, Mapping) and isinstance(step, _All):
        for name in sorted(value):
            yield Found((*found.path, name), value[name])
