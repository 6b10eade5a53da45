"""The owners that a pod names, as the server has them: whether it is theirs is told by what they say."""

from __future__ import annotations

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import Kinds
from tidegate.workloads import WORKLOAD, owners_named

_MOST_LEVELS = 8
"""More than there are between any application and its pods."""


class Owners:
    """Asks the server, never a cache: a pod may be made a moment after what makes it, and must not be taken for
    somebody else's."""

    def __init__(self, client: Client, kinds: Kinds) -> None:
        self._client = client
        self._kinds = kinds

    async def of(self, obj: Object, namespace: str) -> dict[str, Object]:
        """By uid: those of a pod, and above them where it does not say itself whose it is; nobody's of anything else.
        One that is not there, or is another than was meant, is left out."""
        found: dict[str, Object] = {}
        level = [obj] if obj.get("kind") == "Pod" and obj.get("apiVersion") == "v1" else []
        marked = WORKLOAD in ((obj.get("metadata") or {}).get("annotations") or {})
        for _ in range(1 if marked else _MOST_LEVELS):
            above = {uid: owner for each in level for uid, owner in (await self._named_by(each, namespace)).items()}
            level = [owner for uid, owner in above.items() if uid not in found]
            found |= above
        return found

    async def _named_by(self, obj: Object, namespace: str) -> dict[str, Object]:
        owners: dict[str, Object] = {}
        for entry, named in owners_named(obj, self._kinds):
            name, uid = str(named.get("name") or ""), str(named.get("uid") or "")
            if not name or not uid or "/" in name:
                continue  # The server refuses it later.
            version = str(named.get("apiVersion")).rpartition("/")[2]
            resource: Resource[Object] = Resource(entry.group, version, entry.plural, entry.kind)
            try:
                owner = await self._client.get(resource, name, namespace)
            except StatusError as gone:
                if gone.code != 404:
                    raise
                continue
            if owner["metadata"].get("uid") == uid:
                owners[uid] = owner
        return owners
