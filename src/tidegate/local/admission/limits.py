"""LimitRange: default requests and limits for containers, and bounds on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.answers import decode
from tidegate.local.errors import forbidden
from tidegate.local.store import Kept, Store
from tidegate.model.quantity import ZERO, Quantity

_parse = Quantity.parse
_ANNOTATION = "kubernetes.io/limit-ranger"


class Limits:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._by_namespace = Kept(store, ("core/limitranges/",), self._read)

    def _ranges(self, namespace: str) -> list[Object]:
        return self._by_namespace().get(namespace, [])

    def _read(self) -> dict[str, list[Object]]:
        found: dict[str, list[Object]] = {}
        for row in self._store.range("core/limitranges/"):
            obj = decode(row.value)
            found.setdefault(obj["metadata"]["namespace"], []).append(obj)
        return found

    async def mutate(self, asked: Attributes) -> None:
        if not _is_new_pod(asked) or asked.obj is None:
            return
        for limit_range in self._ranges(asked.namespace):
            for item in limit_range["spec"]["limits"]:
                if item["type"] == "Container":
                    _fill_in(asked.obj, item)

    async def validate(self, asked: Attributes) -> None:
        if asked.obj is None or asked.operation not in ("CREATE", "UPDATE"):
            return
        check: Callable[[Object, Object], Iterator[str]]
        if _is_new_pod(asked):
            check = _pod_errors
        elif (asked.served.group, asked.served.plural) == ("", "persistentvolumeclaims") and not asked.subresource:
            check = _claim_errors
        else:
            return
        for limit_range in self._ranges(asked.namespace):
            wrong = [error for item in limit_range["spec"]["limits"] for error in check(asked.obj, item)]
            if wrong:
                said = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
                raise forbidden("", asked.served.plural, asked.name, said)


def _is_new_pod(asked: Attributes) -> bool:
    served = asked.served
    return not served.group and served.plural == "pods" and not asked.subresource and asked.operation == "CREATE"


def _containers(pod: Object) -> Iterator[Object]:
    yield from pod["spec"].get("initContainers") or []
    yield from pod["spec"].get("containers") or []


def _fill_in(pod: Object, item: Object) -> None:
    """Sets what a container leaves open, and notes on the pod that it did."""
    notes = [
        note
        for sort, key in (("container", "containers"), ("init container", "initContainers"))
        for container in pod["spec"].get(key) or ()
        for note in _filled(container, item, sort)
    ]
    if notes:
        annotations = pod["metadata"].get("annotations") or {}
        said = {_ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}
        pod["metadata"]["annotations"] = annotations | said


def _filled(container: Object, item: Object, sort: str) -> Iterator[str]:
    resources = container.setdefault("resources", {})
    for field, defaults in (("requests", item.get("defaultRequest")), ("limits", item.get("default"))):
        missing = {key: value for key, value in (defaults or {}).items() if key not in (resources.get(field) or {})}
        if missing:
            resources[field] = (resources.get(field) or {}) | missing
            yield f"{', '.join(sorted(missing))} {field[:-1]} for {sort} {container.get('name', '')}"


def _pod_errors(pod: Object, item: Object) -> Iterator[str]:
    if item["type"] == "Container":
        for container in _containers(pod):
            resources = container.get("resources") or {}
            yield from _errors(item, resources.get("requests") or {}, resources.get("limits") or {}, "Container")
    elif item["type"] == "Pod":
        yield from _errors(item, _sum(pod, "requests"), _sum(pod, "limits"), "Pod")


def _claim_errors(claim: Object, item: Object) -> Iterator[str]:
    if item["type"] == "PersistentVolumeClaim":
        requests = (claim["spec"].get("resources") or {}).get("requests") or {}
        yield from _errors(item, requests, requests, "PersistentVolumeClaim")


def _sum(pod: Object, field: str) -> Object:
    total: dict[str, Quantity] = {}
    for container in pod["spec"].get("containers") or []:
        for key, value in ((container.get("resources") or {}).get(field) or {}).items():
            total[key] = total.get(key, ZERO) + _parse(value)
    for container in pod["spec"].get("initContainers") or []:
        for key, value in ((container.get("resources") or {}).get(field) or {}).items():
            total[key] = max(total.get(key, ZERO), _parse(value))
    return {key: str(value) for key, value in total.items()}


def _errors(item: Object, requests: Object, limits: Object, sort: str) -> Iterator[str]:
    for key, least in (item.get("min") or {}).items():
        if key not in requests:
            yield f"minimum {key} usage per {sort} is {least}.  No request is specified"
        elif _parse(requests[key]) < _parse(least):
            yield f"minimum {key} usage per {sort} is {least}, but request is {requests[key]}"
    for key, most in (item.get("max") or {}).items():
        if key not in limits:
            yield f"maximum {key} usage per {sort} is {most}.  No limit is specified"
        elif _parse(limits[key]) > _parse(most):
            yield f"maximum {key} usage per {sort} is {most}, but limit is {limits[key]}"
    for key, ratio in (item.get("maxLimitRequestRatio") or {}).items():
        if key not in requests or key not in limits:
            yield f"{key} max limit to request ratio per {sort} is {ratio}, but no request or limit is specified"
        elif _parse(limits[key]).nano * 10**9 > _parse(ratio).nano * _parse(requests[key]).nano:
            yield f"{key} max limit to request ratio per {sort} is {ratio}, but provided ratio is larger"
