"""What an openAPIV3Schema of a definition may not contain: whatever an API server could not honour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidegate.kube.wire import Object
from tidegate.local.crds.checks.defaults import default_errors
from tidegate.local.crds.checks.structure import structural_errors
from tidegate.local.crds.compile import compiled
from tidegate.local.crds.paths import FieldPathError, field_path
from tidegate.local.crds.rules import rule_faults, uses_old_self
from tidegate.local.crds.values.shape import META
from tidegate.local.errors import FieldError, forbidden_field, invalid, not_supported, required, shown

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_UNSUPPORTED = (
    ("id", "id"), ("additionalItems", "additionalItems"), ("patternProperties", "patternProperties"),
    ("definitions", "definitions"), ("dependencies", "dependencies"), ("$ref", "$ref"),
)  # fmt: skip
_AT_ROOT = {
    "description": "Description", "type": "Type", "format": "Format", "title": "Title", "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum", "minimum": "Minimum", "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength", "minLength": "MinLength", "pattern": "Pattern", "maxItems": "MaxItems",
    "minItems": "MinItems", "uniqueItems": "UniqueItems", "multipleOf": "MultipleOf", "required": "Required",
    "items": "Items", "properties": "Properties", "externalDocs": "ExternalDocs", "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields", "x-kubernetes-validations": "XValidations",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Place:
    """What a node is inside of."""

    root: bool = False
    defaults: str | None = None
    """Why defaults are forbidden here; None if they are not."""
    in_metadata: bool = False
    uncorrelated: str = ""
    """The nearest node around whose parts have no old selves to compare with."""
    rules: bool = True
    """Whether rules are compiled: not inside anyOf and friends, where none may stand."""


def schema_errors(raw: Object, path: str, *, status: bool) -> list[FieldError]:
    """All that is wrong with one version's schema; `status` says that it has a status subresource."""
    found = list(_root_errors(raw, path)) if status else []
    if raw.get("nullable"):
        found.append(forbidden_field(f"{path}.nullable", "nullable cannot be true at the root"))
    if _unreadable(raw):
        return found + _node(raw, path, _Place(root=True, rules=False))
    unsound = structural_errors(raw, path) or list(default_errors(raw, path))
    return found + unsound + _node(raw, path, _Place(root=True, rules=not unsound))


def _unreadable(raw: Object) -> bool:
    """Whether some node has what no structural schema can even be read with; its structure is then not judged."""
    strange = any(raw.get(key) for key, _ in _UNSUPPORTED) or raw.get("$schema") or isinstance(raw.get("items"), list)
    if strange or raw.get("x-kubernetes-preserve-unknown-fields") is False:
        return True
    children = [*(raw.get("properties") or {}).values(), raw.get("items"), raw.get("additionalProperties")]
    children += [raw.get("not"), *(raw.get("allOf") or ()), *(raw.get("anyOf") or ()), *(raw.get("oneOf") or ())]
    return any(_unreadable(child) for child in children if isinstance(child, dict))


def _root_errors(raw: Object, path: str) -> Iterator[FieldError]:
    """With a status subresource the status is judged by its own schema, so the root may not say much about it."""
    kind = raw.get("type") or ""
    if kind and kind != "object":
        said = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        yield invalid(f"{path}.type", kind, said)
    elif any(_is_said(key, value) and key not in _AT_ROOT for key, value in raw.items()):
        allowed = " ".join(_AT_ROOT.values())
        said = f"only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
        yield invalid(path, raw, said)


def _is_said(key: str, value: object) -> bool:
    return value not in (None, "") and (value is not False or key == "additionalProperties")


def _node(raw: Object, path: str, place: _Place) -> list[FieldError]:
    found = [*_plain(raw, path, place), *_children(raw, path, place), *_list_and_map(raw, path)]
    said = [*_rule_texts(raw, path)]
    if not found and not said and place.rules:
        said += _rule_compilation(raw, path, place)
    return found + said


