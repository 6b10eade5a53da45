"""ResourceFlavor: a kind of node."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.kinds.shape import (
    AGE,
    LABEL_KEY_OR_NONE,
    Definition,
    Kind,
    LabelValue,
    Rule,
    Shape,
    names_labels,
    names_resources,
)
from tidegate.model.ratio import Ratio


class TolerationOperator(StrEnum):
    """How a toleration is matched with a taint."""

    EXISTS = "Exists"
    """Any value of the key matches."""
    EQUAL = "Equal"
    """The value must be the same."""


class TaintEffect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    """They are not placed on the node."""
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    """They are placed there when there is no better place."""
    NO_EXECUTE = "NoExecute"
    """They are not placed there, and leave if they are there."""


class Toleration(Shape, frozen=True, kw_only=True):
    """A taint that pods granted this flavor put up with, as in a pod's `tolerations`."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "has(self.key) || self.operator == 'Exists'",
            "a toleration without key matches every taint; set operator to Exists, or name a key",
            lambda self: bool(self.key) or self.operator is TolerationOperator.EXISTS,
        ),
        Rule(
            "!has(self.value) || self.value == '' || self.operator == 'Equal'",
            "operator Exists matches any value; leave value out, or set operator to Equal",
            lambda self: not self.value or self.operator is TolerationOperator.EQUAL,
            ".value",
        ),
        Rule(
            "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
            "only pods that are put out stay for some time; set effect to NoExecute, or leave tolerationSeconds out",
            lambda self: self.toleration_seconds is None or self.effect is TaintEffect.NO_EXECUTE,
            ".tolerationSeconds",
        ),
    )

    key: Annotated[str, Meta(max_length=316, pattern=LABEL_KEY_OR_NONE)] = ""
    """The taint's key. Without it every taint is tolerated."""
    operator: TolerationOperator = TolerationOperator.EQUAL
    """How `value` is compared."""
    value: LabelValue = ""
    """The taint's value, for operator `Equal`."""
    effect: TaintEffect | None = None
    """The taint's effect. Without it every effect is tolerated."""
    toleration_seconds: int | None = None
    """With effect `NoExecute`: how long the pod may stay; without it, for ever."""


class ResourceFlavorSpec(Shape, frozen=True, kw_only=True):
    """Which nodes are of this flavor, and how far they are filled."""

    rules: ClassVar[tuple[Rule, ...]] = (
        names_labels("nodeLabels", "node", lambda self: self.node_labels),
        names_resources("overcommit", lambda self: self.overcommit),
    )

    node_labels: Annotated[Mapping[str, LabelValue], Meta(max_length=32)] = {}
    """Nodes with all of these labels are of this flavor. Pods granted it get them as `nodeSelector`."""
    tolerations: Annotated[tuple[Toleration, ...], Meta(max_length=32)] = ()
    """Pods granted this flavor get these tolerations."""
    overcommit: Annotated[Mapping[str, Ratio], Meta(max_length=64)] = {}
    """By resource: the capacity read from nodes is multiplied by this. A resource not named counts once."""


class ResourceFlavor(Kind, frozen=True, kw_only=True):
    """A kind of node: which nodes belong to it and what pods need to run there. With no flavor at all, one named
    `default` matches every node."""

    definition: ClassVar[Definition] = Definition(
        plural="resourceflavors", short=("rf",), columns=(AGE,), namespaced=False
    )

    spec: ResourceFlavorSpec = ResourceFlavorSpec()
    """Which nodes are of this flavor, and how far they are filled."""
