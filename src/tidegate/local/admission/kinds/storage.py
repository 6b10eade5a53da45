"""Volumes and claims: they stay while they are used, get a class if there is a default, and grow where they may."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.kinds.classes import default_class
from tidegate.local.apiserver.answers import decode
from tidegate.local.errors import forbidden
from tidegate.local.store import Store
from tidegate.model.quantity import Quantity

GUARDS = {
    "persistentvolumes": "kubernetes.io/pv-protection",
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
}
"""Finalizers that keep what is in use; a controller takes them away."""
CLASSES = "storage.k8s.io/storageclasses/"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_NOT_BOUND = "Only bound persistent volume claims can be expanded"
_NOT_HERE = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class Storage:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def mutate(self, asked: Attributes) -> None:
        if asked.operation != "CREATE" or not _is_storage(asked) or asked.obj is None:
            return
        metadata = asked.obj["metadata"]
        guard = GUARDS[asked.served.plural]
        if guard not in (metadata.get("finalizers") or ()):
            metadata["finalizers"] = [*(metadata.get("finalizers") or ()), guard]
        is_open = asked.served.plural == "persistentvolumeclaims" and _class_of(asked.obj) is None
        if is_open and (name := default_class(self._store, CLASSES, _IS_DEFAULT)):
            asked.obj["spec"]["storageClassName"] = name

    async def validate(self, asked: Attributes) -> None:
        is_claim = _is_storage(asked) and asked.served.plural == "persistentvolumeclaims"
        if asked.operation != "UPDATE" or not is_claim or asked.obj is None or asked.old is None:
            return
        if _size(asked.obj) <= _size(asked.old):
            return
        if (asked.old.get("status") or {}).get("phase") != "Bound":
            raise forbidden("", "persistentvolumeclaims", asked.name, _NOT_BOUND)
        if not self._may_grow(asked.obj, asked.old):
            raise forbidden("", "persistentvolumeclaims", asked.name, _NOT_HERE)

    def _may_grow(self, claim: Object, old: Object) -> bool:
        name = _class_of(claim)
        if not name or name != _class_of(old):
            return False
        row = self._store.newest(CLASSES + name)
        return row is not None and bool(decode(row.value).get("allowVolumeExpansion"))


_IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _is_storage(asked: Attributes) -> bool:
    return not asked.served.group and asked.served.plural in GUARDS and not asked.subresource


def _class_of(claim: Object) -> str | None:
    annotations = claim["metadata"].get("annotations") or {}
    named: str | None = annotations.get(_OLD_CLASS, claim["spec"].get("storageClassName"))
    return named


def _size(claim: Object) -> Quantity:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return Quantity.parse(str(requests.get("storage") or "0"))