def _plain(raw: Object, path: str, place: _Place) -> Iterator[FieldError]:
    kind = raw.get("type") or ""
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if raw.get("default") is not None and place.defaults is not None:
        yield forbidden_field(f"{path}.default", f"must not be set {place.defaults}".strip())
    for key, name in _UNSUPPORTED:
        if raw.get(key) or (key in ("dependencies", "additionalItems", "$ref") and raw.get(key) is not None):
            yield forbidden_field(f"{path}.{key}", f"{name} is not supported")
    if kind == "null":
        yield forbidden_field(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(raw.get("items"), list) and raw["items"]:
        yield forbidden_field(f"{path}.items", "items must be a schema object and not an array")
    if place.in_metadata and raw.get("x-kubernetes-embedded-resource"):
        yield forbidden_field(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")
    if raw.get("uniqueItems"):
        said = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden_field(f"{path}.uniqueItems", said)
    if raw.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")


def _children(raw: Object, path: str, place: _Place) -> Iterator[FieldError]:
    others = raw.get("additionalProperties")
    if others is not None and raw.get("properties") and others is not True:
        said = "additionalProperties and properties are mutual exclusive"
        yield forbidden_field(f"{path}.additionalProperties", said)
    inner = replace(place, root=False)
    if isinstance(others, dict):
        said = "inside additionalProperties applying to object metadata"
        below = replace(inner, defaults=said) if place.in_metadata else inner
        yield from _node(others, f"{path}.additionalProperties", below)
    whole = place.root or bool(raw.get("x-kubernetes-embedded-resource"))
    for name, child in (raw.get("properties") or {}).items():
        below = inner
        if whole and name in META:
            below = replace(inner, in_metadata=True)
            below = replace(below, defaults=f"in top-level {name}") if place.root else below
        yield from _node(child, f"{path}.properties[{name}]", below)
    narrowing = replace(inner, rules=False)
    if raw.get("not") is not None:
        yield from _node(raw["not"], f"{path}.not", narrowing)
    for key in ("allOf", "oneOf", "anyOf"):
        for index, clause in enumerate(raw.get(key) or ()):
            yield from _node(clause, f"{path}.{key}[{index}]", narrowing)
    if isinstance(raw.get("items"), dict):
        mapped = raw.get("x-kubernetes-list-type") == "map"
        below = inner if mapped or place.uncorrelated else replace(inner, uncorrelated=path)
        yield from _node(raw["items"], f"{path}.items", below)


def _list_and_map(raw: Object, path: str) -> Iterator[FieldError]:
    kind, list_type, map_type = (
        raw.get("type") or "",
        raw.get("x-kubernetes-list-type"),
        raw.get("x-kubernetes-map-type"),
    )
    for wanted, key, value in (("object", "map", map_type), ("array", "list", list_type)):
        if value is not None and kind != wanted:
            said = f"must be {wanted} if x-kubernetes-{key}-type is specified"
            yield invalid(f"{path}.type", kind, said) if kind else required(f"{path}.type", said)
    if map_type is not None and map_type not in ("atomic", "granular"):
        yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))
    if list_type == "set" and kind == "array" and isinstance(raw.get("items"), dict):
        yield from _set_items(raw["items"], f"{path}.items")
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))
    if raw.get("x-kubernetes-list-map-keys") and list_type != "map":
        said = "must be map if x-kubernetes-list-map-keys is non-empty"
        place = f"{path}.x-kubernetes-list-type"
        yield invalid(place, list_type, said) if list_type is not None else required(place, said)
    if list_type == "map":
        yield from _map_list(raw, path)
    if list_type in ("set", "map") and isinstance(raw.get("items"), dict):
        yield from _never_null(raw, path, list_type)


def _set_items(items: Object, path: str) -> Iterator[FieldError]:
    said = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield invalid(f"{path}.x-kubernetes-list-type", list_type, said)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield invalid(f"{path}.x-kubernetes-map-type", list_type, said)


