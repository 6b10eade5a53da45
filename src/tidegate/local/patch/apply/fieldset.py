"""Sets of field paths, in the very form the API shows them (FieldsV1), so that nothing is converted on the way.

A set is a dict from path element to the set below it. Elements: `f:<name>` a field, `k:<json>` the list item with these
keys, `v:<json>` a value of a set, `i:<n>` the n-th item. An element belongs to the set itself when the set below it is
empty or has the element "."; otherwise it only leads further down. The empty dict is the empty set.

Sets are never changed once made: every function answers with a set that shares what is equal with its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

FieldSet = dict[str, Any]

SELF = "."
MEMBER: FieldSet = {}
"""What stands below a path that belongs to the set and leads nowhere."""


def has(fields: FieldSet, element: str) -> bool:
    """Whether the path made of `element` alone belongs to the set."""
    below = fields.get(element)
    return below is not None and (not below or SELF in below)


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """The paths of both; `left` itself if it has them all."""
    if not left:
        return right
    result: FieldSet | None = None
    for element, below in right.items():
        known = left.get(element)
        both = below if known is None else _union_below(known, below)
        if both is not known:
            result = dict(left) if result is None else result
            result[element] = both
    return left if result is None else result


def _union_below(left: FieldSet, right: FieldSet) -> FieldSet:
    """Here, below an element, the empty dict does say something: that the element belongs to the set."""
    if left is right:
        return left
    if not left:
        return {SELF: MEMBER, **right} if right else left
    return union(left, right or {SELF: MEMBER})


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """The paths of `left` that do not belong to `right`; `left` itself if they have none in common."""
    result: FieldSet | None = None
    small, large = (left, right) if len(left) < len(right) else (right, left)
    for element in small:
        if element not in large:
            continue
        below = left[element]
        kept = _difference_below(below, right[element])
        if kept is not below:
            result = dict(left) if result is None else result
            if kept is None:
                del result[element]
            else:
                result[element] = kept
    return left if result is None else result


def _difference_below(left: FieldSet, right: FieldSet) -> FieldSet | None:
    if not left:
        return None if not right or SELF in right else left
    if not right:
        right = {SELF: MEMBER}
    kept = difference(left, right)
    if kept is left:
        return left
    if len(kept) == 1 and SELF in kept:
        return MEMBER
    return kept or None


def without(left: FieldSet, right: FieldSet) -> FieldSet:
    """`left` without the paths of `right` and everything below them."""
    result: FieldSet | None = None
    for element, gone in right.items():
        below = left.get(element)
        if below is None or element == SELF:
            continue
        kept = None if not gone or SELF in gone else without(below, gone) if below else below
        if kept is not below:
            result = dict(left) if result is None else result
            if not kept:
                del result[element]
            else:
                result[element] = MEMBER if len(kept) == 1 and SELF in kept else kept
    return left if result is None else result


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    result: FieldSet = {}
    for element, below in left.items():
        other = right.get(element)
        if other is None:
            continue
        both = _intersection_below(below, other)
        if both is not None:
            result[element] = both
    return result


def _intersection_below(left: FieldSet, right: FieldSet) -> FieldSet | None:
    if left is right:
        return left
    if not left or not right:
        return MEMBER if has({"": left}, "") and has({"": right}, "") else None
    both = intersection(left, right)
    if len(both) == 1 and SELF in both:
        return MEMBER
    return both or None


def paths(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """Every path of the set as people read it (`.spec.containers[name="a"].image`), in Kubernetes' order."""
    elements = sorted((element for element in fields if element != SELF), key=_rank)
    for element in elements:
        if has(fields, element):
            yield prefix + element_text(element)
    for element in elements:
        if fields[element]:
            yield from paths(fields[element], prefix + element_text(element))


def _rank(element: str) -> tuple[int, Any]:
    sort, text = element[0], element[2:]
    if sort == "f":
        return (0, text)
    if sort == "i":
        return (3, int(text))
    value = msgspec.json.decode(text)
    if sort == "k":
        return (1, [(name, *_value_rank(field)) for name, field in value.items()])
    return (2, _value_rank(value))


def _value_rank(value: Any) -> tuple[int, Any]:
    match value:
        case bool():
            return (2, value)
        case int() | float():
            return (0, value)
        case str():
            return (1, value)
        case _:
            return (3, str(value))


def element_text(element: str) -> str:
    """One step of a path as people read it."""
    sort, text = element[0], element[2:]
    if sort == "f":
        return f".{text}"
    if sort == "i":
        return f"[{text}]"
    if sort == "v":
        return f"[={text}]"
    keys = msgspec.json.decode(text)
    return f"[{','.join(f'{name}={msgspec.json.encode(value).decode()}' for name, value in keys.items())}]"


def json_element(sort: str, value: Any) -> str:
    """The element of a value (`v`) or of keys (`k`), written as Go writes JSON."""
    text = msgspec.json.encode(value).decode()
    if "<" in text or ">" in text or "&" in text:
        text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f"{sort}:{text}"


def parsed(fields: Any) -> FieldSet | None:
    """A set that came from a client, with its elements written our way; None if it is none."""
    if not isinstance(fields, dict):
        return None
    result: FieldSet = {}
    for element, below in fields.items():
        if element == SELF:
            result[SELF] = MEMBER
            continue
        canonical = _canonical(element)
        if canonical == "":
            continue
        inner = parsed(below)
        if canonical is None or inner is None:
            return None
        result[canonical] = MEMBER if len(inner) == 1 and SELF in inner else inner
    return result


def _canonical(element: str) -> str | None:
    """The element our way; empty for one of a sort not known (which is passed over), None if it cannot be read."""
    if len(element) < 2 or element[1] != ":":
        return None
    sort, text = element[0], element[2:]
    try:
        match sort:
            case "f":
                return element
            case "i":
                return f"i:{int(text)}"
            case "v":
                return json_element("v", msgspec.json.decode(text))
            case "k":
                keys = msgspec.json.decode(text, type=dict[str, Any])
                return json_element("k", dict(sorted(keys.items())))
            case _:
                return ""
    except ValueError:
        return None
