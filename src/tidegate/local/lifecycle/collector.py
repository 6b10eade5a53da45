"""Garbage collection by owner: what becomes of objects when those they belong to go.

Theory of operation. An index of who depends on whom is kept from the store's own log, so it is never behind what is
committed and needs no watch per kind. An object is looked at when something about it or its owners changed:

- its owners are all gone: it is deleted;
- some are gone, or wait for it to go (foreground), and some remain: the references to the former are dropped;
- the remaining ones all wait for it to go: it is deleted, in the foreground if it has dependents of its own;
- it is itself being deleted in the foreground: its finalizer goes once no dependent blocks it;
- it is being deleted as an orphanage: its dependents lose their reference to it, then its finalizer goes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from tidegate.kube.client import Client, Propagation, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.local.apiserver.registry import Registry
from tidegate.local.store import Change, Row, Store

log = logging.getLogger(__name__)

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_AT_ONCE = 32
"""Objects dealt with at the same time: enough to fill a commit."""


class _Reference(msgspec.Struct, rename="camel", frozen=True):
    uid: str
    block_owner_deletion: bool = False


class _Meta(msgspec.Struct, rename="camel", frozen=True):
    uid: str
    name: str
    namespace: str = ""
    owner_references: tuple[_Reference, ...] = ()
    finalizers: tuple[str, ...] = ()
    deletion_timestamp: str | None = None


class _Object(msgspec.Struct):
    metadata: _Meta


_read = msgspec.json.Decoder(_Object).decode


@dataclass(frozen=True, slots=True)
class Node:
    """An object in the graph."""

    key: str
    meta: _Meta

    @property
    def waits_for_dependents(self) -> bool:
        return self.meta.deletion_timestamp is not None and FOREGROUND in self.meta.finalizers

    @property
    def orphans_dependents(self) -> bool:
        return self.meta.deletion_timestamp is not None and ORPHAN in self.meta.finalizers


class Graph:
    """Who depends on whom, by uid."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._keys: dict[str, str] = {}
        self._dependents: dict[str, set[str]] = {}

    def put(self, row: Row) -> Node:
        node = Node(row.key, _read(row.value).metadata)
        self.drop(row.key)
        self.nodes[row.key] = node
        self._keys[node.meta.uid] = row.key
        for reference in node.meta.owner_references:
            self._dependents.setdefault(reference.uid, set()).add(row.key)
        return node

    def drop(self, key: str) -> Node | None:
        node = self.nodes.pop(key, None)
        if node is not None:
            self._keys.pop(node.meta.uid, None)
            for reference in node.meta.owner_references:
                held = self._dependents.get(reference.uid)
                if held is not None:
                    held.discard(key)
                    if not held:
                        del self._dependents[reference.uid]
        return node

    def owner(self, node: Node, reference: _Reference) -> Node | None:
        """The owner a reference means: one of the same namespace, or of none."""
        key = self._keys.get(reference.uid)
        found = self.nodes.get(key) if key else None
        if found is None or found.meta.namespace not in ("", node.meta.namespace):
            return None
        return found

    def dependents(self, node: Node) -> Iterator[Node]:
        for key in list(self._dependents.get(node.meta.uid, ())):
            if found := self.nodes.get(key):
                yield found


