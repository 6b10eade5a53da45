"""The registry: which resources are served, found by group, version and plural name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from tidegate.kube.wire import Object
from tidegate.local.apiserver.answers import decode, encode
from tidegate.local.apiserver.custom import DefinitionStrategy
from tidegate.local.apiserver.fields import META, SELECTABLE
from tidegate.local.apiserver.served import Decoded, Served, Subresource
from tidegate.local.errors import ApiError, NoPageError, page_not_found
from tidegate.local.kinds import strategy_for
from tidegate.local.kinds.core.event import to_events, whole
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.schema import decode as schema_decode
from tidegate.local.schema.builtin import BuiltinResource, builtin_resources, builtin_schema
from tidegate.local.schema.decode import decode_builtin, decode_value
from tidegate.local.schema.node import Schema

Key = tuple[str, str, str]

_DEPRECATED = {
    ("", "endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ("", "componentstatuses"): "v1 ComponentStatus is deprecated in v1.19+",
}

_VIRTUAL = {"bindings", "tokenreviews", "selfsubjectreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews",
            "selfsubjectrulesreviews", "subjectaccessreviews"}  # fmt: skip
"""Resources that are only questions: nothing is stored."""


class Registry:
    def __init__(self) -> None:
        self._served: dict[Key, Served] = {}
        self.changes = 0
        """Counts changes of what is served, so that documents made from it are made again when needed."""
        for resource in builtin_resources():
            self.add(_builtin(resource))

    def add(self, served: Served) -> None:
        self._served[served.group, served.version, served.plural] = served
        self.changes += 1

    def drop(self, group: str, plural: str) -> None:
        """Stops serving a custom resource in all its versions."""
        for key in [key for key in self._served if key[0] == group and key[2] == plural]:
            del self._served[key]
        self.changes += 1

    def find(self, group: str, version: str, plural: str) -> Served | None:
        return self._served.get((group, version, plural))

    def missing(self, group: str) -> ApiError:
        """The refusal of a path that nothing is served at: in the API's words where its group is Kubernetes' own."""
        known = any(served.group == group and not served.custom for served in self._served.values())
        return page_not_found() if known else NoPageError()

    def by_kind(self, group: str, kind: str, version: str = "") -> Served | None:
        """Any served version of a kind, or the one asked for."""
        for served in self._served.values():
            if served.group == group and served.kind == kind and version in ("", served.version):
                return served
        return None

    def other_versions(self, served: Served) -> list[Served]:
        """What else shows the same objects: other versions of a kind, or another group with the same one."""
        return [other for other in self._served.values() if other.prefix == served.prefix and other is not served]

    def all(self) -> Iterable[Served]:
        return self._served.values()

    def stored(self) -> Iterator[Served]:
        """One Served for each collection in the store, whatever number of versions and groups show it."""
        seen = set()
        for served in self._served.values():
            if served.prefix not in seen and served.plural not in _VIRTUAL:
                seen.add(served.prefix)
                yield served

    def of_key(self, key: str) -> Served | None:
        """The resource a key of the store belongs to."""
        group, plural, _ = key.split("/", 2)
        group = "" if group == "core" else group
        for served in self._served.values():
            if served.plural == plural and served.group == group:
                return served
        return None


def _builtin(resource: BuiltinResource) -> Served:
    schema: partial[Schema] = partial(builtin_schema, (resource.group, resource.version, resource.kind))
    selectable = SELECTABLE.get((resource.group, resource.plural), META)
    subresources = {
        sub.name: Subresource(sub.name, sub.kind, sub.verbs, sub.group, sub.version) for sub in resource.subresources
    }
    served = Served(
        resource.group, resource.version, resource.plural, resource.singular, resource.kind, resource.namespaced,
        resource.verbs, _strategy(resource), schema, partial(_decode, schema), partial(_decode_value, schema),
        short_names=resource.short_names, categories=resource.categories, subresources=subresources,
        selectable=selectable, warning=_DEPRECATED.get((resource.group, resource.plural), ""),
    )  # fmt: skip
    if (resource.group, resource.plural) == ("events.k8s.io", "events"):
        served.prefix = "core/events/"
        served.convert = _newer_event
    return served


def _newer_event(value: bytes) -> bytes:
    """An event as it is kept, in the core group's words, in those of events.k8s.io."""
    event = whole(to_events(decode(value)))
    return encode({key: item for key, item in event.items() if key not in ("kind", "apiVersion")})


def _strategy(resource: BuiltinResource) -> Strategy:
    if resource.kind == "CustomResourceDefinition":
        return DefinitionStrategy()
    return strategy_for(resource.group, resource.kind)


def _decode(schema: partial[Schema], body: bytes, yaml: bool = False) -> Decoded:
    return _told(decode_builtin(body, schema(), yaml=yaml))


def _decode_value(schema: partial[Schema], value: Object) -> Decoded:
    return _told(decode_value(value, schema()))


def _told(decoded: schema_decode.Decoded) -> Decoded:
    if decoded.unknown or decoded.duplicates or decoded.repeats:
        return Decoded(decoded.obj, tuple(decoded.problems))
    return Decoded(decoded.obj)
