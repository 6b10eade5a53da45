"""A Queue and its namespace's ResourceQuota: linked where both are there, made where one is missing.

(a) both made by people: linked, and a mismatch is shown;  (b) only a Queue with limits: its ResourceQuota is made, and
put back when somebody changes it;  (c) only a ResourceQuota: a Queue is made from it, and follows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tidegate.controller.kinds import QUEUES
from tidegate.controller.namespaces import Managed
from tidegate.controller.queues.tree import tree_of
from tidegate.controller.told.queues import said
from tidegate.controller.watch.cache import BY_NAMESPACE, Cache
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import RESOURCEQUOTAS
from tidegate.kube.wire import Object
from tidegate.model.kinds import Queue
from tidegate.model.kinds.shape import Condition
from tidegate.model.quantity import Quantity, QuantityError

FROM_QUOTA = "tidegate.dev/from-resource-quota"
"""Annotation of a Queue that was made from a ResourceQuota: its name."""
_PLAIN = ("cpu", "memory", "ephemeral-storage")


def quota_of(limits: dict[str, str]) -> dict[str, str]:
    """What a ResourceQuota says for these limits."""
    return {f"requests.{name}": text for name, text in sorted(limits.items())}


def limits_of(quota: Object) -> dict[str, Quantity]:
    """What a ResourceQuota caps of what pods request; counts of objects and limits are not quota of a queue."""
    found: dict[str, Quantity] = {}
    for name, text in ((quota.get("spec") or {}).get("hard") or {}).items():
        resource = name.removeprefix("requests.") if name.startswith("requests.") else name
        if name != resource or resource in _PLAIN:
            try:
                amount = Quantity.parse(str(text))
            except QuantityError:
                continue
            found[resource] = min(amount, found.get(resource, amount))
    return found


def limits_together(limits: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What a namespace's pods are limited to by all its Queues; what one Queue leaves open nothing limits. A
    ResourceQuota is for all pods of a namespace, and cannot tell those of one Queue from those of another."""
    named = set.intersection(*(set(each) for each in limits)) if limits else set()
    return {
        name: str(sum((Quantity.parse(each[name]) for each in limits), start=Quantity(0))) for name in sorted(named)
    }


def _limits(queue: Object) -> dict[str, str]:
    going = queue["metadata"].get("deletionTimestamp")
    return {} if going else dict((queue.get("spec") or {}).get("limits") or {})


def _quota_name(queue: Object) -> str:
    return f"tidegate-{queue['metadata']['name']}"


def is_made(quota: Object) -> bool:
    """Whether a Queue owns it."""
    return any(owner.get("kind") == "Queue" for owner in quota["metadata"].get("ownerReferences") or ())


def linked(queue: Queue, cache: Cache) -> Iterable[Condition]:
    """Whether a Queue's limits and the ResourceQuota that people made beside it say the same."""
    quotas = [each for each in cache.resource_quotas.by(BY_NAMESPACE, queue.metadata.namespace) if not is_made(each)]
    if not quotas or queue.metadata.name != "default":
        return ()
    quota = min(quotas, key=lambda each: str(each["metadata"]["name"]))
    name, stated = quota["metadata"]["name"], limits_of(quota)
    differ = sorted(
        resource
        for resource in {*stated, *queue.spec.limits}
        if stated.get(resource) != queue.spec.limits.get(resource)
    )
    if not differ:
        return (said("QuotaLinked", True, "Same", f"ResourceQuota {name} says the same"),)
    told = "; ".join(
        f"{resource}: {queue.spec.limits.get(resource, 'no limit')} here, {stated.get(resource, 'no limit')} there"
        for resource in differ
    )
    return (said("QuotaLinked", False, "Mismatch", f"ResourceQuota {name} differs ({told}); make them the same"),)


class Quotas:
    """Makes what is missing and puts back what was changed, namespace by namespace."""

    def __init__(self, client: Client, cache: Cache, managed: Managed) -> None:
        self._client = client
        self._cache = cache
        self._managed = managed

    async def keep(self) -> bool:
        """Whether all is as it should be; otherwise somebody wrote at the same time, and it is to be tried again."""
        done = True
        for obj in list(self._cache.namespaces.all()):
            namespace = str(obj["metadata"]["name"])
            if self._managed.is_managed(namespace) and not obj["metadata"].get("deletionTimestamp"):
                try:
                    await self._namespace(namespace)
                except StatusError as refused:
                    if refused.code not in (403, 404, 409):  # Forbidden and not found: the namespace is going.
                        raise
                    done = done and refused.code != 409
        return done

    async def _namespace(self, namespace: str) -> None:
        queues = self._cache.queues.by(BY_NAMESPACE, namespace)
        quotas = self._cache.resource_quotas.by(BY_NAMESPACE, namespace)
        theirs = sorted((each for each in quotas if not is_made(each)), key=lambda each: str(each["metadata"]["name"]))
        limited = [] if theirs else [queue for queue in queues if _limits(queue)]
        kept = {_quota_name(queue) for queue in limited}
        for quota in quotas:
            if is_made(quota) and quota["metadata"]["name"] not in kept:
                await self._client.delete(RESOURCEQUOTAS, quota["metadata"]["name"], namespace)
        if theirs:
            await self._from_quota(namespace, queues, theirs[0])
        together = limits_together([_limits(queue) for queue in queues])
        for queue in limited:
            await self._to_quota(queue, together, quotas)

    async def _to_quota(self, queue: Object, limits: dict[str, str], quotas: list[Object]) -> None:
        """(b): the ResourceQuota of a Queue's limits."""
        meta = queue["metadata"]
        name, hard = _quota_name(queue), quota_of(limits)
        known = next((each for each in quotas if each["metadata"]["name"] == name), None)
        if known is None:
            owner = {"apiVersion": QUEUES.api_version, "kind": "Queue", "name": meta["name"], "uid": meta["uid"]}
            made = {"name": name, "namespace": meta["namespace"], "ownerReferences": [{**owner, "controller": True}]}
            await self._client.create(RESOURCEQUOTAS, {"metadata": made, "spec": {"hard": hard}})
        elif (known.get("spec") or {}) != {"hard": hard}:
            await self._client.update(RESOURCEQUOTAS, {**known, "spec": {"hard": hard}})

    async def _from_quota(self, namespace: str, queues: list[Object], quota: Object) -> None:
        """(c): a Queue with the limits of a ResourceQuota that people made, where they made no Queue."""
        limits = {name: str(amount) for name, amount in limits_of(quota).items()}
        name = str(quota["metadata"]["name"])
        known = next((each for each in queues if FROM_QUOTA in (each["metadata"].get("annotations") or {})), None)
        if not queues:
            made = {"name": "default", "namespace": namespace, "annotations": {FROM_QUOTA: name}}
            under = {"clusterQueue": namespace} if namespace in tree_of(self._cache.namespaces.all()) else {}
            await self._client.create(QUEUES, {"metadata": made, "spec": {**under, "limits": limits}})
        elif known is not None and ((known.get("spec") or {}).get("limits") or {}) != limits:
            spec = {**(known.get("spec") or {}), "limits": limits}
            await self._client.update(QUEUES, {**known, "spec": spec})
