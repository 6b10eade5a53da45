"""The entries of `metadata.managedFields`: who set which fields, by which operation, when.

Entries are the plain objects the API shows. They are never changed in place, since stored objects share them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.patch.apply.fieldset import FieldSet, difference, parsed, union

Entries = list[Object]
Identity = tuple[str, str, str, str]

MAX_UPDATERS = 10
"""Managers that only ever updated; beyond it the oldest are thrown together."""
_ANCIENT = "ancient-changes"
_TEXTS = ("manager", "operation", "apiVersion", "time", "subresource")

_NEVER_MANAGED = (
    "f:name",
    "f:namespace",
    "f:creationTimestamp",
    "f:selfLink",
    "f:uid",
    "f:clusterName",
    "f:generation",
    "f:managedFields",
    "f:resourceVersion",
    ".",
)


def identity(entry: Object) -> Identity:
    """Whose entry it is. An applier has one for all versions, an updater one for each."""
    operation = entry["operation"]
    version = entry["apiVersion"] if operation == "Update" else ""
    return (entry.get("manager", ""), operation, version, entry.get("subresource", ""))


def identity_text(entry: Object) -> str:
    """The identity as Kubernetes writes it down, and sorts by."""
    shows_version = entry["operation"] == "Update"
    names = ["manager", "operation", *(["apiVersion"] if shows_version else []), "subresource"]
    return msgspec.json.encode({name: entry[name] for name in names if entry.get(name)}).decode()


def new_entry(who: Identity, api_version: str, fields: FieldSet, time: str | None) -> Object:
    manager, operation, _, subresource = who
    entry: Object = {"manager": manager, "operation": operation, "apiVersion": api_version}
    if time:
        entry["time"] = time
    entry |= {"fieldsType": "FieldsV1", "fieldsV1": fields}
    return entry | {"subresource": subresource} if subresource else entry


def manageable(fields: FieldSet) -> FieldSet:
    """The set without what nobody can own: type, identity, and what the server alone writes."""
    result = {element: below for element, below in fields.items() if element not in ("f:apiVersion", "f:kind")}
    metadata = result.pop("f:metadata", None)
    if metadata:
        kept = {element: below for element, below in metadata.items() if element not in _NEVER_MANAGED}
        if kept:
            result["f:metadata"] = kept
    return result


def read_entries(given: Any, live: Entries) -> Entries | None:
    """Entries a client sent, written our way; None if any of them makes no sense.

    `live` are those of the stored object, which most clients just send back, if not with the newest time.
    """
    if not isinstance(given, list):
        return None
    found: dict[Identity, Object] = {}
    for entry in given:
        read = _read_entry(entry, live)
        if read is None:
            return None
        found[identity(read)] = read
    return list(found.values())


def _read_entry(entry: Any, live: Entries) -> Object | None:
    if not isinstance(entry, dict) or any(not isinstance(entry.get(name), str | None) for name in _TEXTS):
        return None
    if entry.get("operation") not in ("Apply", "Update") or not entry.get("apiVersion"):
        return None
    said = entry.get("fieldsV1") or {}
    fields = next((one["fieldsV1"] for one in live if one["fieldsV1"] == said), None) or parsed(said)
    if entry.get("fieldsType") != "FieldsV1" or fields is None:
        return None
    who = (entry.get("manager") or "", entry["operation"], "", entry.get("subresource") or "")
    return new_entry(who, entry["apiVersion"], fields, entry.get("time"))


def is_reset(given: Any, *, custom: bool) -> bool:
    """Whether a client asks to forget all managers: by one empty entry, or (not for custom kinds) an empty list."""
    return given == [{}] or (given == [] and not custom)


def released(entries: Entries, touched: FieldSet) -> Entries:
    """The entries after somebody else wrote the fields `touched`; those without a field left are gone."""
    if not touched:
        return entries
    result = []
    for entry in entries:
        kept = difference(entry["fieldsV1"], touched)
        if kept is entry["fieldsV1"]:
            result.append(entry)
        elif kept:
            result.append(entry | {"fieldsV1": kept})
    return result


def in_order(entries: Entries) -> Entries:
    """As Kubernetes lists them: appliers first, then by time, then by name."""
    return sorted(entries, key=_order)


def _order(entry: Object) -> tuple[str, str, str, str, str]:
    get = entry.get
    return (entry["operation"], get("time") or "", get("manager", ""), entry["apiVersion"], get("subresource", ""))


def capped(entries: Entries) -> Entries:
    """At most `MAX_UPDATERS` updaters: the oldest of a version are thrown together as one."""
    updaters = [entry for entry in entries if entry["operation"] == "Update"]
    excess = len(updaters) - MAX_UPDATERS
    if excess <= 0:
        return entries
    updaters.sort(key=lambda entry: (entry.get("time") or "", identity_text(entry)))
    kept = {identity(entry): entry for entry in entries}
    first: dict[str, Identity] = {}
    for entry in updaters:
        if excess <= 0:
            break
        version, who = entry["apiVersion"], identity(entry)
        if version not in first:
            first[version] = who
            continue
        bucket = (_ANCIENT, "Update", version, "")
        into = kept[bucket] if bucket in kept else kept.pop(first[version])
        del kept[who]
        fields = union(entry["fieldsV1"], into["fieldsV1"])
        kept[bucket] = new_entry(bucket, version, fields, entry.get("time"))
        excess -= 1
    return list(kept.values())
