"""The embedded server and the controllers that any Kubernetes has, on the time of a virtual loop."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tidegate.controller.bootstrap import install_kinds, make_root
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.wire import Object
from tidegate.local.access.access import Access
from tidegate.local.admission.chain import Admission
from tidegate.local.admission.lifecycle import Lifecycle
from tidegate.local.admission.limits import Limits
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.openapi import OpenApi
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.server import InProcess, Server
from tidegate.local.controllers.caches import Caches
from tidegate.local.controllers.deployment.controller import DeploymentController
from tidegate.local.controllers.job.controller import JobController
from tidegate.local.controllers.job.strays import StrayPodController
from tidegate.local.controllers.recorder import Recorder
from tidegate.local.controllers.replicas.controller import ReplicaController
from tidegate.local.controllers.run import Controller
from tidegate.local.lifecycle.collector import Collector
from tidegate.local.lifecycle.definitions import Definitions
from tidegate.local.store import Store
from tidegate.sim.faults.doors import Doors
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.network import Network, Weather
from tidegate.sim.faults.older import Older

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - where there is one: nothing here is to outlive the history
_NAMESPACES = ("default", "kube-system")


class SimulatedServer:
    """Answers as `tidegate up` does, without sockets. `client` meets no faults."""

    def __init__(
        self, folder: Path, loop: VirtualLoop, chance: Random, *, doors: bool = False, older: bool = False
    ) -> None:
        self.store = Store(folder / "state.db")
        registry = Registry()
        access = Access(folder / "pki", self.store)
        self._api = Api(self.store, registry, access, Admission(), OpenApi(registry), clock=loop.moment)
        self.admission = self._api.admission
        self.admission.plugins = [Lifecycle(self.store), Limits(self.store)]
        self.transport = InProcess(Server(self._api))
        self.client = Client(self.transport)
        self._doors = Doors(self.client) if doors else None
        if self._doors is not None:
            self.admission.plugins.append(self._doors)
        if older:
            self.admission.plugins.append(Older())
        self._definitions = Definitions(self._api, self.client)
        self._definitions.load()
        self._loop = loop
        # Other controllers meet no faults here, but are as far away as ours: pods come a while after they may.
        slow = Weather(latency_s=chance.choice((0.002, 0.1, 1.0)))
        self._theirs = Client(Network(self.transport, chance, slow, Counter(), calm=True))
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, *, controllers: bool = True) -> None:
        self._run(self._definitions.run())
        if not controllers:
            return
        if self._doors is not None:
            self._run(self._doors.run())
        self._run(Collector(self.store, self._api.registry, self.client).run())
        caches = Caches(self._theirs)
        recorder = Recorder(self._theirs, "job-controller", self._loop.moment)
        clock = self._loop.moment
        theirs: list[Controller] = [
            JobController(self._theirs, caches, recorder, clock),
            StrayPodController(self._theirs, caches),
            ReplicaController(self._theirs, caches, recorder, clock),
            DeploymentController(self._theirs, caches, recorder, clock),
        ]
        for each in (caches, *theirs):
            self._run(each.run())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    def objects(self, prefix: str) -> list[Object]:
        """Everything there is of a kind, by the prefix of its keys: "core/pods/"."""
        return [decode(row.value) for row in self.store.range(prefix)]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.store.close()


class _Template:
    """A folder with Tidegate's kinds installed; made once a process, copied for every history."""

    folder: TemporaryDirectory[str] | None = None

    @classmethod
    def path(cls) -> Path:
        if cls.folder is None:
            cls.folder = _folder("tidegate-faults-")
            run(lambda loop: _furnish(Path(str(cls.folder and cls.folder.name)), loop))
        return Path(cls.folder.name)


async def _furnish(folder: Path, loop: VirtualLoop) -> None:
    server = SimulatedServer(folder, loop, Random(0))
    server.start(controllers=False)
    for name in _NAMESPACES:
        await server.client.create(r.NAMESPACES, {"metadata": {"name": name}})
    await install_kinds(server.client)
    await make_root(server.client)
    await server.stop()


def _folder(prefix: str) -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix=prefix, dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None)


@contextmanager
def a_folder() -> Iterator[Path]:
    """A data folder of one's own, gone afterwards."""
    template = _Template.path()
    with _folder("tidegate-fault-") as made:
        shutil.copytree(template, made, dirs_exist_ok=True)
        yield Path(made)
