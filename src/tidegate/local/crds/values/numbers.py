"""Bounds of numbers. Integers are compared as integers, with bounds cut to integers, as Kubernetes does."""

from __future__ import annotations

import math
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.values.result import Finding, Result, faulty, go_number

INT64 = 2**63
_RANGES = {"int32": 2**31, "int64": INT64, "": INT64}
_NUMERIC_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}
_LARGEST_FLOAT32 = 3.4028234663852886e38


def number_findings(raw: Object, types: tuple[str, ...], value: Any, path: str) -> Result:
    """multipleOf, minimum, maximum and the range of the format."""
    result, form = Result(), _numeric_form(raw, types)
    _in_range(result, form, value, "Checked", path)
    exact = isinstance(value, int) and -INT64 <= value < INT64
    number = value if exact else float(value)
    if (factor := raw.get("multipleOf")) is not None:
        inside = _in_range(result, form, factor, "MultipleOf", path)
        _multiple(result, number, _cut(factor) if exact and inside else float(factor), path)
    if (least := raw.get("minimum")) is not None:
        inside = _in_range(result, form, least, "Minimum boundary", path)
        bound = _cut(least) if exact and inside else float(least)
        strict = bool(raw.get("exclusiveMinimum"))
        if number < bound or (strict and number == bound):
            words = "greater than" if strict else "greater than or equal to"
            result.add(Finding("invalid", path, f"{path} in body should be {words} {go_number(bound)}", value))
    if (most := raw.get("maximum")) is not None:
        inside = _in_range(result, form, most, "Maximum boundary", path)
        bound = _cut(most) if exact and inside else float(most)
        strict = bool(raw.get("exclusiveMaximum"))
        if number > bound or (strict and number == bound):
            words = "less than" if strict else "less than or equal to"
            result.add(Finding("invalid", path, f"{path} in body should be {words} {go_number(bound)}", value))
    return result.count()


def _cut(bound: Any) -> int:
    """A bound as a 64-bit integer; what does not fit becomes the smallest one, as a processor has it."""
    whole = int(bound)
    return whole if -INT64 <= whole < INT64 else -INT64


def _in_range(result: Result, form: tuple[str, str], value: Any, what: str, path: str) -> bool:
    """Whether a value (or a bound) can be a number of the node's one type and its format."""
    kind, size = form
    if kind == "integer":
        whole = isinstance(value, int) or float(value).is_integer()
        good = whole and -_RANGES[size] <= value < _RANGES[size]
    else:
        good = size != "float" or abs(value) <= _LARGEST_FLOAT32
    if not good:
        named = f"with format {size}" if size else "(default format)"
        result.add(faulty(f"{what} value must be of type {kind} {named} in {path}"))
    return good


def _numeric_form(raw: Object, types: tuple[str, ...]) -> tuple[str, str]:
    kind = types[0] if len(types) == 1 and types[0] in _NUMERIC_FORMATS else ""
    size = raw.get("format", "")
    return kind, size if size in _NUMERIC_FORMATS.get(kind, ()) else ""


def _multiple(result: Result, number: Any, factor: Any, path: str) -> None:
    if factor <= 0:
        said = f"factor MultipleOf declared for {path} must be positive: {go_number(factor)}"
        result.add(Finding("invalid", path, said, factor))
    elif isinstance(number, int) and isinstance(factor, int):
        if number % factor:
            result.add(Finding("invalid", path, f"{path} in body should be a multiple of {factor}", number))
    elif not is_whole(number / factor if factor >= 1 else 1 / factor * number):
        result.add(Finding("invalid", path, f"{path} in body should be a multiple of {go_number(factor)}", number))


def is_whole(number: float) -> bool:
    """Whether a float is an integer, give or take what floats lose."""
    if math.isnan(number) or math.isinf(number) or abs(number) > 2**53:
        return False
    nearest = float(math.trunc(number))
    difference = abs(number - nearest)
    if number == nearest or (nearest == 0 and difference < 1e-300):
        return True
    return difference / (abs(number) + abs(nearest)) < 1e-9
