"""Paths into objects, as definitions write them: printer columns, selectable fields, the field a rule speaks of.

Printer columns use kubectl's JSONPath; here that is field access (`.spec.a`, `['a.b']`, `\\.` for a dot in a name),
indexes (`[0]`, `[-1]`, `[*]`) and filters (`[?(@.type=="Ready")]`), which is what definitions in the wild contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import msgspec

from tidegate.local.schema.node import Schema

Step = Callable[[list[Any]], list[Any]]

_TOKEN = re.compile(
    r"\.(?P<wild>\*)"
    r"|\.(?P<name>(?:\\.|[^.\[\]\\'\s])+)"
    r"|\['(?P<quoted>(?:\\.|[^'\\])*)'\]|\[\"(?P<double>(?:\\.|[^\"\\])*)\"\]"
    r"|\[(?P<index>-?\d+)\]|\[(?P<all>\*)\]|\[(?P<slice>-?\d*:-?\d*)\]"
    r"|\[\?\(\s*@(?P<left>[^\s=!<>]*)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<right>.*?))?\s*\)\]"
)


class FieldPathError(ValueError):
    """Not a path, or not one into this schema."""


def column_value(obj: Any, json_path: str, kind: str) -> Any:
    """What a printer column shows of an object: a cell of the column's type, None for nothing.

    Dates are given as they are written; how long ago that was is for who draws the table.
    """
    steps = _steps(json_path)
    found = [obj] if steps is not None else []
    for step in steps or ():
        found = step(found)
    if not found:
        return None
    return _cell(found[0], kind)


def _cell(value: Any, kind: str) -> Any:
    if kind == "string":
        return _printed(value)
    if value is None or isinstance(value, bool) is not (kind == "boolean"):
        return None
    match kind:
        case "integer":
            return int(value) if isinstance(value, int | float) else None
        case "number":
            return float(value) if isinstance(value, int | float) else None
        case "date":
            return value if isinstance(value, str) else None
    return value if kind == "boolean" else None


def _printed(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return msgspec.json.encode(value, order="sorted").decode()


@lru_cache(maxsize=1024)
def _steps(json_path: str) -> tuple[Step, ...] | None:
    """The path as functions from values to values; None if it is none we know."""
    path = json_path if json_path.startswith((".", "[")) else f".{json_path}"
    steps: list[Step] = []
    place = 0
    while place < len(path):
        token = _TOKEN.match(path, place)
        if token is None:
            return () if path == "." else None
        steps.append(_step(token))
        place = token.end()
    return tuple(steps)


def _step(token: re.Match[str]) -> Step:
    found = token.groupdict()
    for key in ("name", "quoted", "double"):
        if found[key] is not None:
            name = re.sub(r"\\(.)", r"\1", found[key])
            return lambda values: [value[name] for value in values if isinstance(value, dict) and name in value]
    if found["index"] is not None:
        index = int(found["index"])
        return lambda values: [
            value[index] for value in values if isinstance(value, list) and -len(value) <= index < len(value)
        ]
    if found["slice"] is not None:
        low, high = (int(part) if part else None for part in found["slice"].split(":"))
        return lambda values: [item for value in values if isinstance(value, list) for item in value[low:high]]
    if found["left"] is not None:
        return _filter(found["left"], found["op"] or "", found["right"] or "")
    return lambda values: [item for value in values for item in _members(value)]


def _members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _filter(left: str, operator: str, right: str) -> Step:
    steps = _steps(left) if left else ()
    wanted = _literal(right)

    def holds(item: Any) -> bool:
        found = [item]
        for step in steps or ():
            found = step(found)
        if not operator:
            return bool(found)
        return bool(found) and _compares(found[0], operator, wanted)

    return lambda values: [item for value in values for item in _members(value) if holds(item)]


def _literal(text: str) -> Any:
    if text[:1] in "'\"" and text[:1]:
        return text[1:-1]
    try:
        return msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        return text


def _compares(one: Any, operator: str, other: Any) -> bool:
    if operator in ("==", "!="):
        return bool(one == other) is (operator == "==")
    if isinstance(one, str) is not isinstance(other, str):
        return False
    try:
        return bool({"<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other}[operator])
    except TypeError:
        return False


def selectable_value(obj: Any, json_path: str) -> str:
    """The value a field selector sees at a definition's selectable field: a text, empty for nothing."""
    for name in json_path.removeprefix(".").split("."):
        obj = obj.get(name) if isinstance(obj, dict) else None
    if isinstance(obj, bool):
        return "true" if obj else "false"
    return "" if obj is None else str(obj)


def field_path(path: str, schema: Schema, *, brackets: bool = True) -> tuple[str, Schema]:
    """A path of a rule or a selectable field as errors show it, and the shape it leads to; raises FieldPathError."""
    shown = ""
    for name in _pieces(path, brackets=brackets):
        if not schema.properties and schema.values is None:
            raise FieldPathError("does not refer to a valid field")
        if schema.properties:
            if name not in schema.properties:
                raise FieldPathError("does not refer to a valid field")
            schema = schema.properties[name]
            shown += f".{name}" if shown else name
        elif schema.values is not None:
            schema = schema.values
            shown += f"[{name}]"
    return shown, schema


def _pieces(path: str, *, brackets: bool) -> list[str]:
    pieces = []
    place = 0
    while place < len(path):
        if path[place] == "[" and not brackets:
            raise FieldPathError("array notation is not allowed")
        if path[place] not in ".[":
            raise FieldPathError(f"expected [ or . but got: {path[place:].partition('.')[0]}")
        pattern = r"\.([^.\[\]]+)" if path[place] == "." else r"\['((?:\\.|[^'\\])*)'\]"
        found = re.compile(pattern).match(path, place)
        if found is None:
            raise FieldPathError("unexpected end of JSON path" if place + 1 >= len(path) else "expected a field name")
        pieces.append(re.sub(r"\\(.)", r"\1", found[1]))
        place = found.end()
    return pieces
