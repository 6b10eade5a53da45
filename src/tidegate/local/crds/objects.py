"""What an API server does with one custom object: reads it strictly, prunes it, fills it in and judges it.

A `CustomResource` is made once per served version. Its methods change only the object they are given, and only where
they say so; an `old` object is never changed. The order of a write is: `decode` (or `admit` for data already parsed),
`default`, `prepare_*` (the server's), `validate_*`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local import errors
from tidegate.local.crds.compile import compiled
from tidegate.local.crds.duplicates import duplicate_fields
from tidegate.local.crds.rules import Rules
from tidegate.local.crds.scale import Scale
from tidegate.local.crds.values import lists, metadata, shape
from tidegate.local.crds.values.ratchet import Before
from tidegate.local.crds.values.reasons import reasons
from tidegate.local.crds.values.result import field_errors
from tidegate.local.crds.values.verdict import verdict
from tidegate.local.errors import FieldError
from tidegate.local.schema.node import Schema

_decode = msgspec.json.Decoder().decode
_BLOCKS_RULES = frozenset({"Unsupported value", "Required value", "Too long", "Too many", "Type invalid"})
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object as it came, pruned, and what a strict reader would say about it (`duplicate field "spec.x"` …)."""

    obj: Object
    complaints: list[str]


@dataclass(frozen=True)
class CustomResource:
    """One version of a custom resource: `raw` is its openAPIV3Schema."""

    api_version: str
    kind: str
    raw: Object
    scale: Scale | None = None
    preserve_unknown: bool = False
    """The definition's own `preserveUnknownFields`, of old: nothing is pruned."""
    schema: Schema = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", compiled(self.raw))

    @cached_property
    def _prune(self) -> shape.Prune:
        return shape.pruner(self.schema)

    @cached_property
    def _fill(self) -> shape.Fill | None:
        return shape.filler(self.schema)

    @cached_property
    def _holds(self) -> Any:
        return verdict(self.raw)

    @cached_property
    def _status_holds(self) -> Any:
        return verdict(self._status_raw) if self._status_raw else None

    @cached_property
    def _embedded(self) -> metadata.Visit | None:
        return metadata.embedded(self.schema)

    @cached_property
    def _repeats(self) -> lists.Repeats | None:
        return lists.repeats(self.schema)

    @cached_property
    def _rules(self) -> Rules | None:
        return Rules.of(self.schema, root=True)

    @property
    def _status_raw(self) -> Object | None:
        return (self.raw.get("properties") or {}).get("status")

    def decode(self, body: bytes, *, strict: bool = True) -> Decoded:
        """The object in a JSON body. `strict` also looks for fields said twice. Raises msgspec.DecodeError for what is
        no JSON, ValueError for metadata that cannot be read."""
        obj = _decode(body)
        if not isinstance(obj, dict):
            raise ValueError("the body is not a JSON object")
        twice = [f'duplicate field "{path}"' for path in duplicate_fields(body, obj)] if strict else []
        return Decoded(obj, twice + self.admit(obj))

    def admit(self, obj: Object) -> list[str]:
        """Prunes a parsed object in place and answers with complaints about what went (`unknown field "spec.x"`)."""
        unknown: list[str] = []
        if "metadata" in obj:
            obj["metadata"], strange = metadata.read_metadata(obj["metadata"])
            unknown += [f"metadata.{name}" for name in strange]
        unknown += self.prune(obj)
        if self._embedded:
            strange = [name for inner, path in self._embedded(obj, "") for name in metadata.coerce(inner, path)]
            unknown += sorted(strange)
        return [f'unknown field "{path}"' for path in unknown]

    def prune(self, obj: Object) -> list[str]:
        """Drops unknown fields and stray nulls in place; answers with the paths of unknown fields, in order."""
        return [] if self.preserve_unknown else self._prune(obj) or []

    @property
    def has_defaults(self) -> bool:
        return self._fill is not None

    def default(self, obj: Object) -> None:
        """Fills in the schema's defaults in place. Runs on what was written and on what is read from the store."""
        if self._fill:
            self._fill(obj)

    def validate_create(self, obj: Object) -> list[FieldError]:
        """What is wrong with a new object, its metadata aside."""
        found = self._type_errors(obj)
        if found:
            return found
        if self._holds and not self._holds(obj):
            found += field_errors(reasons(self.raw, obj))
        found += self._scale_errors(obj) + self._embedded_errors(obj)
        if self._repeats:
            found += self._repeats(obj, "")
        unnamed = [] if obj.get("metadata", {}).get("name") else [errors.required("metadata.name")]
        return found + self._rule_errors(found + unnamed, obj, None)

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        """What is wrong with a changed object; values that were wrong before and did not change are let be."""
        found = self._type_errors(obj)
        if found:
            return found
        if self._holds and not self._holds(obj):
            found += field_errors(reasons(self.raw, obj, before=Before(obj, old, self.schema)))
        found += self._scale_errors(obj) + self._embedded_errors(obj)
        if self._repeats and not self._repeats(old, ""):
            found += self._repeats(obj, "")
        return found + self._rule_errors(found, obj, old)

    def validate_status(self, obj: Object, old: Object) -> list[FieldError]:
        """What is wrong with an object whose status was written; only the status is held against its schema."""
        found = self._type_errors(obj)
        if found:
            return found
        status, raw = obj.get("status"), self._status_raw
        if "status" in obj and raw and self._status_holds and not self._status_holds(status):
            before = Before(status, old.get("status"), self.schema.properties["status"])
            found += field_errors(reasons(raw, status, before=before), under="status")
        if self.scale:
            found += self.scale.status_errors(obj)
        if self._repeats and (twice := self._repeats(obj, "")) and not self._repeats(old, ""):
            found += twice
        return found + self._rule_errors(found, obj, old)

    def _type_errors(self, obj: Object) -> list[FieldError]:
        found = []
        for key, wanted in (("kind", self.kind), ("apiVersion", self.api_version)):
            if obj.get(key, "") != wanted:
                found.append(errors.invalid(key, obj.get(key, ""), f"must be {wanted}"))
        return found

    def _scale_errors(self, obj: Object) -> list[FieldError]:
        return self.scale.spec_errors(obj) + self.scale.status_errors(obj) if self.scale else []

    def _embedded_errors(self, obj: Object) -> list[FieldError]:
        if not self._embedded:
            return []
        return [error for inner, path in self._embedded(obj, "") for error in metadata.embedded_errors(inner, path)]

    def _rule_errors(self, found: list[FieldError], obj: Object, old: Object | None) -> list[FieldError]:
        if self._rules is None:
            return []
        if any(error.sort in _BLOCKS_RULES for error in found):
            return [errors.invalid("<nil>", None, _UNCHECKED)]
        return self._rules.check(obj, old, self.schema)
