"""What all kinds are made of: frozen structs, rules between their fields, and how the API server is to serve them.

A field's docstring is its description in the CRD and in the reference; its default is the CRD's default; what `Meta`
says of it (range, length, pattern) is checked by the codec and by the API server alike. Python says `min_count`, YAML
says `minCount`: the renaming happens in the codec and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

GROUP = "tidegate.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

# Bounds exist for two reasons: a typing error should not ask for a billion pods, and the API server must be able to
# tell beforehand that a rule over a list is cheap.
MOST_PODS = 1_000_000
MOST_POD_SETS = 64
MOST_FLAVORS = 64
LONGEST_MESSAGE = 32768

DNS_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
LABEL_KEY = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
LABEL_KEY_OR_NONE = f"^({LABEL_KEY[1:-1]})?$"
RESOURCE_NAME = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
OWN_RESOURCE = r"^(cpu|memory|storage|ephemeral-storage|pods|hugepages-[0-9]+[KMGTPE]i?)$"
"""Kubernetes' own; every other has a domain before it."""
WORD = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"

SPELLING = {
    DNS_NAME: "a name; use lower-case letters, digits, dashes and dots, with a letter or digit at each end",
    DNS_LABEL: "a name; use lower-case letters, digits and dashes, with a letter or digit at each end",
    LABEL_VALUE: "a label's value; use letters, digits, dashes, underscores and dots, a letter or digit at each end",
    LABEL_KEY: "a label's key; write it like gpu or example.com/pool",
    LABEL_KEY_OR_NONE: "a label's key; write it like gpu or example.com/pool",
    WORD: "a word; use letters and digits without spaces, and begin with a letter",
}
"""What text of a certain pattern is called, and how to write it."""

ObjectName = Annotated[str, Meta(min_length=1, max_length=253, pattern=DNS_NAME)]
PodSetName = Annotated[str, Meta(min_length=1, max_length=63, pattern=DNS_LABEL)]
LabelValue = Annotated[str, Meta(max_length=63, pattern=LABEL_VALUE)]
Text = Annotated[str, Meta(max_length=LONGEST_MESSAGE)]
Count = Annotated[int, Meta(ge=0, le=MOST_PODS)]
Total = Annotated[int, Meta(ge=0)]
Priority = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Weight = Annotated[int, Meta(ge=1, le=1_000_000)]
Seconds = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Moment = Annotated[datetime, Meta(tz=True)]


def keyed(*keys: str) -> dict[str, Any]:
    """The schema words for a list in which an item is known by these fields, whoever else writes to the list."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


UNIQUE: dict[str, Any] = {"x-kubernetes-list-type": "set"}

OPEN: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}

PodTemplate = Annotated[
    Mapping[str, Any],
    Meta(
        extra_json_schema={
            "type": "object",
            "required": ["spec"],
            "properties": {
                "metadata": {"type": "object", **OPEN},
                "spec": {
                    "type": "object",
                    "required": ["containers"],
                    "properties": {"containers": {"type": "array", "minItems": 1, "items": {"type": "object", **OPEN}}},
                    **OPEN,
                },
            },
        }
    ),
]
"""A pod template exactly as Kubernetes has it. Only its outline is checked here; Kubernetes checks the pods."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A law between fields: `cel` for the API server, `holds` for whoever reads a manifest without one.

    A rule without `holds` compares with the object as it was, which a manifest alone cannot.
    """

    cel: str
    message: str
    holds: Callable[[Any], bool] | None = None
    field: str = ""


def names_resources(field: str, given: Callable[[Any], Iterable[str]]) -> Rule:
    """The keys of a map are spelled as names of resources are."""
    return Rule(
        f"!has(self.{field}) || self.{field}.all(name, name.matches('{RESOURCE_NAME}'))",
        "no resource can have such a name; write names like cpu, memory, hugepages-2Mi or nvidia.com/gpu",
        lambda self: all(re.fullmatch(RESOURCE_NAME, name) for name in given(self)),
        f".{field}",
    )


def is_requestable(name: str) -> bool:
    """Whether a pod can request it: Kubernetes refuses names without a domain that are not its own, such as `cpus`.
    A Scenario has no pods, so that these are not refused everywhere."""
    return "/" in name or re.fullmatch(OWN_RESOURCE, name) is not None


def names_labels(field: str, of: str, given: Callable[[Any], Iterable[str]]) -> Rule:
    """The keys of a map are those of labels. Others would be looked for in vain."""
    return Rule(
        f"!has(self.{field}) || self.{field}.all(key, key.matches('{LABEL_KEY}'))",
        f"no {of} can have such a label; write keys like gpu or example.com/pool",
        lambda self: all(re.fullmatch(LABEL_KEY, key) for key in given(self)),
        f".{field}",
    )


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; `wide` ones show with `-o wide` only."""

    name: str
    path: str
    type: Literal["string", "integer", "date"] = "string"
    wide: bool = False


AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True, slots=True)
class Definition:
    """How the API server is to serve a kind."""

    plural: str
    short: tuple[str, ...]
    columns: tuple[Column, ...]
    namespaced: bool = True
    scale: tuple[str, str] | None = None
    """Where `kubectl scale` writes, and where it reads what there is."""
    exactly_one: tuple[str, ...] = ()
    """Fields of which an object has one and no more."""


class Shape(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an object. It never refers back to what contains it, so the garbage collector need not look."""

    rules: ClassVar[tuple[Rule, ...]] = ()


class Status(Shape, frozen=True, omit_defaults=False):
    """A part of a status. It is written in full: "0 pending" is something observed, and not the same as silence."""


class OwnerReference(Shape, frozen=True, kw_only=True):
    """An object without which this one has no reason to exist."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class Metadata(Shape, frozen=True, kw_only=True):
    """The part of Kubernetes' object metadata that Tidegate reads; the rest is left out, not refused."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Moment | None = None
    deletion_timestamp: Moment | None = None
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class ConditionStatus(StrEnum):
    """Whether a condition holds."""

    TRUE = "True"
    """It holds."""
    FALSE = "False"
    """It does not hold."""
    UNKNOWN = "Unknown"
    """Nobody can tell at the moment."""


class Condition(Shape, frozen=True, kw_only=True):
    """One thing that is true of an object, or not, since when and why."""

    type: Annotated[str, Meta(min_length=1, max_length=316)]
    """What the condition is about."""
    status: ConditionStatus
    """Whether it holds."""
    reason: Annotated[str, Meta(min_length=1, max_length=1024, pattern=WORD)]
    """One word for programs: why it is so."""
    message: Text = ""
    """One sentence for people: why it is so."""
    last_transition_time: Moment
    """Since when `status` is what it is."""
    observed_generation: Total = 0
    """The `metadata.generation` this was judged by; older than the object's means that the judgement is pending."""


Conditions = Annotated[tuple[Condition, ...], Meta(max_length=16, extra_json_schema=keyed("type"))]


class Kind(Shape, frozen=True, kw_only=True):
    """An object with a name of its own."""

    definition: ClassVar[Definition]

    metadata: Metadata
