"""Structural schemas: every value has one place that gives its type, and everything else only narrows it.

Without that an API server could not prune, fill in or publish a schema, so a definition that breaks it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.kube.wire import Object
from tidegate.local.crds.values.patterns import PatternError, matcher
from tidegate.local.errors import FieldError, forbidden_field, invalid, required

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_NESTED_FORBIDDEN = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_NO_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def structural_errors(raw: Object, path: str) -> list[FieldError]:
    """Why a schema is not structural, in the order of the messages."""
    found = [*_node(raw, "root", path), *_completeness(raw, raw, path, path)]
    return sorted(found, key=lambda error: error.message)


def _node(raw: Object, level: str, path: str) -> Iterator[FieldError]:
    items = raw.get("items")
    if raw.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _node(items, "item", f"{path}.items")
    for name, child in (raw.get("properties") or {}).items():
        yield from _node(child, "field", f"{path}.properties[{name}]")
    others = raw.get("additionalProperties")
    if others is not None and level == "root":
        yield forbidden_field(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(others, dict):
        yield from _node(others, "field", f"{path}.additionalProperties")
    yield from _extensions(raw, path)
    yield from _narrowing(raw, path, spare_any=_is_int_or_string(raw), spare_first=_first_all_of(raw))
    yield from _type(raw, level, path)
    yield from _metadata(raw, level, path)


def _is_int_or_string(raw: Object) -> bool:
    clauses = [{key: value for key, value in clause.items() if value} for clause in raw.get("anyOf") or ()]
    return clauses == _INT_OR_STRING


def _first_all_of(raw: Object) -> bool:
    clauses = raw.get("allOf") or []
    return bool(clauses) and _is_int_or_string(clauses[0])


def _extensions(raw: Object, path: str) -> Iterator[FieldError]:
    if not raw.get("x-kubernetes-int-or-string"):
        return
    for key in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if raw.get(key):
            yield invalid(f"{path}.{key}", True, "must be false if x-kubernetes-int-or-string is true")


def _type(raw: Object, level: str, path: str) -> Iterator[FieldError]:
    kind = raw.get("type") or ""
    embedded = bool(raw.get("x-kubernetes-embedded-resource"))
    preserve = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
    if embedded and kind != "object":
        said = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, said) if kind else required(f"{path}.type", said)
    elif not kind and not raw.get("x-kubernetes-int-or-string") and not preserve:
        yield required(f"{path}.type", _NO_TYPE[level])
    if embedded and raw.get("additionalProperties") is not None:
        said = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden_field(f"{path}.additionalProperties", said)
    if level == "root" and kind and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if embedded and not preserve and not raw.get("properties"):
        said = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        yield required(f"{path}.properties", said)


def _metadata(raw: Object, level: str, path: str) -> Iterator[FieldError]:
    """Of an object's own fields: kind and apiVersion are texts, and of metadata only the name may be narrowed."""
    named = raw.get("properties") or {}
    whole = level == "root" or bool(raw.get("x-kubernetes-embedded-resource"))
    for key in ("kind", "apiVersion"):
        if whole and key in named and named[key].get("type") != "string":
            yield invalid(f"{path}.properties[{key}].type", named[key].get("type") or "", "must be string")
    if "metadata" not in named:
        return
    metadata, place = named["metadata"], f"{path}.properties[metadata]"
    if whole and metadata.get("type") != "object":
        yield invalid(f"{place}.type", metadata.get("type") or "", "must be object")
    if level == "root":
        names_only = set(metadata.get("properties") or ()) <= {"name", "generateName"}
        said = {key for key, value in metadata.items() if value and key not in ("type", "default")}
        if said - ({"properties"} if names_only else set()):
            text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            yield forbidden_field(place, text)


def _narrowing(raw: Object, path: str, *, spare_any: bool, spare_first: bool) -> Iterator[FieldError]:
    """anyOf and friends below a node: they may only narrow values. The two ways to say int-or-string are spared."""
    for index, clause in enumerate(raw.get("anyOf") or ()):
        if not spare_any:
            yield from _clause(clause, f"{path}.anyOf[{index}]")
    for index, clause in enumerate(raw.get("allOf") or ()):
        yield from _clause(clause, f"{path}.allOf[{index}]", spare_any=spare_first and index == 0)
    for index, clause in enumerate(raw.get("oneOf") or ()):
        yield from _clause(clause, f"{path}.oneOf[{index}]")
    if raw.get("not") is not None:
        yield from _clause(raw["not"], f"{path}.not")
    if pattern := raw.get("pattern"):
        try:
            matcher(pattern)
        except PatternError as error:
            yield invalid(f"{path}.pattern", pattern, f"must be a valid regular expression, but isn't: {error}")


def _clause(raw: Object, path: str, *, spare_any: bool = False) -> Iterator[FieldError]:
    yield from _narrowing(raw, path, spare_any=spare_any, spare_first=False)
    if isinstance(raw.get("items"), dict):
        yield from _clause(raw["items"], f"{path}.items")
    for name, child in (raw.get("properties") or {}).items():
        yield from _clause(child, f"{path}.properties[{name}]")
    for key, said in _NESTED_FORBIDDEN:
        value = raw.get(key)
        if value or (key == "default" and value is not None) or (key == "additionalProperties" and value == {}):
            yield forbidden_field(f"{path}.{key}", said)
    if "metadata" in (raw.get("properties") or {}):
        yield forbidden_field(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _completeness(clause: Object, shape: Object | None, shape_path: str, clause_path: str) -> Iterator[FieldError]:
    """What a clause narrows must exist in the schema proper."""
    if shape is None:
        yield required(shape_path, f"because it is defined in {clause_path}")
        return
    if clause.get("not") is not None:
        yield from _nested_completeness(clause["not"], shape, shape_path, f"{clause_path}.not")
    for key in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(clause.get(key) or ()):
            yield from _nested_completeness(inner, shape, shape_path, f"{clause_path}.{key}[{index}]")


def _nested_completeness(
    clause: Object, shape: Object | None, shape_path: str, clause_path: str
) -> Iterator[FieldError]:
    yield from _completeness(clause, shape, shape_path, clause_path)
    if shape is None:
        return
    if isinstance(clause.get("items"), dict):
        items = shape.get("items")
        yield from _nested_completeness(clause["items"], items, f"{shape_path}.items", f"{clause_path}.items")
    for name, child in (clause.get("properties") or {}).items():
        own, there = f"{shape_path}.properties[{name}]", f"{clause_path}.properties[{name}]"
        known = (shape.get("properties") or {}).get(name)
        if known is None:
            yield required(own, f"because it is defined in {there}")
        else:
            yield from _nested_completeness(child, known, own, there)
