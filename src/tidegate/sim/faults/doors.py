"""The doors as a cluster's webhooks would be: in front of the server, seeing queues with eyes of their own."""

from __future__ import annotations

from tidegate.controller.doors.door import Door, RefusedError, Submitter
from tidegate.controller.doors.owners import Owners
from tidegate.controller.doors.sight import Seen, Sight
from tidegate.kube.client import Client
from tidegate.local.admission.attributes import Attributes
from tidegate.local.errors import forbidden


class Doors:
    """Admission of the embedded server. They meet no faults here: what nobody judged is held once it is seen."""

    def __init__(self, client: Client) -> None:
        self._sight = Sight(client)
        self._door = Door(Seen.of(self._sight), self._sight.managed)
        self._owners = Owners(client, self._sight.kinds)

    async def run(self) -> None:
        await self._sight.run()

    async def mutate(self, asked: Attributes) -> None:
        if asked.operation != "CREATE" or asked.subresource or asked.obj is None or not asked.namespace:
            return
        by, above = Submitter(asked.user.name, asked.user.groups), await self._owners.of(asked.obj, asked.namespace)
        try:
            judged = self._door.judge(asked.obj, asked.namespace, by, above=above)
        except RefusedError as refused:
            raise forbidden(asked.served.group, asked.served.plural, asked.name, str(refused)) from None
        asked.obj = dict(judged)

    async def validate(self, asked: Attributes) -> None:
        """Everything here is decided when the object is changed."""
