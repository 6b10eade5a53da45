"""Which objects a list or a watch is about: label and field selectors together, read from as little as possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.list_options import ListOptions
from tidegate.local.apiserver.selectors import Requirement, Selector, matches
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import ApiError, bad_request


class _Labels(msgspec.Struct):
    labels: dict[str, str] = {}


class _Labelled(msgspec.Struct):
    metadata: _Labels


_labelled = msgspec.json.Decoder(_Labelled).decode


@dataclass(frozen=True, slots=True)
class Choice:
    """Selectors of one request; `name` is set when the field selector asks for exactly one object."""

    served: Served
    labels: Selector = ()
    fields: Selector = ()
    name: str = ""

    @property
    def everything(self) -> bool:
        return not self.labels and not self.fields

    def takes(self, value: bytes) -> bool:
        """Whether a stored value is chosen."""
        if self.everything:
            return True
        if not self.fields:
            return matches(self.labels, _labelled(value).metadata.labels)
        return self.takes_object(decode(value))

    def takes_object(self, obj: Object) -> bool:
        if not matches(self.labels, obj["metadata"].get("labels") or {}):
            return False
        return all(requirement.matches(self._read(requirement.key, obj)) for requirement in self.fields)

    def _read(self, key: str, obj: Object) -> Mapping[str, str]:
        return {key: self.served.selectable[key](obj)}


def choice_of(call: Call, options: ListOptions) -> Choice:
    served = call.served
    fields, name = options.fields, ""
    for requirement in fields:
        if requirement.key not in served.selectable:
            raise _unknown_field(served, requirement.key)
        if requirement.key == "metadata.name" and requirement.operator == "in":
            name = next(iter(requirement.values))
    if call.name:  # The deprecated /watch/…/name, or a watch of one object.
        if fields and name != call.name:
            raise bad_request("fieldSelector metadata.name doesn't match requested name")
        fields, name = (*fields, Requirement("metadata.name", "in", frozenset([call.name]))), call.name
    return Choice(served, options.labels, fields, name)


def _unknown_field(served: Served, key: str) -> ApiError:
    if not served.custom and len(served.selectable) <= 2:
        return bad_request(f'"{key}" is not a known field selector: only "metadata.name", "metadata.namespace"')
    return bad_request(f"field label not supported: {key}")
