"""The agent, put together: one node, its pods, and everything that keeps them going."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.informer import Informer
from tidegate.kube.resources import NODES, PODS, SERVICES
from tidegate.kube.wire import Object
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.agent import cgroups
from tidegate.local.agent.binder import Binder
from tidegate.local.agent.forward import forward
from tidegate.local.agent.node import Registration
from tidegate.local.agent.sandbox import network
from tidegate.local.agent.sandbox.images import Catalogue
from tidegate.local.agent.sandbox.objects import ApiObjects
from tidegate.local.agent.serve.http import listen, tls
from tidegate.local.agent.serve.routes import Routes
from tidegate.local.agent.services import ServiceForwarder
from tidegate.local.agent.settings import Settings
from tidegate.local.agent.surroundings import Around, addresses_for
from tidegate.local.agent.work.pods import Pods
from tidegate.local.agent.work.prepare import Preparer

_log = logging.getLogger(__name__)

_WORKERS = 16
_NAMES_S = 0.05


class Agent:
    """`run` until cancelled. Pods go on running afterwards, unless the settings say they must stop."""

    def __init__(
        self, client: Client, settings: Settings, *, api_url: str, ear: socket.socket | None = None, house: str = ""
    ) -> None:
        """`ear`: where to listen for logs and exec, if not at the settings' address. `house`: why there is none."""
        self._ear = ear
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._client = client
        self._settings = settings
        self.isolation = network.probe(settings.isolation, house)
        groups = cgroups.find(settings.cgroup, settings.node_name)
        self._bridge = network.bridge_name(str(settings.data_dir.resolve()))
        self._notes = {"tidegate.dev/isolation": _words(self.isolation), "tidegate.dev/limits": groups.reason}
        addresses = addresses_for(settings, self.isolation)
        if self.isolation.namespaces:
            self._notes["tidegate.dev/pod-gateway"] = addresses.gateway
        self._registration = Registration(client, settings, notes=self._notes)
        self._queue: WorkQueue[str] = WorkQueue()
        self._services: Informer[Object] = Informer(client, SERVICES)
        self._services.on_change(lambda *_: self._names_changed.set())
        self._names_changed = asyncio.Event()
        self._forwarder = ServiceForwarder(self._bridge, services=self._services.all, pods=self._all_pods)
        self._around = Around(
            settings, self.isolation, addresses, self._bridge, api_url,
            self._registration.devices, self._registration.allocatable,
            services=self._services.all, pods=self._all_pods, host_ip=settings.listen,
            reachable=lambda: self._forwarder.reachable,
        )  # fmt: skip
        catalogue = Catalogue(settings.catalogue)
        preparer = Preparer(settings, catalogue, ApiObjects(client), self.isolation.namespaces)
        self._events = EventRecorder(client, "tidegate-agent", instance=settings.node_name)
        self.pods = Pods(
            client, settings, preparer, self._around, cgroups=groups, events=self._events, wake=self._queue.add
        )
        self._informer: Informer[Object] = Informer(client, PODS, fields=f"spec.nodeName={settings.node_name}")
        self._informer.on_change(self._pod_changed)
        self._node: Informer[Object] = Informer(client, NODES, fields=f"metadata.name={settings.node_name}")
        self._node.on_change(lambda _, new: self._node_changed(new))
        self._binder = Binder(client, node=lambda: self._registration.node, present=self._all_pods, clock=time.time)
        self.ready = asyncio.Event()

    def _all_pods(self) -> Iterable[Mapping[str, Any]]:
        return self.pods.all()

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        self.pods.observe(old, new)
        self._names_changed.set()
        self._binder.room_made()

    def _node_changed(self, node: Object | None) -> None:
        self._registration.observe(node)
        self._binder.room_made()

    async def run(self) -> None:
        """Registers, takes over what runs, and works until cancelled."""
        async with contextlib.AsyncExitStack() as stack:
            await self._open_network(stack)
            self._registration.port = await self._open_server(stack)
            self.pods.adopt()
            stack.push_async_callback(self.pods.close, stop_pods=self._settings.stop_pods)
            await self._registration.register()
            async with asyncio.TaskGroup() as tasks:
                for work in (self._informer, self._services, self._node, self._registration, self._events):
                    tasks.create_task(work.run())
                await asyncio.gather(self._informer.synced(), self._services.synced())
                for uid in self.pods.uids():
                    self._queue.add(uid)
                if self._settings.schedule:
                    tasks.create_task(self._binder.run())
                tasks.create_task(self._queue.run(self.pods.sync, workers=_WORKERS))
                tasks.create_task(self._keep_names())
                self.ready.set()

    async def _open_network(self, stack: contextlib.AsyncExitStack) -> None:
        """The bridge, and on it the way to the API server."""
        if not self.isolation.namespaces:
            return
        network.ensure_bridge(self._bridge, self._around.addresses)
        stack.callback(self._close_network)
        url = urlsplit(self._around.api_url)
        gateway = self._around.addresses.gateway
        server = await forward(gateway, self._around.api()[1], url.hostname or "127.0.0.1", url.port or 443)
        stack.callback(server.close)
        stack.callback(self._forwarder.close)

    async def _open_server(self, stack: contextlib.AsyncExitStack) -> int:
        """The server for logs and exec; its port, or 0 where no certificate was given for it."""
        told = self._settings
        if told.certificate is None or told.key is None or told.client_ca is None:
            return 0
        routes = Routes(lambda: list(self.pods.works.values()))
        context = tls(told.certificate, told.key, told.client_ca)
        ear = self._ear or socket.create_server((told.listen, told.port))
        server = await listen(routes.handle, ear, context)
        stack.callback(server.close)
        return int(ear.getsockname()[1])

    def _close_network(self) -> None:
        """Leaves nothing behind once no pod needs the bridge any more."""
        if not self.has_running_pods():
            network.remove_bridge(self._bridge)

    def has_running_pods(self) -> bool:
        return any(work.runner.alive() for work in self.pods.works.values())

    async def _keep_names(self) -> None:
        """Brings the hosts files of running pods up to date, a moment after something changed."""
        while True:
            await self._names_changed.wait()
            await asyncio.sleep(_NAMES_S)
            self._names_changed.clear()
            if self.isolation.namespaces:
                await self._forwarder.settle()
            for uid, work in self.pods.works.items():
                pod = self.pods.pod(uid)
                if pod is not None and not work.closed and work.filled_at:
                    self._around.write_names(pod, work)


def _words(isolation: network.Isolation) -> str:
    kind = "namespaces" if isolation.namespaces else "loopback"
    return f"{kind} ({isolation.reason})"
