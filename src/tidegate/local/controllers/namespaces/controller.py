"""Furnishes namespaces, and again when somebody removes what belongs there."""

from __future__ import annotations

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import CONFIGMAPS, SERVICEACCOUNTS
from tidegate.kube.wire import Object, Resource
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, synced
from tidegate.local.controllers.objects import Meta, Named, Struct
from tidegate.local.controllers.status import is_namespace_ending

ACCOUNT = "default"
ROOT_CA = "kube-root-ca.crt"


class NamespaceStatus(Struct, frozen=True):
    phase: str = "Active"


class Namespace(Struct, frozen=True):
    metadata: Meta
    status: NamespaceStatus = NamespaceStatus()

    @property
    def open(self) -> bool:
        return self.metadata.deletion_timestamp is None and self.status.phase == "Active"


NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False, type=Namespace)
_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", type=Named)


class NamespaceController:
    def __init__(self, client: Client, caches: Caches, root_ca: str) -> None:
        self._client, self._root_ca = client, root_ca
        self._namespaces = caches.follow(NAMESPACES)
        self._accounts = caches.follow(_ACCOUNTS, fields=f"metadata.name={ACCOUNT}")
        self._bundles = caches.follow(CONFIGMAPS, fields=f"metadata.name={ROOT_CA}")
        self._queue: WorkQueue[str] = WorkQueue()
        self._namespaces.on_change(self._namespace_changed)
        self._accounts.on_change(self._account_changed)
        self._bundles.on_change(self._bundle_changed)

    async def run(self) -> None:
        await synced(self._namespaces, self._accounts, self._bundles)
        await self._queue.run(self._look, workers=2)

    def _namespace_changed(self, _: Namespace | None, new: Namespace | None) -> None:
        if new is not None:
            self._queue.add(new.metadata.name)

    def _account_changed(self, old: Named | None, new: Named | None) -> None:
        if old is not None and new is None:
            self._queue.add(old.metadata.namespace)

    def _bundle_changed(self, old: Object | None, new: Object | None) -> None:
        self._queue.add((new or old or {})["metadata"]["namespace"])

    async def _look(self, name: str) -> None:
        namespace = self._namespaces.get(name)
        if namespace is None or not namespace.open:
            return
        if self._accounts.get(ACCOUNT, name) is None:
            await self._create(SERVICEACCOUNTS, {"metadata": {"name": ACCOUNT, "namespace": name}})
        bundle, content = self._bundles.get(ROOT_CA, name), {"ca.crt": self._root_ca}
        if bundle is None:
            note = {"kubernetes.io/description": "The authority that signs the certificate of this API server."}
            metadata = {"name": ROOT_CA, "namespace": name, "annotations": note}
            await self._create(CONFIGMAPS, {"metadata": metadata, "data": content})
        elif bundle.get("data") != content:
            await self._restore(bundle, content)

    async def _create(self, resource: Resource[Object], body: Object) -> None:
        try:
            await self._client.create(resource, body)
        except StatusError as error:
            if error.code not in {404, 409} and not is_namespace_ending(error):
                raise

    async def _restore(self, bundle: Object, content: dict[str, str]) -> None:
        """With the version read, so that two hands that both set it right do not take turns."""
        metadata = bundle["metadata"]
        gone = dict.fromkeys(bundle.get("data") or {}, None)
        patch = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "data": gone | content}
        try:
            await self._client.patch(CONFIGMAPS, ROOT_CA, patch, metadata["namespace"])
        except StatusError as error:
            if error.code not in {404, 409}:
                raise
