"""What a server fills into pods that leave it open: requests, by LimitRange, and the overhead of their runtime class.

An application's template says nothing of it, and its pods take it all the same. What runs counts what it was admitted
with, so that is noted beside what it asks for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.model.jobs import JobKind, Kinds, Obj, inside, peek, put, templates
from tidegate.model.problems import Path
from tidegate.model.quantity import Quantity
from tidegate.model.resources import Resources

_SORTS = ("initContainers", "containers")


@dataclass(frozen=True, slots=True)
class PodDefaults:
    """What pods of one namespace are given."""

    requests: Mapping[str, str]
    """Of every container that says nothing of a resource."""
    overheads: Mapping[str, Mapping[str, str]]
    """By runtime class: what a pod of it takes beside its containers."""

    def noted(self, entry: JobKind, obj: Obj, kinds: Kinds) -> str:
        """What of it an application is given, as text; empty where that is nothing."""
        if self.filled(entry, obj, kinds) is obj:
            return ""
        classes = {inside(obj, place.pod).get("runtimeClassName") for place in templates(entry, obj, kinds)}
        overheads = {name: dict(fixed) for name, fixed in self.overheads.items() if name in classes}
        return json.dumps({"requests": dict(self.requests), "overheads": overheads}, sort_keys=True)

    @classmethod
    def from_note(cls, text: str) -> PodDefaults:
        """What was noted. Whatever else may stand there counts for nothing."""
        try:
            told = json.loads(text or "{}")
            for resources in (told.get("requests", {}), *told.get("overheads", {}).values()):
                Resources.parse(resources)
        except (ValueError, AttributeError, TypeError):
            told = {}
        return cls(told.get("requests", {}), told.get("overheads", {}))

    def filled(self, entry: JobKind, obj: Obj, kinds: Kinds) -> Obj:
        """The application, its pods as they will be stored. JobError says which field cannot be read."""
        if not self.requests and not self.overheads:
            return obj
        for path in (place.pod for place in templates(entry, obj, kinds)):
            pod = peek(obj, path)
            if isinstance(pod, Mapping) and pod.get("containers") and (given := self._pod(pod)) != pod:
                obj = put(obj, path, given)
        return obj

    def _pod(self, pod: Mapping[str, Any]) -> dict[str, Any]:
        filled = dict(pod)
        for sort in _SORTS:
            if isinstance(pod.get(sort), list):
                filled[sort] = [self._container(pod, (sort, index)) for index in range(len(pod[sort]))]
        overhead = self.overheads.get(str(pod.get("runtimeClassName") or ""))
        return filled | {"overhead": dict(overhead)} if overhead and not pod.get("overhead") else filled

    def _container(self, pod: Mapping[str, Any], path: Path) -> Any:
        resources = inside(pod, (*path, "resources"))
        stated = {field: inside(resources, (field,)) for field in ("requests", "limits")}
        # What only a limit is stated for is requested as much.
        open_ = {
            name: text for name, text in self.requests.items() if not any(name in each for each in stated.values())
        }
        container = peek(pod, path)
        return put(container, ("resources", "requests"), {**stated["requests"], **open_}) if open_ else container


def pod_defaults(limit_ranges: Iterable[Obj], runtime_classes: Iterable[Obj]) -> PodDefaults:
    """What the LimitRanges of a namespace and the runtime classes say. Of several LimitRanges a server takes any first;
    the most is what is safe."""
    requests: dict[str, str] = {}
    for limit_range in limit_ranges:
        for item in inside(limit_range, ("spec",)).get("limits") or ():
            if item.get("type") == "Container":
                for name, text in (item.get("defaultRequest") or {}).items():
                    requests[name] = max(requests.get(name, "0"), str(text), key=Quantity.parse)
    overheads = {
        str(each["metadata"]["name"]): fixed
        for each in runtime_classes
        if (fixed := inside(each, ("overhead",)).get("podFixed"))
    }
    return PodDefaults(requests, overheads)
