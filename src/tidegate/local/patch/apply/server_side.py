"""Server-side apply: an applier states the fields it wants, and owns exactly these.

Stating a field that belongs to somebody else and has another value is a conflict, unless forced; a field stated last
time and not this time goes, unless somebody else owns it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import bad_request
from tidegate.local.patch.apply.check import shape_errors
from tidegate.local.patch.apply.compare import changes
from tidegate.local.patch.apply.conflict import Conflict, conflicts, refused
from tidegate.local.patch.apply.fieldset import FieldSet, difference, intersection, union, without
from tidegate.local.patch.apply.last_applied import allowed_conflicts, with_last_applied
from tidegate.local.patch.apply.managed import (
    Entries,
    identity,
    in_order,
    manageable,
    new_entry,
    released,
)
from tidegate.local.patch.apply.merge import merged
from tidegate.local.patch.apply.reconcile import reconciled
from tidegate.local.patch.apply.removal import removed, with_named_fields
from tidegate.local.patch.apply.update import owned_by, with_entries
from tidegate.local.patch.apply.walk import fields_of
from tidegate.local.patch.refusal import failed
from tidegate.local.schema.node import Schema

_BEFORE = "before-first-apply"
_KUBECTL = "kubectl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applier:
    """Who applies, and how."""

    manager: str
    force: bool
    now: str
    schema: Schema
    api_version: str
    kind: str
    subresource: str = ""
    reset: FieldSet | None = None
    """The fields this request cannot change, since the server puts them back."""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return (self.manager, "Apply", "", self.subresource)


def server_side_apply(live: Object | None, config: Any, applier: Applier) -> Object:
    """The object once `config` is applied to `live` (None: there is none yet), not yet defaulted or checked.

    Refuses with 409 what conflicts, 400 what is not for this resource, 500 (as Kubernetes does) what has no shape.
    `live` itself, but for managedFields, if the configuration changes nothing.
    """
    _check_config(config, applier)
    entries: Entries = _metadata(live or {}).get("managedFields") or []
    base = live or {"apiVersion": applier.api_version, "kind": applier.kind}
    if live is not None and not entries:
        entries = _before_first_apply(live, applier)
    entries = reconciled(entries, applier.schema)
    result = _applied(base, config, entries, applier, force=applier.force)
    if isinstance(result, list):
        result = _forced_as_last_applied(base, config, entries, result, applier)
    return with_last_applied(result, config) if applier.manager == _KUBECTL else result


def _check_config(config: Any, applier: Applier) -> None:
    if not isinstance(config, dict):
        raise bad_request("error decoding YAML: the configuration is not an object")
    version, kind = config.get("apiVersion") or "", config.get("kind") or ""
    if (version, kind) != (applier.api_version, applier.kind):
        raise bad_request(f"invalid object type: {_kind_text(version, kind)}")
    if _metadata(config).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    errors = shape_errors(config, applier.schema)
    if errors:
        said = errors[0] if len(errors) == 1 else "\n  ".join(["errors:", *errors])
        raise failed(f"failed to create typed patch object ({_name_text(config)}): {said}")


def _metadata(config: Object) -> Object:
    metadata = config.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _kind_text(version: str, kind: str) -> str:
    return f"{version}, Kind={kind}" if "/" in version else f"/{version}, Kind={kind}"


def _name_text(config: Object) -> str:
    metadata = _metadata(config)
    kind = _kind_text(config["apiVersion"], config["kind"])
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {kind}"


def _before_first_apply(live: Object, applier: Applier) -> Entries:
    """An object whose fields nobody tracked so far: one manager for all that is there."""
    changed = changes({}, live, applier.schema).outside(applier.reset or {})
    return owned_by((_BEFORE, "Update", applier.api_version, applier.subresource), changed, [], applier.now)


def _applied(
    live: Object, config: Object, entries: Entries, applier: Applier, *, force: bool
) -> Object | list[Conflict]:
    """The new object, or the conflicts that stand against it."""
    reset = applier.reset or {}
    last = next((entry for entry in entries if identity(entry) == applier.identity), None)
    others = [entry for entry in entries if entry is not last]
    stated = without(fields_of(config, applier.schema), reset)
    result = merged(live, config, applier.schema)
    if last:
        owned = stated
        for entry in others:
            owned = union(owned, entry["fieldsV1"])
        if difference(last["fieldsV1"], owned):
            result = _pruned(result, last["fieldsV1"], owned, applier.schema)
    changed = changes(live, result, applier.schema).outside(reset)
    found = conflicts(others, changed.set)
    if found and not force:
        return found
    same = live == result
    others = released(others, changed.touched)
    mine = manageable(stated)
    if mine:
        time = last.get("time") if same and last else None if same else applier.now
        others = [*others, new_entry(applier.identity, applier.api_version, mine, time)]
    return with_entries(live if same else result, in_order(others))


def _pruned(result: Object, last: FieldSet, owned: FieldSet, schema: Schema) -> Object:
    """`result` without what the applier stated last time and now nobody owns."""
    last = with_named_fields(last, schema)
    everything = with_named_fields(fields_of(result, schema), schema)
    kept = _named_fields_in(removed(result, last, schema), schema)
    kept = union(kept, with_named_fields(owned, schema))
    pruned = removed(result, difference(everything, kept), schema)
    # What went along with its owner's field but was not the applier's own stays.
    lost = difference(everything, _named_fields_in(pruned, schema))
    remaining: Object = removed(result, intersection(lost, last), schema)
    return remaining


def _named_fields_in(value: Any, schema: Schema) -> FieldSet:
    return with_named_fields(fields_of(value, schema), schema) if value else {}


def _forced_as_last_applied(
    live: Object, config: Object, entries: Entries, found: list[Conflict], applier: Applier
) -> Object:
    """kubectl may take over what it set itself before it learned to apply on the server."""
    if applier.manager != _KUBECTL:
        raise refused(found)
    allowed = allowed_conflicts(live, applier.schema, applier.api_version)
    if allowed is None:
        raise refused(found)
    left = [Conflict(conflict.entry, difference(conflict.fields, allowed)) for conflict in found]
    left = [conflict for conflict in left if conflict.fields]
    if left:
        raise refused(left)
    result = _applied(live, config, entries, applier, force=True)
    assert isinstance(result, dict)
    return result
