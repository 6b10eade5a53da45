"""What a pod gets from its runtime class: an overhead, and where it may be placed."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.answers import decode
from tidegate.local.errors import ApiError, forbidden
from tidegate.local.kinds.names import path_segment
from tidegate.local.kinds.rules import same
from tidegate.local.store import Store

_WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
_OTHER = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClasses:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def mutate(self, asked: Attributes) -> None:
        if not _is_new_pod(asked) or (found := self._class_of(asked)) is None or asked.obj is None:
            return
        spec = asked.obj["spec"]
        if (overhead := found.get("overhead")) is not None:
            fixed = overhead.get("podFixed")
            if spec.get("overhead") and not same(spec["overhead"], fixed):
                raise forbidden("", "pods", asked.name, _OTHER)
            spec["overhead"] = fixed
        if (scheduling := found.get("scheduling")) is not None:
            _place(asked, spec, scheduling)

    async def validate(self, asked: Attributes) -> None:
        if not _is_new_pod(asked) or asked.obj is None:
            return
        overhead = asked.obj["spec"].get("overhead")
        fixed = (self._class_of(asked) or {}).get("overhead")
        if fixed is None and overhead is not None:
            raise forbidden("", "pods", asked.name, _WITHOUT)
        if fixed is not None and not same(overhead, fixed.get("podFixed")):
            raise forbidden("", "pods", asked.name, _OTHER)

    def _class_of(self, asked: Attributes) -> Object | None:
        assert asked.obj is not None
        name = asked.obj["spec"].get("runtimeClassName")
        if name is None:
            return None
        if not name:
            raise ApiError(500, "", "resource name may not be empty")
        if messages := path_segment(name):
            raise ApiError(500, "", f'invalid resource name "{name}": [{" ".join(messages)}]')
        row = self._store.newest(f"node.k8s.io/runtimeclasses/{name}")
        if row is None:
            raise forbidden("", "pods", asked.name, f'pod rejected: RuntimeClass "{name}" not found')
        found: Object = decode(row.value)
        return found


def _is_new_pod(asked: Attributes) -> bool:
    is_pod = not asked.served.group and asked.served.plural == "pods" and not asked.subresource
    return is_pod and asked.operation == "CREATE"


def _place(asked: Attributes, spec: Object, scheduling: Object) -> None:
    chosen = spec.setdefault("nodeSelector", {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if chosen.setdefault(key, value) != value:
            says = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
            raise forbidden("", "pods", asked.name, f"{says}pod.spec.nodeSelector[{key}] = {chosen[key]}")
    if not chosen:
        del spec["nodeSelector"]
    if tolerations := _merged([*(spec.get("tolerations") or []), *(scheduling.get("tolerations") or [])]):
        spec["tolerations"] = tolerations


def _merged(tolerations: list[Any]) -> list[Any]:
    """Without those that another one covers; of two that are alike the first stays."""
    kept: list[Any] = []
    for index, one in enumerate(tolerations):
        covered = any(_covers(other, one) for other in kept)
        if not covered and not any(one != later and _covers(later, one) for later in tolerations[index + 1 :]):
            kept.append(one)
    return kept


def _covers(wide: Object, narrow: Object) -> bool:
    if wide == narrow:
        return True
    exists = wide.get("operator") == "Exists"
    if narrow.get("key") != wide.get("key") and (wide.get("key") or not exists):
        return False
    if wide.get("effect") and narrow.get("effect") != wide["effect"]:
        return False
    limit, wanted = wide.get("tolerationSeconds"), narrow.get("tolerationSeconds")
    if wide.get("effect") == "NoExecute" and limit is not None and (wanted is None or wanted > limit):
        return False
    return exists or (narrow.get("operator") == "Equal" and narrow.get("value") == wide.get("value"))
