"""Parts of objects as words in a cell, shared by several kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidegate.kube.wire import Object

NONE = "<none>"
UNSET = "<unset>"
_WIDTH = 16
_MODES = (("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP"))


def part(obj: Object, *keys: str) -> Any:
    """The object at a path of fields; an empty one where there is none."""
    found: Any = obj
    for key in keys:
        found = found.get(key) or {}
    return found


def name_of(obj: Object) -> str:
    name: str = obj["metadata"].get("name", "")
    return name


def created(obj: Object) -> str | None:
    when: str | None = obj["metadata"].get("creationTimestamp")
    return when


def labels(pairs: Object | None) -> str:
    """`a=1,b=2`, or `<none>`."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items())) or NONE


def selector(given: Object | None) -> str:
    """A label selector as kubectl takes it; empty if it selects by nothing."""
    if not given:
        return ""
    wanted = [(key, f"{key}={value}") for key, value in (given.get("matchLabels") or {}).items()]
    wanted += [(found["key"], _expression(found)) for found in given.get("matchExpressions") or []]
    return ",".join(text for _, text in sorted(wanted, key=lambda pair: pair[0]))


def _expression(expression: Object) -> str:
    key = expression["key"]
    values = ",".join(sorted(expression.get("values") or []))
    match expression.get("operator"):
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "DoesNotExist":
            return f"!{key}"
        case _:
            return str(key)


def containers(pod_spec: Object) -> tuple[str, str]:
    """The names and the images of a pod's containers."""
    found = pod_spec.get("containers") or []
    return ",".join(item.get("name", "") for item in found), ",".join(item.get("image", "") for item in found)


def condition_is_true(obj: Object, kind: str) -> bool:
    """Whether the first condition of this type in the status is true."""
    for condition in part(obj, "status").get("conditions") or []:
        if condition.get("type") == kind:
            return bool(condition.get("status") == "True")
    return False


def shortened(items: Iterable[str], most: int, *, empty: str = UNSET) -> str:
    """The first items, and how many more there are."""
    every = list(items)
    text = ",".join(every[:most])
    return f"{text} + {len(every) - most} more..." if len(every) > most else text or empty


def balancers(status: Object, *, wide: bool = True) -> str:
    """The addresses of load balancers."""
    found = {item.get("ip") or item.get("hostname") for item in part(status, "loadBalancer").get("ingress") or []}
    text = ",".join(sorted(filter(None, found)))
    return text if wide or len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def access_modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in _MODES if mode in (modes or []))


def truth(value: bool | None) -> str:
    return UNSET if value is None else str(value)
