"""Who belongs to whom: adopting orphans that match a selector, releasing those that match no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.objects import Meta, owner_reference, plain
from tidegate.local.controllers.selectors import LabelSelector, matches


class HasMeta(Protocol):
    @property
    def metadata(self) -> Meta: ...


M = TypeVar("M", bound=HasMeta)


class Claims(NamedTuple, Generic[M]):
    kept: list[M]
    adopt: list[M]
    release: list[M]


def claims(owner: Meta, selector: LabelSelector, owned: Iterable[M], orphans: Iterable[M]) -> Claims[M]:
    """An owner that is being deleted keeps what it has and takes or gives nothing."""
    kept: list[M] = []
    release: list[M] = []
    for each in owned:
        (kept if matches(selector, each.metadata.labels) else release).append(each)
    if owner.deletion_timestamp is not None:
        return Claims(kept, [], [])
    free = [each for each in orphans if each.metadata.deletion_timestamp is None]
    return Claims(kept, [each for each in free if matches(selector, each.metadata.labels)], release)


def former_owner(old: HasMeta | None, new: HasMeta | None, kind: str) -> tuple[str, str] | None:
    """The key of an owner of that kind which has just lost the object to another or to nobody: it must hear of it."""
    before = old.metadata.controller if old else None
    if old is None or new is None or before is None or before == new.metadata.controller or before.kind != kind:
        return None
    return (old.metadata.namespace, before.name)


class Ownership(Generic[M]):
    """Writes claims for the owners of one kind. `finalizer` goes onto what is adopted and off what is released."""

    def __init__(self, client: Client, resource: Resource[M], owners: Resource[Any], finalizer: str = "") -> None:
        self._client = client
        self._resource = resource
        self._owners = owners
        self._finalizer = finalizer

    async def settle(self, owner: Meta, claimed: Claims[M]) -> bool:
        """Adopts and releases; whether anything was written, after which the caches will tell."""
        if claimed.adopt and not await self._alive(owner):
            return True
        for each in claimed.adopt:
            await self._write(each.metadata, self._adoption(owner, each.metadata))
        for each in claimed.release:
            await self._write(each.metadata, self._release(owner, each.metadata))
        return bool(claimed.adopt or claimed.release)

    async def _alive(self, owner: Meta) -> bool:
        """Asked of the server, not the cache: an owner that is going must not adopt what it would take along."""
        try:
            fresh = await self._client.get(self._owners, owner.name, owner.namespace)
        except StatusError as error:
            if error.code == 404:
                return False
            raise
        return fresh.metadata.uid == owner.uid and fresh.metadata.deletion_timestamp is None

    def _adoption(self, owner: Meta, each: Meta) -> Object:
        reference = owner_reference(owner, self._owners.api_version, self._owners.kind)
        patch: Object = {"ownerReferences": [*_references(each), reference]}
        if self._finalizer and self._finalizer not in each.finalizers:
            patch["finalizers"] = [*each.finalizers, self._finalizer]
        return patch

    def _release(self, owner: Meta, each: Meta) -> Object:
        others = [reference for reference in _references(each) if reference["uid"] != owner.uid]
        patch: Object = {"ownerReferences": others}
        if self._finalizer in each.finalizers:
            patch["finalizers"] = [name for name in each.finalizers if name != self._finalizer]
        return patch

    async def _write(self, each: Meta, patch: Object) -> None:
        """With the version read: the lists are written whole, so nothing may have changed meanwhile."""
        patch |= {"uid": each.uid, "resourceVersion": each.resource_version}
        try:
            await self._client.patch(self._resource, each.name, {"metadata": patch}, each.namespace)
        except StatusError as error:
            if error.code not in {404, 409}:
                raise


def _references(each: Meta) -> list[Object]:
    references: list[Object] = plain(each.owner_references)
    return references
