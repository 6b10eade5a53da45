"""Finds everything that is wrong with a manifest, field by field.

Decoding itself stops at the first fault and cannot name a key of a map. People who write YAML want all faults at once,
by name, so this walks the manifest along the types. It runs for what people wrote, and to explain a failed decode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import msgspec
import msgspec.inspect as mi

from tidegate.model.flavored import Flavored
from tidegate.model.kinds.shape import SPELLING, Kind, Metadata, Shape
from tidegate.model.problems import Path, Problem
from tidegate.model.quantity import Quantity
from tidegate.model.resources import Resources
from tidegate.model.values import parse_value

Problems = Iterator[Problem]

_ENVELOPE = {"apiVersion", "kind"}


@lru_cache(maxsize=32)
def _shape_of(kind: type[Kind]) -> mi.StructType:
    found = mi.type_info(kind)
    assert isinstance(found, mi.StructType)
    return found


def problems_in(kind: type[Kind], manifest: Mapping[str, Any]) -> Problems:
    """All that is wrong with the fields of a manifest of this kind, in the order of the manifest."""
    content = {name: value for name, value in manifest.items() if name not in _ENVELOPE}
    yield from _struct(_shape_of(kind), content, ())


def broken_rules(shape: Any, path: Path = ()) -> Problems:
    """Rules between fields that do not hold, for an object that is otherwise well formed."""
    if isinstance(shape, Shape):
        for rule in shape.rules:
            if rule.holds is not None and not rule.holds(shape):
                yield Problem((*path, *rule.field.split(".")[1:]), rule.message)
        for name, wire in zip(shape.__struct_fields__, shape.__struct_encode_fields__, strict=True):
            yield from broken_rules(getattr(shape, name), (*path, wire))
    elif isinstance(shape, tuple):
        for index, item in enumerate(shape):
            yield from broken_rules(item, (*path, index))
    elif type(shape) is dict:
        for key, item in shape.items():
            yield from broken_rules(item, (*path, key))


def _check(wanted: mi.Type, value: Any, path: Path) -> Problems:
    match wanted:
        case mi.Metadata(type=inner, extra_json_schema=extra):
            yield from _with_extra(inner, extra or {}, value, path)
        case mi.UnionType(types=types):
            yield from _union([one for one in types if not isinstance(one, mi.NoneType)], wanted, value, path)
        case mi.StructType():
            yield from _struct(wanted, value, path)
        case mi.VarTupleType(item_type=item):
            yield from _sequence(wanted, item, value, path)
        case mi.DictType(value_type=item):
            yield from _mapping(wanted, item, value, path)
        case mi.CustomType(cls=custom):
            yield from _custom(custom, value, path)
        case mi.EnumType(cls=words):
            if value not in list(words):
                yield Problem(path, f'"{value}" is not known here; write one of {", ".join(words)}')
        case mi.AnyType():
            return
        case _:
            yield from _scalar(wanted, value, path)


def _with_extra(inner: mi.Type, extra: dict[str, Any], value: Any, path: Path) -> Problems:
    found = list(_check(inner, value, path))
    yield from found
    if found:
        return
    if keys := extra.get("x-kubernetes-list-map-keys"):
        yield from _twice([tuple(item.get(key) for key in keys) for item in value], ", ".join(keys), path)
    elif extra.get("x-kubernetes-list-type") == "set":
        yield from _twice([(item,) for item in value], "", path)
    if "properties" in extra:
        yield from _outline(extra, value, path)


def _twice(keys: list[tuple[Any, ...]], named: str, path: Path) -> Problems:
    for index, key in enumerate(keys):
        if key in keys[:index]:
            shown = ", ".join(map(str, key))
            yield Problem((*path, index), f'{named} "{shown}" is there twice; remove or rename one'.lstrip())


def _outline(schema: dict[str, Any], value: Any, path: Path) -> Problems:
    """The little that is said of a pod template: which parts must be there, and that lists are lists."""
    expected = {"object": Mapping, "array": list | tuple}[schema["type"]]
    if not isinstance(value, expected):
        yield Problem(path, f"is not {'a mapping' if schema['type'] == 'object' else 'a list'}; see a pod template")
        return
    if len(value) < schema.get("minItems", 0):
        yield Problem(path, "is empty; add at least one")
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem((*path, name), "is missing; add it as in any pod template")
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            yield from _outline(inner, value[name], (*path, name))
    for index, item in enumerate(value if "items" in schema else ()):
        yield from _outline(schema["items"], item, (*path, index))


def _union(types: list[mi.Type], wanted: mi.UnionType, value: Any, path: Path) -> Problems:
    if value is None and len(types) < len(wanted.types):
        return
    lists = [one for one in types if isinstance(one, mi.VarTupleType)]
    if lists and isinstance(value, list | tuple):
        yield from _check(lists[0], value, path)
    else:
        yield from _check(types[0], value, path)


def _struct(wanted: mi.StructType, value: Any, path: Path) -> Problems:
    if not isinstance(value, Mapping):
        yield Problem(path, f"{_shown(value)} is not a mapping; write its fields: {', '.join(_field_names(wanted))}")
        return
    known = {field.encode_name: field for field in wanted.fields}
    for name, item in value.items():
        if field := known.get(name):
            yield from _check(field.type, item, (*path, name))
        elif wanted.cls is not Metadata:
            yield Problem((*path, name), f"is not a field here; {_instead(str(name), list(known))}")
    for name, field in known.items():
        if field.required and name not in value:
            yield Problem((*path, name), "is missing; add it")


def _field_names(wanted: mi.StructType) -> list[str]:
    return [field.encode_name for field in wanted.fields]


def _instead(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1) or [one for one in known if one.lower() == name.lower()]
    return f"did you mean {close[0]}?" if close else f"remove it, or use one of {', '.join(known)}"


def _sequence(wanted: mi.VarTupleType, item: mi.Type, value: Any, path: Path) -> Problems:
    if not isinstance(value, list | tuple):
        yield Problem(path, f"{_shown(value)} is not a list; write its items with a dash each, or in [brackets]")
        return
    yield from _length(wanted, value, "items", path)
    for index, one in enumerate(value):
        yield from _check(item, one, (*path, index))


def _mapping(wanted: mi.DictType, item: mi.Type, value: Any, path: Path) -> Problems:
    if not isinstance(value, Mapping):
        yield Problem(path, f"{_shown(value)} is not a mapping; write it as names with values")
        return
    yield from _length(wanted, value, "entries", path)
    for key, one in value.items():
        if isinstance(key, str):
            yield from _check(item, one, (*path, key))
        else:
            yield Problem((*path, str(key)), f"the name {key} is not text; write it in quotes")


def _custom(custom: type, value: Any, path: Path) -> Problems:
    """Amounts are looked into, so that the fault is named where it is."""
    inner = Resources if custom is Flavored else Quantity if custom is Resources else None
    if inner and isinstance(value, Mapping):
        for key, one in value.items():
            yield from _custom(inner, one, (*path, str(key)))
        return
    try:
        parse_value(custom, value)
    except ValueError as error:
        hint = f'; a number with a point stands in quotes: "{value}"' if isinstance(value, float) else ""
        told = str(error) if value is not None else str(error).replace('"None"', _shown(None), 1)
        yield Problem(path, told + hint)


def _scalar(wanted: mi.Type, value: Any, path: Path) -> Problems:
    """Numbers, text and times: msgspec judges, this says it for people."""
    try:
        msgspec.convert(value, _annotation(wanted))
        return
    except msgspec.ValidationError as error:
        refusal = str(error)
    match wanted:
        case mi.StrType(pattern=pattern) if isinstance(value, str) and pattern and not re.search(pattern, value):
            yield Problem(path, f'"{value}" is not {SPELLING[pattern]}')
        case mi.StrType() if isinstance(value, str):
            yield from _length(wanted, value, "characters", path)
        case mi.StrType():
            yield Problem(path, f"{_shown(value)} is not text; write it in quotes")
        case mi.IntType() if isinstance(value, int) and not isinstance(value, bool):
            yield Problem(path, f"{value} is out of range; write a number {_range(wanted)}")
        case mi.IntType():
            yield Problem(path, f"{_shown(value)} is not a whole number; write one without quotes, e.g. 1")
        case mi.BoolType():
            yield Problem(path, f"{_shown(value)} is neither true nor false; write one of them without quotes")
        case mi.DateTimeType():
            yield Problem(path, f"{_shown(value)} is not a moment; write it like 2030-01-31T12:00:00Z")
        case mi.BytesType():
            yield Problem(path, f"is not base64, or too long; encode at most {wanted.max_length} bytes with base64")
        case _:
            yield Problem(path, f"{refusal}; write a value of that type")


def _annotation(wanted: mi.Type) -> Any:
    from datetime import datetime
    from typing import Annotated

    plain = {
        mi.StrType: str,
        mi.IntType: int,
        mi.BoolType: bool,
        mi.DateTimeType: datetime,
        mi.BytesType: bytes,
    }[type(wanted)]
    limits = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    return Annotated[plain, msgspec.Meta(**limits)] if any(limit is not None for limit in limits.values()) else plain


def _length(wanted: Any, value: Any, unit: str, path: Path) -> Problems:
    if wanted.min_length is not None and len(value) < wanted.min_length:
        yield Problem(path, f"is too short; give it at least {wanted.min_length} {unit}")
    if wanted.max_length is not None and len(value) > wanted.max_length:
        yield Problem(path, f"has {len(value)} {unit}; at most {wanted.max_length} are allowed, so leave some out")


def _range(wanted: mi.IntType) -> str:
    least = "" if wanted.ge is None else f"of at least {wanted.ge}"
    most = "" if wanted.le is None else f"of at most {wanted.le}"
    return " and ".join(filter(None, (least, most)))


def _shown(value: Any) -> str:
    if value is None:
        return "an empty value"
    return f'"{value}"' if isinstance(value, str) else f"{value}"
