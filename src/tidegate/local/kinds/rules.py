"""Small checks that many kinds share. Each yields the field errors of one field.

An empty text counts as absent, as it does in Go; a zero or `false` only counts as absent where a kind says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, duplicate, invalid, not_supported, required
from tidegate.local.kinds import names

Errors = Iterator[FieldError]

IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"
MOST_INT32 = 2**31 - 1


def child(obj: Mapping[str, Any], *keys: str) -> Object:
    """The object at the end of `keys`; empty if any step is missing."""
    found: Any = obj
    for key in keys:
        found = found.get(key) or {}
    return found  # type: ignore[no-any-return]


def items(obj: Mapping[str, Any], key: str, path: str) -> Sequence[tuple[str, Any]]:
    """The items of list `key` of the object at `path`, each with its own path."""
    found = obj.get(key)
    return [(f"{path}.{key}[{index}]", item) for index, item in enumerate(found)] if found else ()


def wrong(path: str, value: Any, messages: Iterable[str]) -> Errors:
    """One error for each message of a form in `names`."""
    for message in messages:
        yield invalid(path, value, message)


def needs(path: str, obj: Mapping[str, Any], *keys: str, says: str = "") -> Errors:
    for key in keys:
        if not obj.get(key):
            yield required(f"{path}.{key}" if path else key, says)


def name_of(path: str, value: str, form: names.Form = names.dns_label) -> Errors:
    """A name that must be there and must have `form`."""
    if not value:
        yield required(path)
    else:
        yield from wrong(path, value, form(value))


def one_of(path: str, value: Any, supported: Iterable[str]) -> Errors:
    """A choice that must be made."""
    if not value:
        yield required(path)
    else:
        yield from maybe_one_of(path, value, supported)


def maybe_one_of(path: str, value: Any, supported: Iterable[str]) -> Errors:
    """A choice that may be left open (None), but not be anything else."""
    if value is not None and value not in (supported := list(supported)):
        yield not_supported(path, value, supported)


def not_negative(path: str, obj: Mapping[str, Any], *keys: str) -> Errors:
    for key in keys:
        if (value := obj.get(key)) is not None and value < 0:
            yield invalid(f"{path}.{key}", value, NOT_NEGATIVE)


def positive(path: str, value: int) -> Errors:
    if value <= 0:
        yield invalid(path, value, "must be greater than 0")


def within(path: str, value: int | None, least: int, most: int) -> Errors:
    if value is not None:
        yield from wrong(path, value, names.in_range(value, least, most))


def unique(path: str, value: Any, seen: set[Any]) -> Errors:
    """Complains of a value met before, and remembers it."""
    if value in seen:
        yield duplicate(path, value)
    seen.add(value)


def unchanged(path: str, new: Mapping[str, Any], old: Mapping[str, Any], *keys: str) -> Errors:
    for key in keys:
        if not same(new.get(key), old.get(key)):
            yield invalid(f"{path}.{key}" if path else key, new.get(key), IMMUTABLE)


def same(a: Any, b: Any) -> bool:
    """Equality as Kubernetes means it: an empty list is the same as none.

    Empty texts and maps are not: where they mean nothing, reading the object has dropped them already."""
    if isinstance(a, dict) and isinstance(b, dict):
        return all(same(a.get(key), b.get(key)) for key in a.keys() | b.keys())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b and type(a) is type(b)) or (a in (None, []) and b in (None, []))


def int_or_percent(path: str, value: int | str) -> Errors:
    """A count, or a share of all such as "25%"."""
    if isinstance(value, str):
        yield from wrong(path, value, names.percent(value))
    elif value < 0:
        yield invalid(path, value, NOT_NEGATIVE)


def port_number_or_name(path: str, port: int | str) -> Errors:
    form = names.port_name(port) if isinstance(port, str) else names.port_number(port)
    yield from wrong(path, port, form)


def default(obj: Object, **values: Any) -> None:
    """Sets what is absent; an empty text is absent as well."""
    for key, value in values.items():
        if obj.get(key) in (None, ""):
            obj[key] = value


def unfit(path: str, detail: str) -> FieldError:
    """An invalid value that is not worth showing."""
    return FieldError("Invalid value", path, f"Invalid value: {detail}")
