"""Who an object is: its namespace, name, uid and resource version, whichever form the object has.

Objects are plain dicts, or Structs that declare only the fields somebody needs. A Struct's `metadata` may be a dict, a
`Meta`, or any Struct whose *encoded* field names are Kubernetes' own (`resourceVersion`, …).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

_FIELDS = ("namespace", "name", "uid", "resourceVersion")


class Meta(msgspec.Struct, rename="camel", omit_defaults=True):
    """The part of ObjectMeta that most readers need; extend it for more."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deletion_timestamp: str | None = None


class Identity(NamedTuple):
    """Which object this is (`namespace` is "" if cluster-wide) and which of its versions."""

    namespace: str
    name: str
    uid: str
    resource_version: str

    @property
    def key(self) -> tuple[str, str]:
        return self[:2]


def identity(obj: Any) -> Identity:
    """The identity of an object of either form."""
    return identifier(type(obj))(obj)


def namespace_of(obj: Any) -> str:
    return identity(obj).namespace


def name_of(obj: Any) -> str:
    return identity(obj).name


def uid_of(obj: Any) -> str:
    return identity(obj).uid


def resource_version_of(obj: Any) -> str:
    return identity(obj).resource_version


def identifier(kind: type) -> Callable[[Any], Identity]:
    """The function that reads identities off objects of one type, for those who read many."""
    return _from_object if issubclass(kind, dict) else _from_struct


def _from_object(obj: dict[str, Any]) -> Identity:
    return _from_dict(obj.get("metadata") or {})


def _from_struct(obj: Any) -> Identity:
    meta = obj.metadata
    if isinstance(meta, dict):
        return _from_dict(meta)
    kind = type(meta)
    reader = _readers.get(kind)
    if reader is None:
        reader = _readers[kind] = _reader(kind)
    return Identity._make(reader(meta))


def _from_dict(meta: dict[str, Any]) -> Identity:
    get = meta.get
    return Identity(get("namespace") or "", get("name") or "", get("uid") or "", get("resourceVersion") or "")


_readers: dict[type, Callable[[Any], tuple[str, str, str, str]]] = {}


def _reader(kind: type) -> Callable[[Any], tuple[str, str, str, str]]:
    attributes = {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
    missing = [name for name in _FIELDS if name not in attributes]
    if missing:
        raise TypeError(f"{kind.__name__} stands for metadata and must declare {', '.join(missing)}.")
    return attrgetter(*(attributes[name] for name in _FIELDS))
