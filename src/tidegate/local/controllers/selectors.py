"""Label selectors: does a set of labels match?"""

from __future__ import annotations

import msgspec

from tidegate.local.controllers.objects import Struct


class Requirement(Struct, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True):
    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.match_labels and not self.match_expressions


def matches(selector: LabelSelector, labels: dict[str, str]) -> bool:
    """An empty selector matches everything."""
    return selects(selector.match_labels, labels) and all(_meets(need, labels) for need in selector.match_expressions)


def selects(wanted: dict[str, str], labels: dict[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())


def _meets(need: Requirement, labels: dict[str, str]) -> bool:
    value = labels.get(need.key)
    match need.operator:
        case "In":
            return value in need.values
        case "NotIn":
            return value not in need.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False
