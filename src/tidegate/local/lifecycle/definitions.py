"""CRDs: their names are accepted, what they define is served, and what they defined goes with them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import CRDS
from tidegate.kube.wire import Object, Resource
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.custom import CLEANUP, served_versions
from tidegate.local.crds.names import accept_names
from tidegate.local.store import Change

log = logging.getLogger(__name__)

PREFIX = "apiextensions.k8s.io/customresourcedefinitions/"


class Definitions:
    def __init__(self, api: Api, client: Client) -> None:
        self._api = api
        self._client = client
        self._served: dict[str, str] = {}
        """Resource versions of the CRDs whose kinds are being served now."""
        self._emptying: set[str] = set()
        self._woken = asyncio.Event()

    def load(self) -> None:
        """Serves what was established when the server last ran, before anybody can ask."""
        for row in self._api.store.range(PREFIX):
            definition = decode(row.value)
            if _is_true(definition, "Established"):
                self._serve(definition)

    async def run(self) -> None:
        self._api.store.listen(self._heard)
        while True:
            self._woken.clear()
            await self._look_at_all()
            await self._woken.wait()

    def _heard(self, change: Change) -> None:
        """Wakes for CRDs, and for objects of those that are going: with the last object the CRD goes."""
        if change.row.key.startswith((PREFIX, *self._emptying)):
            self._woken.set()

    async def _look_at_all(self) -> None:
        definitions = [decode(row.value) for row in self._api.store.range(PREFIX)]
        for definition in definitions:
            others = [other for other in definitions if other is not definition]
            try:
                await self._look_at(definition, others)
            except StatusError as error:
                if error.code not in (404, 409):
                    log.warning("CRD %s: %s", definition["metadata"]["name"], error.message)
        known = {definition["metadata"]["name"] for definition in definitions}
        for name in set(self._served) - known:
            self._drop(name)

    async def _look_at(self, definition: Object, others: list[Object]) -> None:
        if definition["metadata"].get("deletionTimestamp"):
            await self._end(definition)
            return
        status = accept_names(definition, others, now=self._api.now())
        if status != definition.get("status"):
            body = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1"} | definition
            definition = await self._client.update(CRDS, body | {"status": status}, subresource="status")
        if _is_true(definition, "Established"):
            self._serve(definition)

    def _serve(self, definition: Object) -> None:
        metadata = definition["metadata"]
        if self._served.get(metadata["name"]) == metadata["resourceVersion"]:
            return
        self._drop(metadata["name"])
        for served in served_versions(definition):
            self._api.registry.add(served)
        self._served[metadata["name"]] = metadata["resourceVersion"]

    def _drop(self, name: str) -> None:
        plural, _, group = name.partition(".")
        if self._served.pop(name, None):
            self._api.registry.drop(group, plural)

    async def _end(self, definition: Object) -> None:
        """Deletes the objects of a CRD that is to go; once they are gone, so is it."""
        metadata, spec = definition["metadata"], definition["spec"]
        if CLEANUP not in (metadata.get("finalizers") or []):
            return
        prefix = f"{spec['group']}/{spec['names']['plural']}/"
        served = next((each for each in self._api.registry.all() if each.prefix == prefix), None)
        store = self._api.store
        if served is not None:
            resource: Resource[Object] = Resource(
                served.group, served.version, served.plural, served.kind, served.namespaced
            )
            for namespace in {_namespace_of(row.key, prefix) for row in store.range(prefix)}:
                await self._client.delete_collection(resource, namespace or None)
        if store.count(prefix):
            self._emptying.add(prefix)
            return
        self._emptying.discard(prefix)
        kept = [name for name in metadata["finalizers"] if name != CLEANUP]
        self._drop(metadata["name"])
        version: Any = metadata["resourceVersion"]
        patch = {"metadata": {"resourceVersion": version, "finalizers": kept or None}}
        await self._client.patch(CRDS, metadata["name"], patch)


def _namespace_of(key: str, prefix: str) -> str:
    inside, slash, _ = key.removeprefix(prefix).partition("/")
    return inside if slash else ""


def _is_true(definition: Object, type_: str) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(condition["type"] == type_ and condition["status"] == "True" for condition in conditions)
