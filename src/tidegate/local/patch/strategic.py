"""Strategic merge patch: a merge patch that knows, from the schema, which lists to merge and by which key.

Directives inside the patch steer it: `$patch` (delete, replace), `$retainKeys`, `$deleteFromPrimitiveList/<list>` and
`$setElementOrder/<list>`. Lists are the business of `strategic_lists`.
"""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import bad_request
from tidegate.local.patch import strategic_lists as lists
from tidegate.local.patch.merge_patch import without_nulls
from tidegate.local.patch.refusal import failed, go_text, not_an_object
from tidegate.local.schema.node import Schema

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList"
ORDER = "$setElementOrder"


def strategic_patch(obj: Object, patch: Any, schema: Schema) -> Object:
    """`obj` with `patch` merged in as `schema` says. `obj` is left as it is, and shared where nothing changes."""
    if patch is None:
        return obj
    if not isinstance(patch, dict):
        raise bad_request(not_an_object(patch))
    return merged_object(obj, patch, schema)


def merged_object(live: Object, patch: Object, schema: Schema | None) -> Object:
    if DIRECTIVE in patch:
        return _directed(patch)
    patch = dict(patch)
    merged = _retained(live, patch)
    _merge_ordered_lists(merged, patch, schema)
    for key, value in patch.items():
        if key.startswith(DELETE_FROM):
            _delete_from_list(merged, lists.directed_field(key, DELETE_FROM), value)
        elif value is None:
            merged.pop(key, None)
        else:
            _merge_field(merged, key, value, schema)
    return merged


def _directed(patch: Object) -> Object:
    match patch[DIRECTIVE]:
        case "replace":
            return {key: value for key, value in patch.items() if key != DIRECTIVE}
        case "delete":
            return {}
        case other:
            raise failed(f"unknown patch type: {go_text(other)} in map: {go_text(patch)}")


def _retained(live: Object, patch: Object) -> Object:
    """A copy of `live` with the fields that `$retainKeys` lists, or all; the directive is taken out of `patch`."""
    if RETAIN_KEYS not in patch:
        return live.copy()
    kept = patch.pop(RETAIN_KEYS)
    if not isinstance(kept, list):
        raise bad_request(lists.BAD_RETAIN_KEYS)
    for key, value in patch.items():
        if value is not None and not key.startswith((DELETE_FROM, ORDER)) and key not in kept:
            raise bad_request(lists.BAD_RETAIN_KEYS)
    return {key: value for key, value in live.items() if key in kept}


def _merge_ordered_lists(merged: Object, patch: Object, schema: Schema | None) -> None:
    """Merges and orders each list that has a `$setElementOrder`; both are taken out of `patch`."""
    for directive in [key for key in patch if key.startswith(ORDER)]:
        order = patch.pop(directive)
        key = lists.directed_field(directive, ORDER)
        if not isinstance(order, list):
            raise failed(lists.wrong_type("[]interface {}", order))
        for side in (merged, patch):
            if key in side and not isinstance(side[key], list):
                raise failed(lists.wrong_type("[]interface {}", side[key]))
        field = _field(schema, key)
        lists.check_order(patch.get(key, []), order, field.patch_merge_key)
        if key in merged or key in patch:
            merged[key] = lists.ordered(merged.get(key), patch.pop(key, None), order, field, _merge_items(field))


def _delete_from_list(merged: Object, key: str, items: Any) -> None:
    if items is None:
        merged.pop(key, None)
    elif isinstance(merged.get(key), list) and isinstance(items, list):
        merged[key] = [item for item in merged[key] if item not in items]


def _merge_field(merged: Object, key: str, value: Any, schema: Schema | None) -> None:
    live = merged.get(key)
    if isinstance(live, dict) and isinstance(value, dict):
        field = _field(schema, key)
        merged[key] = value if "replace" in field.patch_strategy else merged_object(live, value, field)
    elif isinstance(live, list) and isinstance(value, list):
        field = _field(schema, key)
        merged[key] = (
            lists.merged_list(live, value, field, _merge_items(field)) if "merge" in field.patch_strategy else value
        )
    elif isinstance(value, dict) and DIRECTIVE in value:
        merged.pop(key, None)
    else:
        merged[key] = lists.without_directives(without_nulls(value))


def _merge_items(field: Schema) -> lists.MergeItem:
    return lambda live, patch: merged_object(live, patch, field.items)


def _field(schema: Schema | None, key: str) -> Schema:
    field = schema.child(key) if schema else None
    if field is None:
        raise failed(f'unable to find api field in struct {_struct(schema)} for the json field "{key}"')
    return field


def _struct(schema: Schema | None) -> str:
    return schema.name.rpartition(".")[2] if schema else ""
