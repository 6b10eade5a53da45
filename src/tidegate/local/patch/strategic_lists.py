"""The lists of a strategic merge: merged by key or as sets, and put in an order that both sides can live with.

Order: `$setElementOrder` rules, then the patch's own order, then the live one; an item only the live list has keeps
its place before the first patched item that came after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import ApiError, bad_request
from tidegate.local.patch.refusal import failed, go_text, rejected
from tidegate.local.schema.node import Schema

DIRECTIVE = "$patch"
BAD_RETAIN_KEYS = "invalid patch format of retainKeys"
_BAD_DIRECTIVE = {
    "$deleteFromPrimitiveList": "invalid patch format of primitive list",
    "$setElementOrder": "invalid patch format of setElementOrder list",
}
_GO_TYPES = {dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool", int: "int64"}

Items = list[Any]
MergeItem = Callable[[Object, Object], Object]


def directed_field(directive: str, prefix: str) -> str:
    """The list a directive such as `$setElementOrder/containers` speaks of."""
    found, slash, field = directive.partition("/")
    if not slash or found != prefix:
        raise bad_request(_BAD_DIRECTIVE[prefix])
    return field


def wrong_type(expected: str, value: Any) -> str:
    actual = "%!s(<nil>)" if value is None else _GO_TYPES.get(type(value), "float64")
    return f"expected a {expected}, but received a {actual}"


def without_directives(value: Any) -> Any:
    """A value that meets nothing in the live object: what directives speak of is not there, so they do nothing."""
    if isinstance(value, dict):
        return {key: without_directives(field) for key, field in value.items() if not _is_directed(field)}
    if isinstance(value, list):
        return [without_directives(item) for item in value if not _is_directed(item)]
    return value


def _is_directed(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value


def merged_list(live: Items, patch: Items, field: Schema, merge: MergeItem) -> Items:
    """`patch` merged into `live`, items with the same key by `merge`."""
    if not live and not patch:
        return live
    if _element_type(live, patch) is not dict:
        return _in_order(list(dict.fromkeys(live + patch)), patch, live, "")
    key = field.patch_merge_key
    if not key:
        raise failed(f"cannot merge lists without merge key for {_go_kind(field.items)}")
    live, patch = _after_directives(live, patch, key)
    return _in_order(_merged_by_key(live, patch, key, merge), patch, live, key)


def ordered(live: Items | None, patch: Items | None, order: Items, field: Schema, merge: MergeItem) -> Items:
    """The merge of both lists (either may be missing) in the order `$setElementOrder` asks for."""
    if live is None:
        merged = without_directives(patch)
    elif patch is None:
        merged = live
    elif "merge" in field.patch_strategy:
        merged = merged_list(live, patch, field, merge)
    else:
        merged = patch
    _element_type(live or [], patch or [])
    return _in_order(merged, order, live or [], field.patch_merge_key)


def check_order(patch: Items, order: Items, key: str) -> None:
    """Refuses a `$setElementOrder` that leaves out an item of the patch or has them in another order."""
    if not order or not patch:
        return
    for item in patch:
        if key and not isinstance(item, dict):
            raise failed(wrong_type("map[string]interface {}", item))
    listed = [item for item in patch if not (key and item.get(DIRECTIVE) == "delete")]
    at = found = 0
    while found < len(listed) and at < len(order):
        if _is_directed(listed[found]):
            found += 1
            continue
        if _name(listed[found], key) == _name(order[at], key):
            found += 1
        at += 1
    if found < len(listed):
        raise failed(
            f"The order in patch list:\n{go_text(patch)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n"
        )


def _element_type(*sides: Items) -> type:
    types = {type(item) for side in sides for item in side}
    if not types:
        raise failed("no elements in any of the given slices")
    first = type(next(item for side in sides for item in side))
    if first is list:
        raise rejected()
    if len(types) > 1:
        raise failed(f"list element types are not identical: {go_text(list(sides))}")
    return first


def _go_kind(items: Schema | None) -> str:
    return "struct" if items and items.properties else "map"


def _after_directives(live: Items, patch: Items, key: str) -> tuple[Items, Items]:
    """Both lists once the `$patch` items of `patch` have done their work."""
    replacing = False
    plain = []
    for item in patch:
        match item.get(DIRECTIVE):
            case None if DIRECTIVE not in item:
                plain.append(item)
            case "delete":
                gone = _name(item, key)
                live = [other for other in live if not (isinstance(other, dict) and other.get(key) == gone)]
            case "replace":
                replacing = True
            case "merge":
                raise failed("merging lists cannot yet be specified in the patch")
            case other:
                raise failed(f"unknown patch type: {go_text(other)} in map: {go_text(item)}")
    return (plain, []) if replacing else (live, plain)


def _merged_by_key(live: Items, patch: Items, key: str, merge: MergeItem) -> Items:
    merged = list(live)
    for item in patch:
        name = _name(item, key)
        at = next((at for at, other in enumerate(merged) if other.get(key) == name), None)
        if at is None:
            merged.append(item)
        else:
            merged[at] = merge(merged[at], item)
    return merged


def _name(item: Any, key: str) -> Any:
    """What tells an item from the others in its list: the value of the merge key, or the item itself."""
    if not key:
        return item
    if not isinstance(item, dict):
        raise failed(wrong_type("map[string]interface {}", item))
    if key not in item:
        raise _no_merge_key(item, key)
    return item[key]


def _no_merge_key(item: Any, key: str) -> ApiError:
    return failed(f"map: {go_text(item)} does not contain declared merge key: {key}")


def _in_order(merged: Items, order: Items, live: Items, key: str) -> Items:
    """`merged` sorted: items named in `order` as there; the others as in `live`, before what they stood before."""
    rank = _ranks(order, key)
    live_rank = _ranks(live, key)
    ours = sorted((item for item in merged if _name(item, key) in rank), key=lambda item: rank[_name(item, key)])
    theirs = sorted(
        (item for item in merged if _name(item, key) not in rank),
        key=lambda item: live_rank.get(_name(item, key), len(live)),
    )
    result = []
    while theirs and ours:
        left, right = live_rank.get(_name(theirs[0], key)), live_rank.get(_name(ours[0], key))
        side = theirs if left is not None and right is not None and left < right else ours
        result.append(side.pop(0))
    return result + theirs + ours


def _ranks(items: Items, key: str) -> dict[Any, int]:
    ranks: dict[Any, int] = {}
    for at, item in enumerate(items):
        ranks.setdefault(_name(item, key), at)
    return ranks
