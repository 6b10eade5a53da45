"""Servers with Tidegate's kinds, and a house on each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.controller.house import House
from tests.harness import Cluster
from tests.local.controllers.stage import client_of, close
from tidegate.controller.bootstrap import install_kinds
from tidegate.kube.client import Client


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    client = client_of(cluster)
    await install_kinds(client)
    yield client
    await close(client)


@pytest.fixture
async def house(client: Client) -> AsyncIterator[House]:
    """A managed namespace with a Queue of four cpus, and an operator."""
    house = House(client)
    await house.open()
    await house.furnish()
    house.start()
    yield house
    await house.close()
