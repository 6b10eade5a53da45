"""Functions on lists and sets."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from tidegate.local.crds.cel.library.budget import spend
from tidegate.local.crds.cel.library.declare import Function


def same(one: Any, other: Any) -> bool:
    """CEL's equality: numbers by value, but a boolean is not a number."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def _is_sorted(items: list[Any]) -> bool:
    spend(len(items))
    return all(not _above(one, other) for one, other in pairwise(items))


def _above(one: Any, other: Any) -> bool:
    try:
        return bool(one > other)
    except TypeError:
        raise ValueError("no such overload") from None


def _sum(items: list[Any]) -> Any:
    spend(len(items))
    if any(isinstance(item, bool) or not isinstance(item, int | float | timedelta) for item in items):
        raise ValueError("no such overload")
    if not items:
        return 0
    total = items[0]
    for item in items[1:]:
        total += item
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise ValueError("integer overflow")
    return total


def _smallest(items: list[Any]) -> Any:
    return _extreme(items, "min", largest=False)


def _largest(items: list[Any]) -> Any:
    return _extreme(items, "max", largest=True)


def _extreme(items: list[Any], name: str, *, largest: bool) -> Any:
    if not items:
        raise ValueError(f"{name} called on empty list")
    spend(len(items))
    best = items[0]
    for item in items[1:]:
        if _above(item, best) if largest else _above(best, item):
            best = item
    return best


def _index_of(items: list[Any], wanted: Any) -> int:
    spend(len(items))
    return next((index for index, item in enumerate(items) if same(item, wanted)), -1)


def _last_index_of(items: list[Any], wanted: Any) -> int:
    spend(len(items))
    return next((index for index in range(len(items) - 1, -1, -1) if same(items[index], wanted)), -1)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise ValueError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise ValueError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise ValueError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flat(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise ValueError("level must be non-negative")
    spend(len(items))
    flat: list[Any] = []
    for item in items:
        flat += _flat(item, depth - 1) if isinstance(item, list) and depth else [item]
    return flat


def _sorted(items: list[Any]) -> list[Any]:
    spend(len(items) * max(1, len(items).bit_length()))
    try:
        return sorted(items)
    except TypeError:
        raise ValueError("list elements must have the same type") from None


def _distinct(items: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        spend(len(kept))
        if not any(same(item, known) for known in kept):
            kept.append(item)
    return kept


def _range(end: int) -> list[int]:
    spend(max(0, end))
    return list(range(end))


def _holds(items: list[Any], wanted: list[Any]) -> bool:
    spend(len(items) * max(1, len(wanted)))
    return all(any(same(item, one) for item in items) for one in wanted)


def _meets(items: list[Any], others: list[Any]) -> bool:
    spend(len(items) * max(1, len(others)))
    return any(same(item, one) for item in items for one in others)


FUNCTIONS = [
    Function("list.isSorted() bool", _is_sorted),
    Function("list.sum() any", _sum),
    Function("list.min() any", _smallest),
    Function("list.max() any", _largest),
    Function("list.indexOf(any) int", _index_of),
    Function("list.lastIndexOf(any) int", _last_index_of),
    Function("list.slice(int, int) list", _slice),
    Function("list.flatten() list", _flat),
    Function("list.flatten(int) list", _flat),
    Function("list.sort() list", _sorted),
    Function("list.distinct() list", _distinct),
    Function("list.reverse() list", lambda items: items[::-1]),
    Function("lists.range(int) list(int)", _range),
    Function("sets.contains(list, list) bool", _holds),
    Function("sets.equivalent(list, list) bool", lambda one, other: _holds(one, other) and _holds(other, one)),
    Function("sets.intersects(list, list) bool", _meets),
]
