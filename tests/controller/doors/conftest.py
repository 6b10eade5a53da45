"""A house whose doors an API server asks, by webhooks."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.controller.doors.replicas import forget, judged_soon, known, running, settings
from tests.controller.house import House
from tidegate.controller.replica import Replica
from tidegate.kube.client import Client


@pytest.fixture
async def replica(client: Client) -> AsyncIterator[Replica]:
    """One that leads, and that the server has been told of."""
    await forget(client)
    async with running(client, settings()) as replica:
        await known(client, replica)
        yield replica
    await forget(client)


@pytest.fixture
async def guarded(client: Client, replica: Replica) -> AsyncIterator[House]:
    """A managed namespace with a Queue of four cpus; the server asks the doors there."""
    house = House(client)
    await house.open()
    await house.furnish()
    await judged_soon(house)
    yield house
    await house.close()
