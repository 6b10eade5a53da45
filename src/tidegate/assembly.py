"""Everything put together: the only file that knows everybody.

`python -m tidegate.assembly` is the control plane of one machine with the operator inside, as `tidegate up --queues`
starts it; `lead` is the operator alone, against any Kubernetes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from typing import TYPE_CHECKING

from tidegate.controller.bootstrap import install_kinds, make_default_queue, make_root
from tidegate.controller.door import Door, RefusedError, Submitter
from tidegate.controller.operator import Operator
from tidegate.kube.client import Client
from tidegate.kube.leases import LeaderElection, LeadershipLost, Terms
from tidegate.local.errors import forbidden

if TYPE_CHECKING:
    from tidegate.local.admission.attributes import Attributes
    from tidegate.local.control_plane import ControlPlane

_log = logging.getLogger(__name__)

_SYNC_S = 10.0


class InProcessDoor:
    """The doors as admission of the embedded server."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._door = Door(operator.cache, operator.managed)
        entries = operator.cache.kinds.entries
        self._judged = {(entry.group, entry.plural) for entry in entries}

    async def mutate(self, asked: Attributes) -> None:
        served = asked.served
        if asked.operation != "CREATE" or asked.subresource or (served.group, served.plural) not in self._judged:
            return
        if asked.obj is None:
            return
        # Right after a start the queues may not be known yet; to judge without them would be to guess.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SYNC_S):
                await self._operator.cache.synced()
        try:
            judged = self._door.judge(asked.obj, asked.namespace, Submitter(asked.user.name, asked.user.groups))
        except RefusedError as refused:
            raise forbidden(served.group, served.plural, asked.name, str(refused)) from None
        asked.obj = dict(judged)

    async def validate(self, asked: Attributes) -> None:
        """Everything here is decided when the object is changed."""


async def beside(plane: ControlPlane) -> None:
    """The operator in the control plane's own process: its kinds, its doors, its circle."""
    await install_kinds(plane.client)
    await make_root(plane.client)
    await make_default_queue(plane.client)
    operator = Operator(plane.client, everywhere=True)
    # Before those that judge: they are to see what it made of the object.
    plane.api.admission.plugins.insert(1, InProcessDoor(operator))
    plane.run_beside("operator", operator.run())


async def lead(client: Client, *, namespace: str, everywhere: bool, lease_s: int = 15) -> None:
    """Run the operator whenever no other one leads; it is taken over so long after it died. One that lost its lease, on
    a server or a machine too busy to renew it in time, forgets everything and stands in line again."""
    identity = f"{socket.gethostname()}-{os.getpid()}"

    async def work() -> None:
        await install_kinds(client)
        await make_root(client)
        await Operator(client, everywhere=everywhere).run()

    terms = Terms(lease_s, lease_s * 2 / 3, lease_s * 2 / 15)
    while True:
        try:
            await LeaderElection(client, "tidegate-operator", namespace, identity, terms=terms).run(work)
        except LeadershipLost as lost:
            _log.warning("%s It stands in line again.", lost)


def main() -> None:
    from tidegate.local.apiserver.__main__ import main as serve

    serve(beside)


if __name__ == "__main__":
    main()
