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
"""Annotation of a Queue that was made from ResourceQuotas: their names; empty where they are gone."""
_PLAIN = ("cpu", "memory", "ephemeral-storage")


def quota_of(limits: dict[str, str]) -> dict[str, str]:
    """What a ResourceQuota says for these limits."""
    return {f"requests.{name}": text for name, text in sorted(limits.items())}


def limits_of(quotas: Iterable[Object]) -> dict[str, Quantity]:
    """What ResourceQuotas cap of what every pod requests: each of them holds, so the least does. Counts of objects,
    limits, and what is said of some pods only are not quota of a queue."""
    found: dict[str, Quantity] = {}
    for spec in (quota.get("spec") or {} for quota in quotas):
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        for name, text in (spec.get("hard") or {}).items():
            resource = name.removeprefix("requests.")
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


def made_by_people(quotas: Iterable[Object], queues: Iterable[Object]) -> list[Object]:
    """Those that are not a Queue's own, by name. A Queue's own is known by its owner, and by its name where somebody
    took the owner away."""
    ours = {_quota_name(queue) for queue in queues}
    theirs = (
        quota
        for quota in quotas
        if quota["metadata"]["name"] not in ours
        and not any(owner.get("kind") == "Queue" for owner in quota["metadata"].get("ownerReferences") or ())
    )
    return sorted(theirs, key=lambda quota: str(quota["metadata"]["name"]))


def _names(quotas: Sequence[Object]) -> str:
    return ", ".join(str(quota["metadata"]["name"]) for quota in quotas)


def linked(queue: Queue, cache: Cache, refused: Mapping[str, str]) -> Iterable[Condition]:
    """Whether the limits of a namespace's Queues and the ResourceQuotas that people made beside them say the same, or
    what the server said when one was to be made."""
    if queue.metadata.namespace in refused:
        return (said("QuotaLinked", False, "Refused", refused[queue.metadata.namespace]),)
    queues = cache.queues.by(BY_NAMESPACE, queue.metadata.namespace)
    quotas = made_by_people(cache.resource_quotas.by(BY_NAMESPACE, queue.metadata.namespace), queues)
    if not quotas:
        return ()
    names, stated = _names(quotas), limits_of(quotas)
    together = limits_together([_limits(each) for each in queues])
    limits = {resource: Quantity.parse(text) for resource, text in together.items()}
    differ = sorted(resource for resource in {*stated, *limits} if stated.get(resource) != limits.get(resource))
    noun, s = ("ResourceQuota", "s") if len(quotas) == 1 else ("ResourceQuotas", "")
    if not differ:
        return (said("QuotaLinked", True, "Same", f"{noun} {names} say{s} the same"),)
    here = "here" if len(queues) == 1 else f"for the {len(queues)} Queues together"
    told = "; ".join(
        f"{resource}: {limits.get(resource, 'no limit')} {here}, {stated.get(resource, 'no limit')} there"
        for resource in differ
    )
    return (said("QuotaLinked", False, "Mismatch", f"{noun} {names} differ{s} ({told}); make them the same"),)