class Collector:
    def __init__(self, store: Store, registry: Registry, client: Client) -> None:
        self._store = store
        self._registry = registry
        self._client = client
        self._graph = Graph()
        self._line: deque[str] = deque()
        self._waiting: set[str] = set()
        self._woken = asyncio.Event()

    async def run(self) -> None:
        self._begin()
        self._store.listen(self._heard)
        while True:
            await self._work()
            self._woken.clear()
            await self._woken.wait()

    def _heard(self, change: Change) -> None:
        if change.deleted:
            self._gone(change.row.key)
        else:
            self._changed(change.row)
        if self._line:
            self._woken.set()

    def _begin(self) -> None:
        """Reads everything there is."""
        for row in self._store.range(""):
            self._graph.put(row)
        for node in self._graph.nodes.values():
            if node.meta.owner_references or node.meta.deletion_timestamp:
                self._look(node.key)

    def _look(self, key: str) -> None:
        if key not in self._waiting:
            self._waiting.add(key)
            self._line.append(key)

    def _changed(self, row: Row) -> None:
        before = self._graph.nodes.get(row.key)
        node = self._graph.put(row)
        if before is not None and before.meta.uid != node.meta.uid:
            self._freed(before)
        if node.meta.owner_references:
            self._look(node.key)
        if node.waits_for_dependents or node.orphans_dependents:
            self._look(node.key)
            for dependent in self._graph.dependents(node):
                self._look(dependent.key)
        if before is not None and before.meta.owner_references != node.meta.owner_references:
            self._freed_owners(before)

    def _gone(self, key: str) -> None:
        node = self._graph.drop(key)
        if node is not None:
            self._freed(node)

    def _freed(self, node: Node) -> None:
        """It is gone: who depended on it may go, who waited for it may go on."""
        for dependent in self._graph.dependents(node):
            self._look(dependent.key)
        self._freed_owners(node)

    def _freed_owners(self, node: Node) -> None:
        for reference in node.meta.owner_references:
            owner = self._graph.owner(node, reference)
            if owner is not None and owner.meta.deletion_timestamp:
                self._look(owner.key)

    async def _work(self) -> None:
        while self._line:
            batch = [self._line.popleft() for _ in range(min(_AT_ONCE, len(self._line)))]
            self._waiting.difference_update(batch)
            await asyncio.gather(*[self._deal_with(key) for key in batch])

    async def _deal_with(self, key: str) -> None:
        node = self._graph.nodes.get(key)
        if node is None:
            return
        try:
            if node.orphans_dependents:
                await self._orphan(node)
            elif node.waits_for_dependents:
                await self._foreground(node)
            elif node.meta.deletion_timestamp is None and node.meta.owner_references:
                await self._judge(node)
        except StatusError as error:
            if error.code == 409:
                self._look(key)  # It changed meanwhile; the change is on its way to us.
                await asyncio.sleep(0)
            elif error.code != 404:
                log.warning("garbage collection of %s failed: %s", key, error.message)

    async def _judge(self, node: Node) -> None:
        gone, waiting, solid = set(), set(), 0
        for reference in node.meta.owner_references:
            owner = self._graph.owner(node, reference)
            if owner is None:
                gone.add(reference.uid)
            elif owner.waits_for_dependents:
                waiting.add(reference.uid)
            else:
                solid += 1
        if solid:
            if gone or waiting:
                await self._drop_references(node, gone | waiting)
            return
        has_dependents = next(self._graph.dependents(node), None) is not None
        policy: Propagation = "Background"
        if (waiting and has_dependents) or FOREGROUND in node.meta.finalizers:
            policy = "Foreground"
        elif ORPHAN in node.meta.finalizers:
            policy = "Orphan"
        await self._delete(node, policy)

    async def _foreground(self, node: Node) -> None:
        blocking = False
        for dependent in self._graph.dependents(node):
            blocking |= any(r.uid == node.meta.uid and r.block_owner_deletion for r in dependent.meta.owner_references)
            if dependent.meta.deletion_timestamp is None:
                self._look(dependent.key)
        if not blocking:
            await self._drop_finalizer(node, FOREGROUND)

    async def _orphan(self, node: Node) -> None:
        dependents = list(self._graph.dependents(node))
        await asyncio.gather(*[self._drop_references(dependent, {node.meta.uid}) for dependent in dependents])
        await self._drop_finalizer(node, ORPHAN)

    def _resource(self, node: Node) -> Resource[Object] | None:
        served = self._registry.of_key(node.key)
        if served is None:
            return None
        return Resource(served.group, served.version, served.plural, served.kind, served.namespaced)

    async def _delete(self, node: Node, policy: Propagation) -> None:
        resource = self._resource(node)
        if resource is not None:
            meta = node.meta
            await self._client.delete(resource, meta.name, meta.namespace or None, propagation=policy, uid=meta.uid)

    async def _drop_references(self, node: Node, uids: set[str]) -> None:
        await self._rewrite(node, "ownerReferences", lambda item: item["uid"] not in uids)

    async def _drop_finalizer(self, node: Node, name: str) -> None:
        await self._rewrite(node, "finalizers", lambda item: item != name)

    async def _rewrite(self, node: Node, field: str, keep: Callable[[Any], bool]) -> None:
        """Shortens a list of the object's metadata, provided it is still the object we know."""
        resource, row = self._resource(node), self._store.newest(node.key)
        if resource is None or row is None:
            return
        metadata = msgspec.json.decode(row.value)["metadata"]
        if metadata["uid"] != node.meta.uid:
            return
        items = metadata.get(field) or []
        kept = [item for item in items if keep(item)]
        if len(kept) == len(items):
            return
        patch = {
            "metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"], field: kept or None}
        }
        await self._client.patch(resource, node.meta.name, patch, node.meta.namespace or None)
