"""A kind's page in the reference: its fields, the words they take, and its rules."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import msgspec.inspect as mi

from tidegate.model.kinds import API_VERSION, KINDS, Kind
from tidegate.model.kinds.shape import Metadata, Shape
from tidegate.model.schema.docstrings import member_docs, summary
from tidegate.model.schema.structural import default_of, enum_of

MADE = "<!-- Made by tools/generate from the types in src/tidegate/model/kinds. Change those, not this. -->"


def index() -> str:
    """The page that names all kinds."""
    lines = [MADE, "", "# Kinds", "", f"All are of `{API_VERSION}`.", "", "| kind | what it is |", "|---|---|"]
    lines += [f"| [{name}]({name.lower()}.md) | {_cell(summary(kind))} |" for name, kind in KINDS.items()]
    return "\n".join([*lines, ""])


def page(kind: type[Kind]) -> str:
    """One kind's page, in Markdown."""
    root = mi.type_info(kind)
    assert isinstance(root, mi.StructType)
    lines = [MADE, "", f"# {kind.__name__}", "", summary(kind), "", *_served(kind), ""]
    shapes = {shape.cls: shape for shape in _shapes(root)}.values()
    for shape in shapes:
        lines += _fields(shape) if shape.cls is kind else _section(shape)
    words = dict.fromkeys(word for shape in shapes for field in shape.fields for word in _enums(field.type))
    for word in words:
        lines += _words(word)
    return "\n".join(lines)


def _served(kind: type[Kind]) -> list[str]:
    if kind.__name__ == "Scenario":
        return ["A file for `tidegate simulate`; no API server keeps it."]
    served = kind.definition
    short = f" Short names: {', '.join(f'`{name}`' for name in served.short)}." if served.short else ""
    return [f"{'Namespaced' if served.namespaced else 'Of the whole cluster'}; `kubectl get {served.plural}`.{short}"]


def _section(shape: mi.StructType) -> list[str]:
    return [f"## {shape.cls.__name__}", "", summary(shape.cls), "", *_fields(shape)]


def _fields(shape: mi.StructType) -> list[str]:
    docs = member_docs(shape.cls)
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for field in shape.fields:
        if field.name != "metadata":
            default = "required" if field.required else _default(field)
            meaning = _cell(docs.get(field.name, ""))
            lines.append(f"| `{field.encode_name}` | {_cell(_type(field.type))} | {default} | {meaning} |")
    rules = shape.cls.rules if issubclass(shape.cls, Shape) else ()
    if rules:
        lines += ["", "Refused:", "", *(f"- {rule.message}." for rule in rules)]
    return [*lines, ""]


def _words(words: type[StrEnum]) -> list[str]:
    docs = member_docs(words)
    rows = [f"| `{word.value}` | {_cell(docs[word.name])} |" for word in words]
    return [f"## {words.__name__}", "", summary(words), "", "| word | meaning |", "|---|---|", *rows, ""]


def _shapes(wanted: mi.Type) -> Iterator[mi.StructType]:
    """A struct and all structs inside it, outer ones first."""
    if isinstance(wanted, mi.StructType) and wanted.cls is not Metadata:
        yield wanted
        for field in wanted.fields:
            yield from _shapes(field.type)
    for inner in _inside(wanted):
        yield from _shapes(inner)


def _inside(wanted: mi.Type) -> tuple[mi.Type, ...]:
    match wanted:
        case mi.Metadata(type=inner) | mi.VarTupleType(item_type=inner) | mi.DictType(value_type=inner):
            return (inner,)
        case mi.UnionType(types=types):
            return types
    return ()


def _enums(wanted: mi.Type) -> Iterator[type[StrEnum]]:
    if word := enum_of(wanted):
        yield word
    for inner in _inside(wanted):
        yield from _enums(inner)


def _type(wanted: mi.Type) -> str:
    match wanted:
        case mi.Metadata(type=inner):
            return _type(inner)
        case mi.UnionType(types=types):
            return " or ".join(dict.fromkeys(_type(one) for one in types if not isinstance(one, mi.NoneType)))
        case mi.StructType(cls=cls) | mi.EnumType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case mi.VarTupleType(item_type=inner):
            return f"list of {_type(inner)}"
        case mi.DictType(value_type=inner):
            return "any mapping" if isinstance(inner, mi.AnyType) else f"map of {_type(inner)}"
        case mi.CustomType(cls=cls):
            return _CUSTOM[cls.__name__]
    return _SCALAR[type(wanted)]


_SCALAR: dict[type, str] = {
    mi.StrType: "text",
    mi.IntType: "whole number",
    mi.BoolType: "true or false",
    mi.DateTimeType: "moment",
    mi.BytesType: "base64",
    mi.AnyType: "any JSON",
}
_CUSTOM = {
    "Quantity": "quantity",
    "Resources": "map of quantity",
    "Flavored": "map of map of quantity",
    "Duration": "duration",
    "Ratio": "decimal",
    "CountBound": "whole number or range",
    "AmountBound": "quantity or range",
    "RatioBound": "decimal or range",
    "TimeBound": "duration or range",
    "Rate": "rate, e.g. 10/m",
    "CountSpread": "whole number or range",
    "DurationSpread": "duration, range or `{mean: 5m}`",
    "GrantedBound": "whole number, range, or map of them by flavor",
}


def _default(field: mi.Field) -> str:
    value = default_of(field)
    if value is None or value == {}:
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
