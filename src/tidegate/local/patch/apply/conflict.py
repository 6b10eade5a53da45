"""What an applier is told when it states fields that belong to others."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.kube.wire import Object
from tidegate.local.errors import ApiError, shown
from tidegate.local.patch.apply.fieldset import FieldSet, intersection, paths
from tidegate.local.patch.apply.managed import Entries, identity_text


class Conflict(NamedTuple):
    """Fields that `entry`'s manager owns and the applier wants otherwise."""

    entry: Object
    fields: FieldSet


def conflicts(entries: Entries, changed: FieldSet) -> list[Conflict]:
    """One for each manager that owns some of the fields `changed`, by name."""
    found = [Conflict(entry, intersection(entry["fieldsV1"], changed)) for entry in entries]
    return sorted(
        (conflict for conflict in found if conflict.fields), key=lambda conflict: identity_text(conflict.entry)
    )


def refused(found: list[Conflict]) -> ApiError:
    """409, with a cause for each field."""
    listed = [(_manager(conflict.entry), path) for conflict in found for path in paths(conflict.fields)]
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
        for manager, path in listed
    ]
    if len(listed) == 1:
        manager, path = listed[0]
        message = f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    else:
        message = f"Apply failed with {len(listed)} conflicts: {_by_manager(found)}"
    return ApiError(409, "Conflict", message, {"causes": causes})


def _by_manager(found: list[Conflict]) -> str:
    lines = []
    for conflict in found:
        lines.append(f"conflicts with {_manager(conflict.entry)}:")
        lines += [f"- {path}" for path in paths(conflict.fields)]
    return "\n".join(lines)


def _manager(entry: Object) -> str:
    text = shown(entry.get("manager", ""))
    if entry.get("subresource"):
        text += f" with subresource {shown(entry['subresource'])}"
    return f"{text} using {entry['apiVersion']}" if entry["operation"] == "Update" else text