def _map_list(raw: Object, path: str) -> Iterator[FieldError]:
    keys, items = raw.get("x-kubernetes-list-map-keys") or [], raw.get("items")
    if not keys:
        said = "must not be empty if x-kubernetes-list-type is map"
        yield required(f"{path}.x-kubernetes-list-map-keys", said)
    if items is None:
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if not isinstance(items, dict):
        return
    if items.get("type") != "object":
        said = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type") or "", said)
        return
    for index, key in enumerate(keys):
        known = (items.get("properties") or {}).get(key)
        if known is None:
            said = "entries must all be names of item properties"
            yield invalid(f"{path}.x-kubernetes-list-map-keys", keys, said)
        elif known.get("type") in ("array", "object"):
            said = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{path}.items.properties[{key}].type", items["type"], said)
        if key in keys[:index]:
            yield invalid(f"{path}.x-kubernetes-list-map-keys", keys, "must not contain duplicate entries")


def _never_null(raw: Object, path: str, list_type: str) -> Iterator[FieldError]:
    """Items of sets and maps, and the keys of maps, can always be told apart."""
    items = raw["items"]
    if items.get("nullable"):
        said = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        yield forbidden_field(f"{path}.items.nullable", said)
    if list_type != "map":
        return
    for key in raw.get("x-kubernetes-list-map-keys") or ():
        known = (items.get("properties") or {}).get(key)
        if known is None:
            continue
        place = f"{path}.items.properties[{key}]"
        said = "this property is in x-kubernetes-list-map-keys, so it"
        if key not in (items.get("required") or ()) and known.get("default") is None:
            yield required(f"{place}.default", f"{said} must have a default or be a required property")
        if known.get("nullable"):
            yield forbidden_field(f"{place}.nullable", f"{said} cannot be nullable")


def _rule_texts(raw: Object, path: str) -> Iterator[FieldError]:
    for index, rule in enumerate(raw.get("x-kubernetes-validations") or ()):
        yield from _rule_text(rule, raw, f"{path}.x-kubernetes-validations[{index}]")


def _rule_text(rule: Object, raw: Object, place: str) -> Iterator[FieldError]:
    text, message = rule.get("rule") or "", rule.get("message") or ""
    if not text.strip():
        yield required(f"{place}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{place}.message", message, "must be non-empty if specified")
    elif re.search(r"[\n\r]", message.strip()):
        yield invalid(f"{place}.message", message, "must not contain line breaks")
    elif re.search(r"[\n\r]", text.strip()) and not message.strip():
        yield required(f"{place}.message", "message must be specified if rule contains line breaks")
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        yield required(f"{place}.messageExpression", "messageExpression must be non-empty if specified")
    if rule.get("reason") is not None and rule["reason"] not in _REASONS:
        yield not_supported(f"{place}.reason", rule["reason"], _REASONS)
    where = rule.get("fieldPath") or ""
    if where and not where.strip():
        yield invalid(f"{place}.fieldPath", where, "must be non-empty if specified")
    if re.search(r"[\n\r]", where):
        yield invalid(f"{place}.fieldPath", where, "must not contain line breaks")
    if where:
        try:
            field_path(where, compiled(raw))
        except FieldPathError:
            yield invalid(f"{place}.fieldPath", where, "must be a valid path")


def _rule_compilation(raw: Object, path: str, place: _Place) -> Iterator[FieldError]:
    rules = raw.get("x-kubernetes-validations") or []
    if not rules:
        return
    for fault in rule_faults(rules, compiled(raw), root=place.root):
        rule_text = _as_go(rules[fault.index])
        where = f"{path}.x-kubernetes-validations[{fault.index}].{fault.key}"
        yield FieldError("Invalid value", where, f"Invalid value: {rule_text}: {fault.detail}")
    for index, rule in enumerate(rules):
        where = f"{path}.x-kubernetes-validations[{index}]"
        if uses_old_self(rule):
            if place.uncorrelated:
                said = "oldSelf cannot be used on the uncorrelatable portion of the schema within"
                yield invalid(f"{where}.rule", rule["rule"], f"{said} {place.uncorrelated}")
        elif rule.get("optionalOldSelf") is not None:
            said = "may not be set if oldSelf is not used in rule"
            yield invalid(f"{where}.optionalOldSelf", rule["optionalOldSelf"], said)


def _as_go(rule: Object) -> str:
    """A rule as Kubernetes shows it in messages: under the names its own code has for the fields."""
    named = {
        "Rule": rule.get("rule", ""), "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""), "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""), "OptionalOldSelf": rule.get("optionalOldSelf"),
    }  # fmt: skip
    text = shown(named)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
