"""ClusterQueues after a tree of namespaces, as hierarchical namespaces label it.

A label on the namespace at the top says where the tree hangs: `tidegate.dev/tree-under: root`. From there on every
namespace has a ClusterQueue of its name, under that of the namespace above, and, if it has no Queue, the Queue
`default`. Weights, quotas and everything else in them are people's to write; where they hang is not.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.namespaces import DEFAULT_QUEUE, Managed
from tidegate.controller.watch.cache import BY_NAMESPACE, Cache
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object

_log = logging.getLogger(__name__)

UNDER = "tidegate.dev/tree-under"
"""Label of the topmost namespace of a tree: the ClusterQueue that it hangs under."""
FROM_NAMESPACE = "tidegate.dev/from-namespace"
"""Annotation of a ClusterQueue that was made for a namespace: its name."""
_DEPTH = ".tree.hnc.x-k8s.io/depth"
"""Ending of the labels that hierarchical namespaces have, one for every namespace above: how far above it is."""
_NAME = "kubernetes.io/metadata.name"


def tree_of(namespaces: Iterable[Object]) -> dict[str, str]:
    """By namespace that is in a tree: the ClusterQueue that its own is to hang under."""
    there = {
        str(each["metadata"]["name"]): each["metadata"].get("labels") or {}
        for each in namespaces
        if not each["metadata"].get("deletionTimestamp")
    }
    return {name: above for name in sorted(there) if (above := _above(name, there)) is not None}


def _above(name: str, there: Mapping[str, Mapping[str, str]]) -> str | None:
    if UNDER in there[name]:
        return there[name][UNDER]
    ways = sorted((depth, each) for each, depth in _ancestors(there[name]).items() if each in there)
    in_tree = any(UNDER in there[each] for _, each in ways)
    return next((each for depth, each in ways if depth == 1), None) if in_tree else None


def _ancestors(labels: Mapping[str, str]) -> dict[str, int]:
    found = {}
    for key, depth in labels.items():
        if key.endswith(_DEPTH) and depth.isascii() and depth.isdigit() and int(depth) > 0:
            found[key.removesuffix(_DEPTH)] = int(depth)
    return found


def placed(namespace: Object, above: str) -> dict[str, Any]:
    """What is ours to say in the ClusterQueue of a namespace: where it hangs, and that it is for those below alone."""
    name, labels = namespace["metadata"]["name"], namespace["metadata"].get("labels") or {}
    if f"{name}{_DEPTH}" in labels:
        selector: Object = {"matchExpressions": [{"key": f"{name}{_DEPTH}", "operator": "Exists"}]}
    else:
        selector = {"matchLabels": {_NAME: name}}
    return {"parent": above, "namespaceSelector": selector}


class NamespaceTree:
    """Makes, keeps and removes the ClusterQueues of namespaces."""

    def __init__(self, client: Client, cache: Cache, managed: Managed) -> None:
        self._client = client
        self._cache = cache
        self._managed = managed

    async def keep(self) -> bool:
        """Whether all is as it should be; otherwise somebody wrote at the same time, and it is to be tried again."""
        wanted = tree_of(self._cache.namespaces.all())
        done = True
        for name, above in wanted.items():
            done = await self._one(name, above) and done
        for queue in list(self._cache.cluster_queues.all()):
            if _made_for(queue) is not None and _made_for(queue) not in wanted:
                done = await self._remove(queue) and done
        return done

    async def _one(self, name: str, above: str) -> bool:
        namespace, known = self._cache.namespaces.get(name), self._cache.cluster_queues.get(name)
        if namespace is None or (known is not None and _made_for(known) != name):
            return True  # One that people made is theirs.
        ours = placed(namespace, above)
        try:
            if known is None:
                await self._client.create(CLUSTER_QUEUES, {"metadata": _metadata(namespace), "spec": ours})
            elif {key: (known.get("spec") or {}).get(key) for key in ours} != ours:
                await self._client.update(CLUSTER_QUEUES, {**known, "spec": {**(known.get("spec") or {}), **ours}})
            await self._door(name)
        except StatusError as refused:
            if refused.code not in (403, 404, 409, 422):
                raise
            if refused.code == 422:
                _log.warning("The ClusterQueue of namespace %s cannot be kept: %s", name, refused.message)
            return refused.code != 409
        return True

    async def _door(self, namespace: str) -> None:
        """A Queue where there is none, and no ResourceQuota from which one is made."""
        has = self._cache.queues.by(BY_NAMESPACE, namespace) or self._cache.resource_quotas.by(BY_NAMESPACE, namespace)
        if self._managed.is_managed(namespace) and not has:
            made = {"name": DEFAULT_QUEUE, "namespace": namespace}
            await self._client.create(QUEUES, {"metadata": made, "spec": {"clusterQueue": namespace}})

    async def _remove(self, queue: Object) -> bool:
        try:
            await self._client.delete(CLUSTER_QUEUES, queue["metadata"]["name"], uid=queue["metadata"]["uid"])
        except StatusError as refused:
            return refused.code in (404, 409)
        return True


def _made_for(queue: Object) -> str | None:
    return (queue["metadata"].get("annotations") or {}).get(FROM_NAMESPACE)


def _metadata(namespace: Object) -> Object:
    """It goes with its namespace, also while nobody of us is there."""
    name, uid = namespace["metadata"]["name"], namespace["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": name, "uid": uid}
    return {"name": name, "annotations": {FROM_NAMESPACE: name}, "ownerReferences": [owner]}
