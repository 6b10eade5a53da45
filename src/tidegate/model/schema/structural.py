"""Types → structural OpenAPI schemas, as a CustomResourceDefinition wants them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
import msgspec.inspect as mi

from tidegate.model.kinds.shape import Kind, Metadata, Rule, Shape
from tidegate.model.schema.docstrings import member_docs, summary
from tidegate.model.values import value_schema, wire_value

Json = dict[str, Any]
BASE64 = "^[A-Za-z0-9+/]*={0,2}$"


def schema_of(kind: type[Kind]) -> Json:
    """The schema of a whole object."""
    found = mi.type_info(kind)
    assert isinstance(found, mi.StructType)
    schema: Json = {"description": summary(kind)} | _struct(found, defaults=True)
    schema["properties"] = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}} | schema["properties"]
    schema["required"] = [name for name in schema.get("required", []) if name != "metadata"]
    if not schema["required"]:
        del schema["required"]
    if choice := kind.definition.exactly_one:
        schema["oneOf"] = [{"required": [name]} for name in choice]
    return schema


def _node(wanted: mi.Type, *, defaults: bool) -> Json:
    match wanted:
        case mi.Metadata(type=inner, extra_json_schema=extra):
            own = {} if isinstance(inner, mi.DictType) and "type" in (extra or {}) else _node(inner, defaults=defaults)
            return own | (extra or {})
        case mi.UnionType(types=types):
            return _node(next(one for one in types if not isinstance(one, mi.NoneType)), defaults=defaults)
        case mi.StructType():
            return _struct(wanted, defaults=defaults)
        case mi.VarTupleType(item_type=item):
            limits = {"minItems": wanted.min_length, "maxItems": wanted.max_length}
            return {"type": "array", "items": _node(item, defaults=defaults)} | _given(limits)
        case mi.DictType():
            return _mapping(wanted, defaults=defaults)
        case mi.CustomType(cls=custom):
            return dict(value_schema(custom))
        case mi.EnumType(cls=words):
            return {"type": "string", "enum": [str(word.value) for word in words]}
    return _scalar(wanted)


def _scalar(wanted: mi.Type) -> Json:
    match wanted:
        case mi.BoolType():
            return {"type": "boolean"}
        case mi.DateTimeType():
            return {"type": "string", "format": "date-time"}
        case mi.BytesType(max_length=most):
            # Base64 writes three bytes as four characters. By its pattern and not by format byte, for which API servers
            # take a list as well.
            return {"type": "string", "pattern": BASE64} | _given({"maxLength": most and -(-most // 3) * 4})
        case mi.IntType(ge=least, le=most):
            wide = most is None or most >= 2**31
            return {"type": "integer", "format": "int64" if wide else "int32"} | _given(
                {"minimum": least, "maximum": most}
            )
        case mi.StrType(min_length=least, max_length=most, pattern=pattern):
            return {"type": "string"} | _given({"minLength": least, "maxLength": most, "pattern": pattern})
        case mi.AnyType():
            return {}
    raise TypeError(f"no schema for {wanted}")


def _mapping(wanted: mi.DictType, *, defaults: bool) -> Json:
    if isinstance(wanted.value_type, mi.AnyType):
        return {"type": "object"}
    limits = {"minProperties": wanted.min_length, "maxProperties": wanted.max_length}
    values = _node(wanted.value_type, defaults=defaults)
    return {"type": "object", "additionalProperties": values} | _given(limits)


def _struct(wanted: mi.StructType, *, defaults: bool) -> Json:
    if wanted.cls is Metadata:
        return {"type": "object"}
    docs = member_docs(wanted.cls)
    properties = {}
    for field in wanted.fields:
        # Status is written by programs, which say what they mean; a default would only look like something observed.
        inside = defaults and field.name != "status"
        node = _node(field.type, defaults=inside)
        if field.name in docs:
            node = {"description": _described(docs[field.name], field.type)} | node
        default = default_of(field) if inside else None
        properties[field.encode_name] = node | _given({"default": default})
    required = [field.encode_name for field in wanted.fields if field.required]
    schema: Json = {"type": "object", "properties": properties} | ({"required": required} if required else {})
    rules = [_validation(rule) for rule in _rules(wanted.cls)]
    return schema | ({"x-kubernetes-validations": rules} if rules else {})


def _rules(cls: type) -> tuple[Rule, ...]:
    return cls.rules if issubclass(cls, Shape) else ()


def _validation(rule: Rule) -> Json:
    return {"rule": rule.cel, "message": rule.message} | ({"fieldPath": rule.field} if rule.field else {})


def _described(text: str, wanted: mi.Type) -> str:
    """A field's docstring, and what each word means where only certain words are allowed."""
    words = enum_of(wanted)
    if not words:
        return text
    docs = member_docs(words)
    return " ".join([text, *(f"{word.value}: {docs[word.name]}" for word in words)])


def enum_of(wanted: mi.Type) -> type[StrEnum] | None:
    """The words a field is restricted to, if it is."""
    types = wanted.types if isinstance(wanted, mi.UnionType) else (wanted,)
    return next((one.cls for one in types if isinstance(one, mi.EnumType)), None)  # type: ignore[return-value]


def default_of(field: mi.Field) -> Any:
    """What the API server is to fill in; nothing for what is simply empty."""
    value = field.default
    if value in (msgspec.NODEFAULT, None, "", (), msgspec.UNSET):
        return None
    if isinstance(value, Shape):
        has_defaults = any(default_of(inner) is not None for inner in _fields(value))
        return {} if has_defaults or field.name == "spec" else None
    written = msgspec.to_builtins(value, enc_hook=wire_value)
    return None if written == {} else written


def _fields(value: Shape) -> tuple[mi.Field, ...]:
    found = mi.type_info(type(value))
    assert isinstance(found, mi.StructType)
    return found.fields


def _given(words: Json) -> Json:
    return {word: value for word, value in words.items() if value is not None}
