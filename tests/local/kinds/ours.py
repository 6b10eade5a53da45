"""Our side of the comparison: what the embedded server does with a body, without the server."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tidegate.local.errors import ApiError, FieldError
from tidegate.local.kinds import metadata, strategy_for
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import decode_builtin
from tidegate.local.schema.definitions import resources

Json = Any
UID = "11111111-2222-3333-4444-555555555555"
NOW = "2026-01-01T00:00:00Z"
_SAMPLES = Path(__file__).with_name("samples")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a request: a status code with either causes (reason, field) or an object."""

    code: int
    causes: frozenset[tuple[str, str]] = frozenset()
    obj: Json = None


@dataclass(frozen=True, slots=True)
class Sort:
    """One served kind."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def path(self) -> str:
        prefix = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{prefix}/namespaces/default/{self.plural}" if self.namespaced else f"{prefix}/{self.plural}"

    @property
    def strategy(self) -> Strategy:
        return strategy_for(self.group, self.kind)


def sort_of(obj: Json) -> Sort:
    group, _, version = obj["apiVersion"].rpartition("/")
    for resource in resources():
        if (resource.group, resource.version, resource.kind) == (group, version, obj["kind"]):
            return Sort(group, version, obj["kind"], resource.plural, resource.namespaced)
    raise LookupError(f"{obj['apiVersion']} {obj['kind']} is not served")


def samples() -> list[Json]:
    """The good manifests that everything else is made from."""
    return [doc for file in sorted(_SAMPLES.glob("*.yaml")) for doc in yaml.safe_load_all(file.read_text())]


def sample(kind: str, name: str) -> Json:
    found = next(doc for doc in samples() if (doc["kind"], doc["metadata"]["name"]) == (kind, name))
    return copy.deepcopy(found)


def decoded(obj: Json) -> Json:
    sort = sort_of(obj)
    schema = builtin_schema((sort.group, sort.version, sort.kind))
    return decode_builtin(json.dumps(obj).encode(), schema).obj


def created(obj: Json, uid: str = UID, now: str = NOW) -> Verdict:
    """As `POST` does it: read, default, prepare, judge."""
    sort = sort_of(obj)
    try:
        new = decoded(obj)
    except ApiError as error:
        return Verdict(error.code)
    if sort.namespaced:
        new.setdefault("metadata", {}).setdefault("namespace", "default")
    sort.strategy.default(new)
    metadata.default_create(new)
    metadata.drop_repeated_owners(new)
    new["metadata"] |= {"uid": uid, "creationTimestamp": now}
    new["metadata"].pop("generation", None)
    if sort.strategy.generates_generation:
        new["metadata"]["generation"] = 1
    sort.strategy.prepare_create(new)
    errors = metadata.validate_create(new, namespaced=sort.namespaced, name_errors=sort.strategy.name_errors)
    return _verdict(201, new, errors + sort.strategy.validate_create(new))


def updated(obj: Json, old: Json, subresource: str = "") -> Verdict:
    """As `PUT` does it, given what is stored; `old` is left alone."""
    sort = sort_of(obj)
    try:
        new, known = decoded(obj), decoded(old)
    except ApiError as error:
        return Verdict(error.code)
    strategy = sort.strategy
    strategy.default(new)
    metadata.drop_repeated_owners(new)
    for key in (
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
    ):
        if key in known["metadata"]:
            new["metadata"].setdefault(key, known["metadata"][key])
    before = copy.deepcopy(known)
    errors = []
    if subresource == "status":
        strategy.prepare_status_update(new, known)
        errors += metadata.validate_update(
            new, known, name_errors=strategy.name_errors
        ) + strategy.validate_status_update(new, known)
    else:
        door = strategy.subresource(subresource) if subresource else strategy
        assert door is not None
        door.prepare_update(new, known)
        if strategy.generates_generation and _wanted(new) != _wanted(known):
            new["metadata"]["generation"] += 1
        errors += metadata.validate_update(new, known, name_errors=strategy.name_errors) + door.validate_update(
            new, known
        )
    assert known == before, "an update must not change the old object"
    return _verdict(200, new, errors)


def _wanted(obj: Json) -> Json:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status", "kind", "apiVersion")}


def _verdict(code: int, obj: Json, errors: list[FieldError]) -> Verdict:
    if errors:
        return Verdict(422, frozenset((error.cause["reason"], error.field) for error in errors))
    return Verdict(code, obj=obj)
