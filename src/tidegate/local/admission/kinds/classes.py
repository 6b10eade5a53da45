"""Classes that others fall back on: which is the default, and that there is one default priority at most."""

from __future__ import annotations

from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.answers import decode
from tidegate.local.errors import forbidden
from tidegate.local.store import Store

INGRESS_CLASSES = "networking.k8s.io/ingressclasses/"
PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses/"
_INGRESS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


def default_class(store: Store, prefix: str, annotations: tuple[str, ...]) -> str:
    """The newest class that one of these annotations makes the default, ties by name; empty if there is none."""
    found = []
    for row in store.range(prefix):
        metadata = decode(row.value)["metadata"]
        said = metadata.get("annotations") or {}
        if any(said.get(key) == "true" for key in annotations):
            found.append((metadata["creationTimestamp"], metadata["name"]))
    newest = max((created for created, _ in found), default="")
    return min((name for created, name in found if created == newest), default="")


class Classes:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def mutate(self, asked: Attributes) -> None:
        if asked.operation != "CREATE" or not _is(asked, "networking.k8s.io", "ingresses") or asked.obj is None:
            return
        annotations = asked.obj["metadata"].get("annotations") or {}
        spec = asked.obj.setdefault("spec", {})
        chosen = spec.get("ingressClassName") is not None or "kubernetes.io/ingress.class" in annotations
        if not chosen and (name := default_class(self._store, INGRESS_CLASSES, (_INGRESS_DEFAULT,))):
            spec["ingressClassName"] = name

    async def validate(self, asked: Attributes) -> None:
        is_class = _is(asked, "scheduling.k8s.io", "priorityclasses")
        if not is_class or asked.obj is None or not asked.obj.get("globalDefault"):
            return
        for row in self._store.range(PRIORITY_CLASSES):
            if b'"globalDefault":true' not in row.value:
                continue
            name = decode(row.value)["metadata"]["name"]
            if asked.operation == "CREATE" or name != asked.name:
                why = f"PriorityClass {name} is already marked as default. Only one default can exist"
                raise forbidden("scheduling.k8s.io", "priorityclasses", asked.name, why)


def _is(asked: Attributes, group: str, plural: str) -> bool:
    return asked.served.group == group and asked.served.plural == plural and not asked.subresource