class Quotas:
    """Makes what is missing and puts back what was changed, namespace by namespace."""

    def __init__(self, client: Client, cache: Cache, managed: Managed) -> None:
        self._client = client
        self._cache = cache
        self._managed = managed
        self.refused: dict[str, str] = {}
        """Namespaces for which the server does not take what is to be written, and why: told, in nobody's way."""

    async def keep(self) -> bool:
        """Whether all is as it should be; otherwise somebody wrote at the same time, and it is to be tried again."""
        done = True
        self.refused.clear()
        for obj in list(self._cache.namespaces.all()):
            namespace = str(obj["metadata"]["name"])
            if self._managed.is_managed(namespace) and not obj["metadata"].get("deletionTimestamp"):
                try:
                    await self._namespace(namespace)
                except StatusError as refused:
                    if refused.code not in (403, 404, 409, 422):  # Forbidden and not found: the namespace may be going.
                        raise
                    if refused.code in (403, 422):
                        self.refused[namespace] = (
                            f"its ResourceQuota cannot be kept: {refused.message}; change the limits"
                        )
                    done = done and refused.code != 409
        return done

    async def _namespace(self, namespace: str) -> None:
        queues = self._cache.queues.by(BY_NAMESPACE, namespace)
        quotas = self._cache.resource_quotas.by(BY_NAMESPACE, namespace)
        theirs = made_by_people(quotas, queues)
        if await self._from_quotas(namespace, queues, theirs):
            return  # What comes of it is heard, and looked at again.
        together = limits_together([_limits(queue) for queue in queues])
        limited = [queue for queue in queues if _limits(queue)] if together and not theirs else []
        kept = {_quota_name(queue) for queue in limited}
        for quota in quotas:
            if quota not in theirs and quota["metadata"]["name"] not in kept:
                await self._remove(quota, namespace)
        for queue in limited:
            await self._to_quota(queue, together, quotas)

    async def _remove(self, quota: Object, namespace: str) -> None:
        """The very one that was looked at, as it was then: people may have made it theirs since."""
        meta = quota["metadata"]
        await self._client.delete(
            RESOURCEQUOTAS, meta["name"], namespace, uid=meta["uid"], resource_version=meta["resourceVersion"]
        )

    async def _to_quota(self, queue: Object, limits: dict[str, str], quotas: list[Object]) -> None:
        """(b): the ResourceQuota of a Queue's limits."""
        meta = queue["metadata"]
        name, spec = _quota_name(queue), {"hard": quota_of(limits)}
        owner = {"apiVersion": QUEUES.api_version, "kind": "Queue", "name": meta["name"], "uid": meta["uid"]}
        owners = [{**owner, "controller": True}]
        known = next((each for each in quotas if each["metadata"]["name"] == name), None)
        if known is None:
            made = {"name": name, "namespace": meta["namespace"], "ownerReferences": owners}
            await self._client.create(RESOURCEQUOTAS, {"metadata": made, "spec": spec})
        elif (known.get("spec") or {}) != spec or known["metadata"].get("ownerReferences") != owners:
            back = {**known["metadata"], "ownerReferences": owners}
            await self._client.update(RESOURCEQUOTAS, {**known, "metadata": back, "spec": spec})

    async def _from_quotas(self, namespace: str, queues: list[Object], quotas: list[Object]) -> bool:
        """(c): a Queue with the limits of the ResourceQuotas that people made, where they made no Queue. Where those
        are gone its limits are, too: who deletes a ResourceQuota wants no cap, and not one that Tidegate makes instead.
        Whether something was written."""
        limits = {name: str(amount) for name, amount in limits_of(quotas).items()}
        noted = {FROM_QUOTA: _names(quotas)}
        if quotas and not queues:
            made = {"name": "default", "namespace": namespace, "annotations": noted}
            under = {"clusterQueue": namespace} if namespace in tree_of(self._cache.namespaces.all()) else {}
            await self._client.create(QUEUES, {"metadata": made, "spec": {**under, "limits": limits}})
            return True
        for queue in filter(_follows, queues):
            annotations, spec = queue["metadata"]["annotations"], queue.get("spec") or {}
            if _limits(queue) != limits or annotations[FROM_QUOTA] != noted[FROM_QUOTA]:
                meta = {**queue["metadata"], "annotations": {**annotations, **noted}}
                await self._client.update(QUEUES, {**queue, "metadata": meta, "spec": {**spec, "limits": limits}})
                return True
        return False


def _follows(queue: Object) -> bool:
    """Whether its limits are those of ResourceQuotas: of some, or of some that may come again as long as nobody else
    says what its limits are."""
    names = (queue["metadata"].get("annotations") or {}).get(FROM_QUOTA)
    return names is not None and not queue["metadata"].get("deletionTimestamp") and bool(names or not _limits(queue))
