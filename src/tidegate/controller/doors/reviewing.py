"""The doors' decisions as answers to an API server.

What a door sees lags behind the server by a moment. An answer that would surprise (no Queue; not managed, although the
server's own selector says so) is therefore checked with the server first: a Queue and its first pod may come in one
file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tidegate.controller.doors.door import Door, NoQueueError, RefusedError, Submitter
from tidegate.controller.doors.sight import Sight
from tidegate.controller.doors.tree import what_is_wrong
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.namespaces import Managed
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import NAMESPACES
from tidegate.kube.serve.reviews import Asked, allowed, refused
from tidegate.kube.wire import Object
from tidegate.model.jobs import JobError, merge
from tidegate.workloads import SUBMITTER

T = TypeVar("T")

APPLICATIONS = "/doors/applications"
WORKLOADS = "/doors/workloads"
CLUSTER_QUEUES_DOOR = "/doors/clusterqueues"


class Reviewing:
    """Answers reviews by what a Sight sees."""

    def __init__(self, client: Client, sight: Sight, *, everywhere: bool) -> None:
        self._client = client
        self._sight = sight
        self._everywhere = everywhere
        self._door = Door(sight, sight.managed)

    async def application(self, asked: Asked) -> Object:
        """An application or a pod that is created."""
        if asked.operation != "CREATE":
            return allowed(asked)
        door = self._door if self._sight.managed.is_managed(asked.namespace) else await self._by_the_server(asked)
        try:
            return self._judged(door, asked)
        except NoQueueError:
            door = await self._by_the_server(asked)
        try:
            return self._judged(door, asked)
        except NoQueueError as none:
            return refused(asked, f"tidegate: {none}")

    async def workload(self, asked: Asked) -> Object:
        """A Workload that somebody makes by hand is signed like any application; whose else it is, he cannot say."""
        if asked.operation != "CREATE":
            return allowed(asked)
        by = Submitter(asked.user, asked.groups)
        return allowed(asked, dict(merge(asked.obj, ("metadata", "annotations"), {SUBMITTER: by.signature()})))

    async def cluster_queue(self, asked: Asked) -> Object:
        """A ClusterQueue that is created or changed."""

        def find(name: str) -> Object | None:
            return self._sight.cluster_queues.get(name)

        wrong = what_is_wrong(asked.obj, find) if asked.obj else None
        if wrong is None:
            return allowed(asked)
        # The one that closes the circle may have been given another parent a moment ago.
        page = await self._client.list(CLUSTER_QUEUES)
        nodes = {str(each["metadata"]["name"]): each for each in page.items}
        wrong = what_is_wrong(asked.obj, nodes.get)
        return allowed(asked) if wrong is None else refused(asked, f"tidegate: {wrong}", code=422, reason="Invalid")

    def _judged(self, door: Door, asked: Asked) -> Object:
        try:
            judged = door.judge(asked.obj, asked.namespace, Submitter(asked.user, asked.groups))
        except NoQueueError:
            raise
        except RefusedError as no:
            return refused(asked, f"tidegate: {no}")
        except JobError as error:
            return refused(asked, f"tidegate: {error}", code=422, reason="Invalid")
        return allowed(asked, dict(judged))

    async def _by_the_server(self, asked: Asked) -> Door:
        """A door that knows what the server says now of the namespace and its Queues."""
        labels: Mapping[str, str] = {}
        try:
            found = await self._client.get(NAMESPACES, asked.namespace)
            labels = found["metadata"].get("labels") or {}
        except StatusError as gone:
            if gone.code != 404:
                raise
        names = {str(each["metadata"]["name"]) for each in (await self._client.list(QUEUES, asked.namespace)).items}
        return Door(self._sight, Managed(_same(labels), _same(names), everywhere=self._everywhere))


def _same(value: T) -> Callable[[str], T]:
    return lambda _: value
