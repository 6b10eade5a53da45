"""Servers with Tidegate's kinds, and a house on each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.controller.bench import Bench, Play, Story
from tests.controller.house import House
from tests.harness import Cluster
from tests.local.controllers.stage import client_of, close
from tidegate.controller.bootstrap import install_kinds
from tidegate.kube.client import Client
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.server import a_folder


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


@pytest.fixture
def play() -> Iterator[Play]:
    """Tells a story on a bench of its own, in virtual time."""

    async def main(folder: Path, story: Story, led: bool, loop: VirtualLoop) -> None:
        await Bench(folder, loop, led=led).play(story)

    with a_folder() as folder:
        yield lambda story, *, led=False: run(partial(main, folder, story, led))
