"""What can be wrong with an entry of a kind file although each of its fields is well formed, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidegate.model.jobs.language.paths import JobPath
from tidegate.model.kinds.shape import DNS_NAME, Rule

_BRACES = re.compile(r"\{([.@^][^{}]*)\}")


def _places(rule: Any) -> Iterator[JobPath]:
    """The paths of a pod set that lead to one place each."""
    paths = (rule.template, rule.pod, rule.metadata, rule.resize, rule.spark and rule.spark.app)
    return (path for path in paths if path is not None)


def _starts(rule: Any) -> set[str]:
    paths = (*_places(rule), rule.each, rule.resources, rule.overrides)
    return {path.start for path in paths if path is not None}


def _are_filled_in(texts: Iterable[str]) -> bool:
    """Whether every {.path} in them is one."""
    for text in texts:
        for inner in _BRACES.findall(text):
            try:
                JobPath.parse(inner)
            except ValueError:
                return False
    return True


def _is_path(name: str) -> bool:
    return _are_filled_in([f"{{{name}}}"]) if name[:1] in (".", "@") else _are_filled_in([name])


def _values(*labels: Mapping[str, str] | None) -> Iterator[str]:
    return (value for each in labels for value in (each or {}).values())


_HOW = "has a {.path} that is none; write it like {.metadata.name}"

OF_POD_SETS = (
    Rule(
        "true",
        "exactly one of template, pod, spark and resources says where the pods are described; keep one of them",
        lambda self: [self.template, self.pod, self.spark, self.resources].count(None) == 3,
    ),
    Rule(
        "true",
        "a path with [*] or .* leads to many places; use each: for those, and start with @ from there",
        lambda self: all(path.is_one_place for path in _places(self)),
    ),
    Rule(
        "true",
        "a path that begins with @ starts at an item of each:, and there is none; add it, or begin the path with a dot",
        lambda self: self.each is not None or "@" not in _starts(self),
    ),
    Rule("true", "is not a name; write plain text, @.name, or {key}", lambda self: _is_path(self.name), ".name"),
    Rule("true", _HOW, lambda self: _are_filled_in(_values(self.pods)), ".pods"),
    Rule("true", _HOW, lambda self: _are_filled_in(_values(self.children)), ".children"),
)

OF_KINDS = (
    Rule(
        "true",
        "is not an API group; write it like example.com, or leave it out for Kubernetes' core",
        lambda self: not self.group or re.fullmatch(DNS_NAME, self.group) is not None,
        ".group",
    ),
    Rule(
        "true",
        "a kind has pod sets or wraps objects that have; say where its pods are described",
        lambda self: bool(self.pod_sets) or self.wraps is not None,
        ".podSets",
    ),
    Rule(
        "true",
        "a path with [*] or .* leads to many places; name the one field that holds the object back",
        lambda self: self.suspend is None or self.suspend.is_one_place,
        ".suspend",
    ),
    Rule(
        "true",
        "is the object itself; name the one field that holds it back, e.g. .spec.suspend",
        lambda self: self.suspend is None or bool(self.suspend.steps),
        ".suspend",
    ),
    Rule(
        "true",
        "a path that begins with ^ starts at the object named by refers:, and there is none; add it",
        lambda self: self.refers is not None or not any("^" in _starts(rule) for rule in self.pod_sets),
        ".podSets",
    ),
    Rule("true", _HOW, lambda self: _are_filled_in(_values(self.children)), ".children"),
)

OF_FILES = (
    Rule(
        "true",
        "describes a kind twice; remove one of the two",
        lambda self: len({(each.group, each.kind) for each in self.kinds}) == len(self.kinds),
        ".kinds",
    ),
)
