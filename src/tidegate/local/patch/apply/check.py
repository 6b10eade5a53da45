"""Whether a configuration has the shape it claims: nobody may apply a field that does not exist."""

from __future__ import annotations

from typing import Any

from tidegate.local.patch.apply.fieldset import element_text
from tidegate.local.patch.apply.walk import DEDUCED, ItemError, element_of
from tidegate.local.patch.refusal import go_syntax, go_text
from tidegate.local.schema.node import Schema

_GO_NAMES = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    dict: "map[string]interface {}",
    list: "[]interface {}",
}


def shape_errors(value: Any, schema: Schema) -> list[str]:
    """What is wrong with `value`, each as `.path: what`."""
    return list(_errors(value, schema, "", lenient=False))


def _errors(value: Any, schema: Schema, path: str, *, lenient: bool) -> list[str]:
    if value is None or schema is DEDUCED:
        return []
    if isinstance(value, dict) and schema.type in ("object", ""):
        return _map_errors(value, schema, path, lenient=lenient or schema.preserve_unknown)
    if isinstance(value, list) and schema.type in ("array", ""):
        return _list_errors(value, schema, path, lenient=lenient or schema.preserve_unknown)
    wrong = _scalar_error(value, schema)
    return [f"{path}: {wrong}" if path else wrong] if wrong else []


def _map_errors(value: dict[str, Any], schema: Schema, path: str, *, lenient: bool) -> list[str]:
    errors: list[str] = []
    anything = lenient or not schema.properties
    for key, field in value.items():
        known = schema.properties.get(key) or schema.values
        if known:
            errors += _errors(field, known, f"{path}.{key}", lenient=lenient)
        elif not anything:
            return [*errors, f"{path}.{key}: field not declared in schema"]
    return errors


def _list_errors(value: list[Any], schema: Schema, path: str, *, lenient: bool) -> list[str]:
    errors: list[str] = []
    seen: set[str] = set()
    for at, item in enumerate(value):
        element = f"i:{at}"
        if schema.list_type != "atomic":
            try:
                element = element_of(item, schema)
            except ItemError as wrong:
                return [*errors, f"{path}: element {at}: {wrong}"]
            if element in seen:
                errors.append(f"{path}: duplicate entries for key {element_text(element)}")
            seen.add(element)
        errors += _errors(item, schema.items or DEDUCED, path + element_text(element), lenient=lenient)
    return errors


def _scalar_error(value: Any, schema: Schema) -> str:
    if isinstance(value, dict | list) or schema.type in ("object", "array"):
        return _sort_error(value, schema)
    match schema.type:
        case "integer" | "number" if isinstance(value, bool) or not isinstance(value, int | float):
            return f"expected numeric (int or float), got {_GO_NAMES[type(value)]}"
        case "string" if not (schema.quantity or schema.format not in ("", "byte")) and not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
        case "boolean" if not isinstance(value, bool):
            return f"expected boolean, got &{{{go_text(value)}}}"
        case _:
            return ""


def _sort_error(value: Any, schema: Schema) -> str:
    match schema.type:
        case "object":
            return f"expected map, got &{{{go_text(value)}}}"
        case "array":
            return f"expected list, got &{{{go_text(value)}}}"
        case "integer" | "number":
            return f"expected numeric (int or float), got {_GO_NAMES[type(value)]}"
        case "string":
            return f"expected string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
        case "boolean":
            return f"expected boolean, got &{{{go_text(value)}}}"
        case _:
            return ""
