"""One write in the words of several versions: who asked for one version of a kind is told of writes to the others."""

from __future__ import annotations

from dataclasses import replace

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.served import Served
from tidegate.local.kinds.core.event import to_core, to_events, whole


def converted(obj: Object, served: Served) -> Object:
    """`obj` as an object of another version of its kind. Versions of a custom kind differ in name only."""
    if served.kind == "Event" and not served.custom:
        return whole(to_events(obj) if served.convert is not None else to_core(obj))
    return obj | {"apiVersion": served.api_version}


def viewed(asked: Attributes, served: Served) -> Attributes:
    """The same write, as if it came in the version `served`."""
    if served is asked.served:
        return asked
    obj, old = (None if one is None else converted(one, served) for one in (asked.obj, asked.old))
    return replace(asked, served=served, requested=asked.served, obj=obj, old=old)
