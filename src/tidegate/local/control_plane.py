"""The control plane of one machine, put together: store, access, API server and the controllers beside it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tidegate.kube.client import Client
from tidegate.local.access.access import Access
from tidegate.local.access.certificates import write_private
from tidegate.local.access.identities import Identities
from tidegate.local.access.tokens import ADMIN, AGENT
from tidegate.local.admission.chain import Admission
from tidegate.local.admission.escalation import Escalation
from tidegate.local.admission.kinds.classes import Classes
from tidegate.local.admission.kinds.nodes import NewNodes
from tidegate.local.admission.kinds.runtime_classes import RuntimeClasses
from tidegate.local.admission.kinds.storage import Storage
from tidegate.local.admission.lifecycle import Lifecycle
from tidegate.local.admission.limits import Limits
from tidegate.local.admission.mutating_policies import MutatingPolicies
from tidegate.local.admission.pods import Pods
from tidegate.local.admission.quota import Quota
from tidegate.local.admission.validating_policies import ValidatingPolicies
from tidegate.local.admission.webhooks import Webhooks
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bootstrap import bootstrap
from tidegate.local.apiserver.front import Front
from tidegate.local.apiserver.nodes import Nodes
from tidegate.local.apiserver.openapi import OpenApi
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.server import InProcess, Server
from tidegate.local.lifecycle.collector import Collector
from tidegate.local.lifecycle.definitions import Definitions
from tidegate.local.lifecycle.namespaces import NamespaceDeletion
from tidegate.local.lifecycle.roles import RoleAggregation
from tidegate.local.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    """Further names and addresses the server's certificate is good for."""


Beside = Callable[["ControlPlane"], Awaitable[None]]
"""What else is to run in the same process; called once the server answers, before its users are told where it is."""


class ControlPlane:
    """Started with `start`, runs until `stop`. All its state is in the data folder."""

    def __init__(self, settings: Settings, beside: Beside | None = None) -> None:
        self._settings = settings
        self._beside = beside
        folder = settings.data_dir
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store = Store(folder / "state.db")
        self.identities = Identities(folder / "pki", (settings.host, *settings.hosts))
        access = Access(folder / "pki", self.store)
        self._tokens = {
            "admin": access.tokens.fixed(folder / "pki" / "admin.token", ADMIN),
            "agent": access.tokens.fixed(folder / "pki" / "agent.token", AGENT),
        }
        registry = Registry()
        self.api = Api(self.store, registry, access, Admission(), OpenApi(registry), self._nodes())
        self.server = Server(self.api)
        self.client = Client(InProcess(self.server), user_agent="tidegate-control-plane")
        self.api.admission.plugins = [
            Lifecycle(self.store),
            Pods(self.store),
            Limits(self.store),
            NewNodes(),
            Storage(self.store),
            RuntimeClasses(self.store),
            Classes(self.store),
            MutatingPolicies(self.store, registry),
            ValidatingPolicies(self.store, registry),
            Webhooks(self.store, registry),
            Escalation(access),
            Quota(self.store),
        ]
        self._tasks: list[asyncio.Task[None]] = []
        self._front: Front | None = None
        self.failed = asyncio.Event()
        self.url = ""

    async def start(self) -> None:
        settings = self._settings
        definitions = Definitions(self.api, self.client)
        definitions.load()
        self._front = Front(self.server.handle, self._tls())
        port = await self._listen()
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host
        self.url = f"https://{shown}:{port}"
        await bootstrap(self.server, port)
        self._run("compaction", self.store.keep_compacting())
        self._run("garbage collection", Collector(self.store, self.api.registry, self.client).run())
        self._run("role aggregation", RoleAggregation(self.store, self.client).run())
        self._run("custom resource definitions", definitions.run())
        self._run("namespace deletion", NamespaceDeletion(self.api, self.client).run())
        self._agent_kubeconfig.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(self._agent_kubeconfig, self._config("agent"))
        if self._beside is not None:
            await self._beside(self)
        self._run("controllers", self._controllers())
        # Written last: whoever finds it finds a server that answers, with all that is beside it.
        write_private(self.kubeconfig, self._config("admin"))

    async def _controllers(self) -> None:
        # Imported here: a server that answers first and controls a moment later is ready twice as fast.
        from tidegate.local.controllers.run import run_controllers

        await run_controllers(self.client, root_ca=self.identities.authority.pem)

    def run_beside(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` for as long as the server; if it fails, everything ends."""
        self._run(name, work)

    def _run(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` beside the server. None of it ever ends by itself: if it does, everything is to end."""
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._ended)
        self._tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed; the control plane stops", task.get_name(), exc_info=error)
            self.failed.set()

    def _tls(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(*self.identities.server)
        context.load_verify_locations(self.identities.authority.certificate_file)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def _listen(self) -> int:
        """The port asked for; else the one of last time, so that clients find us again; else any."""
        assert self._front is not None
        host, port = self._settings.host, self._settings.port
        before = _port_of(self.kubeconfig) or _port_of(self._agent_kubeconfig)
        if not port and before:
            with contextlib.suppress(OSError):
                return await self._front.listen(host, before)
        return await self._front.listen(host, port)

    @property
    def kubeconfig(self) -> Path:
        return self._settings.data_dir / "kubeconfig"

    @property
    def _agent_kubeconfig(self) -> Path:
        return self._settings.data_dir / "agent" / "kubeconfig"

    def _config(self, user: str) -> bytes:
        authority = base64.b64encode(self.identities.authority.pem.encode()).decode()
        cluster = {"server": self.url, "certificate-authority-data": authority}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tidegate",
            "clusters": [{"name": "tidegate", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self._tokens[user]}}],
            "contexts": [{"name": "tidegate", "context": {"cluster": "tidegate", "user": user}}],
        }
        return msgspec.json.format(msgspec.json.encode(config), indent=2)

    def _nodes(self) -> Nodes:
        """The way to agents: they take us for the API server by the certificate we show."""
        context = ssl.create_default_context(cafile=str(self.identities.authority.certificate_file))
        context.load_cert_chain(*self.identities.client)
        return Nodes(context)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._front is not None:
            await self._front.close()
        await self.store.close()


def _port_of(kubeconfig: Path) -> int:
    """The port in a kubeconfig of ours; 0 if there is none."""
    try:
        told = msgspec.json.decode(kubeconfig.read_bytes())
        return int(told["clusters"][0]["cluster"]["server"].rpartition(":")[2])
    except (OSError, msgspec.DecodeError, LookupError, ValueError):
        return 0
