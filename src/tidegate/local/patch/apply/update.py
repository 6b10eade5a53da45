"""Who owns which field after a write that is not an apply: whoever changed a field owns it, alone.

This runs for every create, update and patch, so it costs what changed, not what there is.
"""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.patch.apply.check import shape_errors
from tidegate.local.patch.apply.compare import Changes, came, changes
from tidegate.local.patch.apply.fieldset import FieldSet, difference, union
from tidegate.local.patch.apply.managed import (
    Entries,
    Identity,
    capped,
    identity,
    in_order,
    is_reset,
    manageable,
    new_entry,
    read_entries,
    released,
)
from tidegate.local.patch.apply.reconcile import reconciled
from tidegate.local.patch.apply.walk import ItemError
from tidegate.local.schema.node import Schema


def track_update(
    old: Object | None,
    new: Object,
    *,
    manager: str,
    api_version: str,
    schema: Schema,
    now: str,
    subresource: str = "",
    reset: FieldSet | None = None,
) -> Object:
    """`new` with its managedFields as they are once `manager` has written it over `old` (None: has created it).

    `reset`: the fields this request cannot change, since the server puts them back. `new` is left as it is; of what it
    says in managedFields, only a reset or a list that makes sense counts.
    """
    custom = not schema.name
    entries = _entries_in_force(old, new, subresource, custom=custom)
    if old is not None and not entries:
        # Tracking begins at creation or with the first apply; whoever reset it does not want it.
        return with_entries(new, [])
    entries = [entry for entry in entries if entry["fieldsV1"]]
    if custom:
        content = {key: value for key, value in new.items() if key != "metadata"}
        if any("expected " in error for error in shape_errors(content, schema)):
            return with_entries(new, [])  # What does not have its own shape cannot be told field by field.
        entries = reconciled(entries, schema)
    try:
        changed = (changes(old, new, schema) if old is not None else came(new, schema)).outside(reset or {})
    except ItemError:
        return with_entries(new, [])
    who = (manager or "unknown", "Update", api_version, subresource)
    return with_entries(new, owned_by(who, changed, entries, now))


def owned_by(who: Identity, changed: Changes, entries: Entries, now: str) -> Entries:
    """The entries after the updater `who` made these changes at `now`."""
    mine = manageable(changed.set)
    own = next((entry for entry in entries if identity(entry) == who), None)
    others = [entry for entry in entries if entry is not own] if own else entries
    result = released(others, changed.touched)
    if own:
        fields = difference(own["fieldsV1"], changed.gone)
        if mine:
            own = own | {"fieldsV1": union(fields, mine), "time": now}
            result = [*result, own]
        elif fields:
            result = [*result, own if fields is own["fieldsV1"] else own | {"fieldsV1": fields}]
    elif mine:
        result = [*result, new_entry(who, who[2], mine, now)]
    if result is entries:
        return entries
    return capped_in_order(result)


def capped_in_order(entries: Entries) -> Entries:
    return in_order(capped(entries))


def _entries_in_force(old: Object | None, new: Object, subresource: str, *, custom: bool) -> Entries:
    live: Any = (old or {}).get("metadata", {}).get("managedFields") or []
    given = new.get("metadata", {}).get("managedFields")
    # A subresource has no say in managedFields, and most clients just send back what they read.
    if subresource or given is None or given is live or given == live:
        return list(live)
    if is_reset(given, custom=custom):
        return []
    return read_entries(given, live) or list(live)


def settled(old: Object, new: Object) -> Object:
    """`old` itself if all that `new` has different are times in managedFields, so that nothing is written for them."""
    before: Entries = old.get("metadata", {}).get("managedFields") or []
    after: Entries = new.get("metadata", {}).get("managedFields") or []
    if len(before) != len(after):
        return new
    timed = [entry | {"time": other.get("time")} for entry, other in zip(after, before, strict=True)]
    if timed != [other | {"time": other.get("time")} for other in before]:
        return new
    return old if identical(with_entries(new, []), with_entries(old, [])) else new


def identical(a: Any, b: Any) -> bool:
    """Equality as JSON has it: 1 is not true."""
    if a != b:
        return False
    if isinstance(a, dict):
        return all(identical(value, b[key]) for key, value in a.items())
    if isinstance(a, list):
        return all(map(identical, a, b))
    return type(a) is type(b)


def with_entries(obj: Object, entries: Entries) -> Object:
    """`obj` with these managedFields (none at all if there are no entries)."""
    metadata = dict(obj.get("metadata") or {})
    metadata.pop("managedFields", None)
    if entries:
        metadata["managedFields"] = entries
    return obj | {"metadata": metadata}
