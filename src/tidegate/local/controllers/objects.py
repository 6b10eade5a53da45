"""What controllers read of an object: only the fields they use, so that ten thousand pods stay small in memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.controllers.sharing import share


class Struct(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Objects are trees of plain values, never cycles, so the garbage collector need not look at them."""


class OwnerRef(Struct, frozen=True):
    kind: str
    name: str
    uid: str
    api_version: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class Meta(Struct, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: tuple[OwnerRef, ...] = ()
    finalizers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        share(self, "namespace", "labels", "owner_references", "finalizers")

    @property
    def key(self) -> tuple[str, str]:
        return (self.namespace, self.name)

    @property
    def controller(self) -> OwnerRef | None:
        """The one owner that manages this object."""
        return next((owner for owner in self.owner_references if owner.controller), None)

    @property
    def created(self) -> datetime:
        return self.creation_timestamp or datetime.fromtimestamp(0, UTC)


class Condition(Struct, frozen=True):
    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_probe_time: datetime | None = None
    last_update_time: datetime | None = None
    last_transition_time: datetime | None = None

    @property
    def true(self) -> bool:
        return self.status == "True"


class Named(Struct, frozen=True):
    """An object of which only the metadata matters."""

    metadata: Meta


def condition_of(conditions: tuple[Condition, ...], kind: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == kind), None)


def without_condition(conditions: tuple[Condition, ...], kind: str) -> tuple[Condition, ...]:
    return tuple(condition for condition in conditions if condition.type != kind)


def stamp(now: datetime) -> datetime:
    """A moment as objects carry it: UTC, in whole seconds."""
    return now.astimezone(UTC).replace(microsecond=0)


def plain(value: Any) -> Any:
    """A struct as JSON data, with times as RFC 3339 text."""
    return msgspec.to_builtins(value)


def merge_patch(old: Object, new: Object) -> Object:
    """The smallest JSON merge patch that turns `old` into `new`."""
    patch: Object = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := merge_patch(before, value):
                patch[key] = inner
        elif key not in old or before != value:
            patch[key] = value
    return patch


def owner_reference(owner: Meta, api_version: str, kind: str) -> Object:
    """The reference by which `owner` controls another object."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
