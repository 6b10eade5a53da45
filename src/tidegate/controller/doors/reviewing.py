"""The doors' decisions as answers to an API server.

What a door sees lags behind the server by a moment. An answer that would surprise (no Queue; not managed, although the
server's own selector says so) is therefore checked with the server first: a Queue and its first pod may come in one
file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tidegate.controller.doors.door import Door, NoQueueError, RefusedError, Submitter, signed
from tidegate.controller.doors.owners import Owners
from tidegate.controller.doors.sight import Seen, Sight
from tidegate.controller.doors.tree import what_is_wrong
from tidegate.controller.doors.update import UpdateDoor
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.namespaces import Managed
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import NAMESPACES
from tidegate.kube.serve.reviews import Asked, allowed, refused
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import JobError
from tidegate.workloads import Above, maker_of, queue_of

T = TypeVar("T")

APPLICATIONS = "/doors/applications"
CHANGES = "/doors/changes"
GRANTERS = "/doors/changes-by-granters"
"""Changes by those who may write what is granted, and are believed what they note."""
WORKLOADS = "/doors/workloads"
CLUSTER_QUEUES_DOOR = "/doors/clusterqueues"


class Reviewing:
    """Answers reviews by what a Sight sees."""

    def __init__(self, client: Client, sight: Sight, *, everywhere: bool) -> None:
        self._client = client
        self._sight = sight
        self._everywhere = everywhere
        self._door = Door(Seen.of(sight), sight.managed)
        self._owners = Owners(client, sight.kinds)

    async def application(self, asked: Asked) -> Object:
        """An application or a pod that is created."""
        if asked.operation != "CREATE":
            return allowed(asked)
        door, maker = await self._door_for(asked), await self._maker(asked)
        above = await self._owners.of(asked.obj, asked.namespace)
        try:
            return self._judged(door, asked, maker, above)
        except NoQueueError:
            door = await self._by_the_server(asked)
        try:
            return self._judged(door, asked, maker, above)
        except NoQueueError as none:
            return refused(asked, f"tidegate: {none}")

    async def change(self, asked: Asked) -> Object:
        """An application that is changed."""
        return await self._changed(asked, believed=False)

    async def change_by_granter(self, asked: Asked) -> Object:
        """The same, by somebody who may write what is granted."""
        return await self._changed(asked, believed=True)

    async def _changed(self, asked: Asked, *, believed: bool) -> Object:
        if asked.operation != "UPDATE":
            return allowed(asked)
        door, maker = UpdateDoor(await self._door_for(asked), self._sight.kinds), await self._maker(asked)
        by = Submitter(asked.user, asked.groups)
        try:
            judged = door.judge(asked.old, asked.obj, asked.namespace, by, maker=maker, believed=believed)
        except RefusedError as no:
            return refused(asked, f"tidegate: {no}")
        except JobError as error:
            return refused(asked, f"tidegate: {error}", code=422, reason="Invalid")
        return allowed(asked, dict(judged.obj), warnings=tuple(f"tidegate: {each}" for each in judged.warnings))

    async def workload(self, asked: Asked) -> Object:
        """A Workload that somebody makes by hand is signed like any application; whose else it is, he cannot say."""
        if asked.operation != "CREATE":
            return allowed(asked)
        by = Submitter(asked.user, asked.groups)
        return allowed(asked, dict(signed(asked.obj, by)))

    async def cluster_queue(self, asked: Asked) -> Object:
        """A ClusterQueue that is created or changed."""
        wrong = what_is_wrong(asked.obj, self._sight.cluster_queues.get) if asked.obj else None
        if wrong is None:
            return allowed(asked)
        # The one that closes the circle may have been given another parent a moment ago.
        wrong = what_is_wrong(asked.obj, (await self._named(CLUSTER_QUEUES)).get)
        return allowed(asked) if wrong is None else refused(asked, f"tidegate: {wrong}", code=422, reason="Invalid")

    async def _door_for(self, asked: Asked) -> Door:
        return await self._by_the_server(asked) if self._may_be_behind(asked) else self._door

    def _may_be_behind(self, asked: Asked) -> bool:
        """Whether the server seems to know more than we do."""
        named = queue_of(asked.obj)
        unknown = named is not None and self._sight.queues.get(named, asked.namespace) is None
        return unknown or not self._sight.managed.is_managed(asked.namespace)

    async def _maker(self, asked: Asked) -> Object | None:
        """What makes such objects again and again, if that is what owns this one."""
        found = maker_of(asked.obj, self._sight.kinds)
        if found is None:
            return None
        entry, name = found
        resource: Resource[Object] = Resource(entry.group, entry.versions[0], entry.plural, entry.kind)
        try:
            return await self._client.get(resource, name, asked.namespace)
        except StatusError as gone:
            if gone.code != 404:
                raise
            return None

    def _judged(self, door: Door, asked: Asked, maker: Object | None, above: Above) -> Object:
        by = Submitter(asked.user, asked.groups)
        try:
            judged = door.judge(asked.obj, asked.namespace, by, maker=maker, above=above)
        except NoQueueError:
            raise
        except RefusedError as no:
            return refused(asked, f"tidegate: {no}")
        except JobError as error:
            return refused(asked, f"tidegate: {error}", code=422, reason="Invalid")
        warning = door.warning(asked.obj, asked.namespace)
        return allowed(asked, dict(judged), warnings=(f"tidegate: {warning}",) if warning else ())

    async def _by_the_server(self, asked: Asked) -> Door:
        """A door that knows what the server says now of the namespace and its Queues."""
        labels: Mapping[str, str] = {}
        try:
            found = await self._client.get(NAMESPACES, asked.namespace)
            labels = found["metadata"].get("labels") or {}
        except StatusError as gone:
            if gone.code != 404:
                raise
        queues = await self._named(QUEUES, asked.namespace)
        nodes = await self._named(CLUSTER_QUEUES)
        seen = Seen(self._sight.kinds, lambda name, _: queues.get(name), nodes.get, self._sight.priority_classes.get)
        return Door(seen, Managed(_same(labels), _same(set(queues)), everywhere=self._everywhere))

    async def _named(self, resource: Resource[Object], namespace: str | None = None) -> dict[str, Object]:
        return {str(each["metadata"]["name"]): each for each in (await self._client.list(resource, namespace)).items}


def _same(value: T) -> Callable[[str], T]:
    return lambda _: value
