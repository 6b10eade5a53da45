"""Random objects of any kind, made from the types themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import msgspec.inspect as mi
from hypothesis import strategies as st

from tidegate.model.duration import Duration
from tidegate.model.flavored import Flavored
from tidegate.model.kinds import Kind
from tidegate.model.kinds.shape import Shape
from tidegate.model.quantity import NANO, Notation, Quantity
from tidegate.model.ratio import Ratio
from tidegate.model.resources import Resources

Strategy = st.SearchStrategy[Any]

NAMES = st.sampled_from(["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi", "pods"])
FLAVORS = st.sampled_from(["default", "a100", "spot"])
# Beyond this, what is written with a binary suffix is cut off, as in Kubernetes.
AMOUNTS = st.one_of(
    st.integers(0, 10**6).map(lambda value: value * NANO),
    st.integers(0, 2**40).map(lambda value: value * 10**6),
    st.integers(0, (2**63 - 1) * NANO),
)
NOTATIONS: st.SearchStrategy[Notation] = st.sampled_from(["decimal", "binary", "exponent"])
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)

resources = st.dictionaries(NAMES, AMOUNTS, max_size=4).map(Resources)
signed_resources = st.dictionaries(NAMES, AMOUNTS | AMOUNTS.map(lambda value: -value), max_size=4).map(Resources)
quantities = st.builds(Quantity, AMOUNTS | AMOUNTS.map(lambda value: -value), NOTATIONS)
durations = st.integers(0, 10**8).map(Duration)

CUSTOM: dict[type, Strategy] = {
    Quantity: AMOUNTS.map(Quantity),
    Resources: resources,
    Flavored: st.dictionaries(FLAVORS, resources, max_size=3).map(Flavored),
    Duration: durations,
    Ratio: st.integers(0, 10**12).map(lambda value: Ratio(value, 10**9)),
}
TEMPLATES = st.just({"spec": {"containers": [{"name": "main", "image": "host"}]}})


def objects(kind: type[Kind]) -> Strategy:
    """Well-formed objects of a kind; rules between fields may be broken."""
    return _of(mi.type_info(kind))


def _of(wanted: mi.Type) -> Strategy:
    match wanted:
        case mi.Metadata(type=inner, extra_json_schema=extra):
            if "properties" in (extra or {}):
                return TEMPLATES
            unique = _key((extra or {}).get("x-kubernetes-list-map-keys"))
            return _sequence(inner, unique) if isinstance(inner, mi.VarTupleType) else _of(inner)
        case mi.UnionType(types=types):
            return st.one_of([_of(one) for one in types])
        case mi.StructType(cls=cls, fields=fields):
            return _struct(cls, fields)
        case mi.VarTupleType():
            return _sequence(wanted, None)
        case mi.DictType(value_type=value, min_length=least):
            return st.dictionaries(NAMES | FLAVORS, _of(value), min_size=least or 0, max_size=3)
        case mi.CustomType(cls=cls):
            return CUSTOM[cls]
        case mi.EnumType(cls=words):
            return st.sampled_from(list(words))
        case mi.NoneType():
            return st.none()
        case mi.AnyType():
            return JSON
    return _scalar(wanted)


def _scalar(wanted: mi.Type) -> Strategy:
    match wanted:
        case mi.StrType(pattern=str(pattern), max_length=most):
            spelled = st.from_regex(pattern.replace("$", r"\Z"), fullmatch=True)
            return spelled.filter(lambda text: most is None or len(text) <= most)
        case mi.StrType(min_length=least):
            return st.text(st.characters(codec="utf-8"), min_size=least or 0, max_size=12)
        case mi.IntType(ge=least, le=most):
            return st.integers(-(2**63) if least is None else least, 2**63 - 1 if most is None else most)
        case mi.BoolType():
            return st.booleans()
        case mi.BytesType():
            return st.binary(max_size=20)
        case mi.DateTimeType():
            return st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
    raise TypeError(f"no strategy for {wanted}")


def _key(keys: list[str] | None) -> Any:
    return None if keys is None else (lambda item: tuple(getattr(item, key) for key in keys))


def _sequence(wanted: mi.VarTupleType, unique: Any) -> Strategy:
    items = _of(wanted.item_type)
    by = unique or (repr if isinstance(wanted.item_type, mi.StrType) else None)
    return st.lists(items, min_size=wanted.min_length or 0, max_size=3, unique_by=by).map(tuple)


def _struct(cls: type, fields: tuple[mi.Field, ...]) -> Strategy:
    given = {field.name: _of(field.type) for field in fields}
    required = {field.name: given.pop(field.name) for field in fields if field.required}
    return st.fixed_dictionaries(required, optional=given).map(lambda values: _made(cls, values))


def _made(cls: type, values: dict[str, Any]) -> Shape:
    made: Shape = cls(**values)
    assert isinstance(made, msgspec.Struct)
    return made
