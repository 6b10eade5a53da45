"""The kinds that quotas count, followed from the first quota that names them: without quotas they cost nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tidegate.kube.client import Client, StatusError
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.objects import Meta, Named, Struct

_CORE = {"services", "secrets", "configmaps", "replicationcontrollers", "resourcequotas", "persistentvolumeclaims"}


class Kind(NamedTuple):
    group: str
    plural: str


_SIZED = {Kind("", "services"), Kind("", "persistentvolumeclaims")}


class Sized(Struct, frozen=True):
    """Kinds whose usage depends on more than being there (services, claims)."""

    metadata: Meta
    spec: dict[str, Any] | None = None


class CountedKinds:
    def __init__(self, client: Client, changed: Callable[[str], None]) -> None:
        """`changed` is told the namespace in which something of a followed kind came, went or changed."""
        self._client, self._changed = client, changed
        self._group: asyncio.TaskGroup | None = None
        self._informers: dict[Kind, Informer[Any]] = {}

    def start_in(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    def named_in(self, hard: Iterable[str]) -> list[Kind]:
        """The kinds, pods aside, that a quota's resources are about."""
        kinds = {kind for name in hard if (kind := _kind_of(name)) and kind != Kind("", "pods")}
        return sorted(kinds)

    async def objects(self, kind: Kind, namespace: str) -> list[Object]:
        """Those there are, with no more of them than their usage depends on."""
        informer = await self._informer(kind)
        found = informer.by("namespace", namespace) if informer else []
        return [{"spec": each.spec or {}} if isinstance(each, Sized) else {} for each in found]

    async def _informer(self, kind: Kind) -> Informer[Any] | None:
        """Synced; None if the server does not serve such a kind: then nothing of it can exist."""
        if kind not in self._informers:
            version = await self._version(kind)
            if version is None:
                return None
            # Another look may have been here while the server was asked.
            if kind not in self._informers:
                self._informers[kind] = self._follow(kind, version)
        await self._informers[kind].synced()
        return self._informers[kind]

    def _follow(self, kind: Kind, version: str) -> Informer[Any]:
        assert self._group is not None, "kinds are followed only while the controller runs"
        shape = Sized if kind in _SIZED else Named
        resource: Resource[Any] = Resource(kind.group, version, kind.plural, "", type=shape)
        informer: Informer[Any] = Informer(self._client, resource, indexes={"namespace": _namespace})
        informer.on_change(self._heard)
        self._group.create_task(informer.run())
        return informer

    def _heard(self, old: Any, new: Any) -> None:
        self._changed((new if new is not None else old).metadata.namespace)

    async def _version(self, kind: Kind) -> str | None:
        """The version to read it in, by the server's own preference."""
        if not kind.group:
            return "v1"
        try:
            found = await self._client.raw("GET", f"/apis/{kind.group}")
            for each in [found["preferredVersion"], *found["versions"]]:
                listed = await self._client.raw("GET", f"/apis/{each['groupVersion']}")
                if any(resource["name"] == kind.plural for resource in listed.get("resources") or ()):
                    return str(each["version"])
        except StatusError as error:
            if error.code != 404:
                raise
        return None


def _namespace(each: Sized | Named) -> list[str]:
    return [each.metadata.namespace]


def _kind_of(name: str) -> Kind | None:
    """The kind a resource name counts; None for what pods ask for."""
    if name.startswith("count/"):
        plural, _, group = name.removeprefix("count/").partition(".")
        return Kind(group, plural)
    if name.startswith("services"):
        return Kind("", "services")
    if name == "requests.storage" or ".storageclass.storage.k8s.io/" in name:
        return Kind("", "persistentvolumeclaims")
    return Kind("", name) if name in _CORE else None
