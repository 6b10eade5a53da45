"""Label selectors, as everywhere in Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.kinds.shape import LABEL_KEY, LabelValue, Rule, Shape, names_labels


class SelectorOperator(StrEnum):
    """How a label is compared."""

    IN = "In"
    """Its value is one of `values`."""
    NOT_IN = "NotIn"
    """It is absent, or its value is none of `values`."""
    EXISTS = "Exists"
    """It is there, with any value."""
    DOES_NOT_EXIST = "DoesNotExist"
    """It is absent."""


class LabelRequirement(Shape, frozen=True, kw_only=True):
    """One condition on one label."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
            "In and NotIn need values, Exists and DoesNotExist take none; add or remove values",
            lambda self: (self.operator in (SelectorOperator.IN, SelectorOperator.NOT_IN)) == bool(self.values),
        ),
    )

    key: Annotated[str, Meta(min_length=1, max_length=316, pattern=LABEL_KEY)]
    """The label."""
    operator: SelectorOperator
    """How it is compared."""
    values: Annotated[tuple[LabelValue, ...], Meta(max_length=64)] = ()
    """What it is compared with, for `In` and `NotIn`."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case SelectorOperator.IN:
                return value in self.values
            case SelectorOperator.NOT_IN:
                return value not in self.values
            case SelectorOperator.EXISTS:
                return value is not None
            case SelectorOperator.DOES_NOT_EXIST:
                return value is None


class LabelSelector(Shape, frozen=True, kw_only=True):
    """Labels something has to have. All conditions must hold; the empty selector matches everything."""

    rules: ClassVar[tuple[Rule, ...]] = (names_labels("matchLabels", "namespace", lambda self: self.match_labels),)

    match_labels: Annotated[Mapping[str, LabelValue], Meta(max_length=64)] = {}
    """Labels with exactly these values."""
    match_expressions: Annotated[tuple[LabelRequirement, ...], Meta(max_length=64)] = ()
    """Further conditions."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether something with these labels is selected."""
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            requirement.matches(labels) for requirement in self.match_expressions
        )
