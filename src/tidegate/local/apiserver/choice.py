"""Which objects a list or a watch is about: label and field selectors together, read from as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.selectors import Selector, SelectorError, matches, parse_fields, parse_labels
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


def choice_of(call: Call) -> Choice:
    served, query = call.served, call.query
    labels = _parsed(call, parse_labels, "labelSelector")
    fields = _parsed(call, parse_fields, "fieldSelector")
    name = call.name
    for requirement in fields:
        if requirement.key not in served.selectable:
            raise _unknown_field(served, query, requirement.key)
        if requirement.key == "metadata.name" and requirement.operator == "in":
            name = next(iter(requirement.values))
    if call.name:  # The deprecated /watch/…/name
        fields = (*fields, *parse_fields(f"metadata.name={call.name}"))
    return Choice(served, labels, fields, name)


def _parsed(call: Call, parse: Callable[[str], Selector], parameter: str) -> Selector:
    text = call.query.get(parameter, "")
    if not text:
        return ()
    try:
        return parse(text)
    except SelectorError as error:
        raise bad_request(str(error)) from None


def _unknown_field(served: Served, query: Mapping[str, str], key: str) -> ApiError:
    what = f"{served.group}/{served.version}, Resource={served.plural}"
    asked = f'label selector "{query.get("labelSelector", "")}", field selector "{query.get("fieldSelector", "")}"'
    why = f"field label not supported: {key}"
    if len(served.selectable) <= 2:
        known = ", ".join(f'"{name}"' for name in served.selectable)
        why = f'"{key}" is not a known field selector: only {known}'
    return bad_request(f'Unable to find "{what}" that match {asked}: {why}')
