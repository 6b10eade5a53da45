"""One process of the operator: it serves the doors whether it leads or not; one of all leads, plans and writes.

every replica     sight ─► doors; certificates (shared); health and metrics
the one that leads   + the circle (operator), and the webhook configurations
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

from tidegate.controller.bootstrap import install_kinds, make_root
from tidegate.controller.doors import dialect
from tidegate.controller.doors.adopting import Adopting
from tidegate.controller.doors.hooks import Target, Where, mutating, validating
from tidegate.controller.doors.keeping import Keeping
from tidegate.controller.doors.policy import binding, policy
from tidegate.controller.doors.reviewing import (
    APPLICATIONS,
    CHANGES,
    CLUSTER_QUEUES_DOOR,
    GRANTERS,
    WORKLOADS,
    Reviewing,
)
from tidegate.controller.doors.sight import Sight
from tidegate.controller.metrics.metrics import Metrics
from tidegate.controller.operator import Operator
from tidegate.controller.policies import policies_at_work
from tidegate.dialects.webhook import NamespaceRule
from tidegate.kube.client import Client, StatusError
from tidegate.kube.leases import LeaderElection, LeadershipLost, Terms
from tidegate.kube.led import LedWire
from tidegate.kube.serve.certificates import Terms as CertificateTerms
from tidegate.kube.serve.kept import KeptCertificates, Place
from tidegate.kube.serve.listener import Bind, Listener, Page
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds, builtin

_RETRY_S = 2.0
_PLAIN = "text/plain; charset=utf-8"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Doors:
    """Where webhooks are served, and where the server finds them: behind a Service, or at a URL."""

    bind: Bind
    service: tuple[str, str] | None = None
    url: str = ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that the server calls them by."""
        if self.service is None:
            return (urlsplit(self.url).hostname or "",)
        namespace, name = self.service
        return tuple(f"{name}.{rest}" for rest in (namespace, f"{namespace}.svc", f"{namespace}.svc.cluster.local"))


@dataclass(frozen=True, slots=True)
class Settings:
    """How a replica runs."""

    namespace: str = "kube-system"
    """Its own: of the lease, the certificates and the rules for dialects."""
    everywhere: bool = False
    lease_s: int = 15
    doors: Doors | None = None
    """None: no webhooks; what is created is held only once the operator sees it."""
    health: Bind | None = None
    dialects: Mapping[str, NamespaceRule] | None = None
    """None: as the ConfigMap says."""
    kinds: Kinds = field(default_factory=builtin)
    certificate_terms: CertificateTerms = field(default_factory=CertificateTerms)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    """Of certificates."""


class Replica:
    """Runs until cancelled."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self.sight = Sight(client, kinds=settings.kinds, everywhere=settings.everywhere)
        self._reviewing = Reviewing(client, self.sight, everywhere=settings.everywhere)
        self._metrics = Metrics()
        self.rules = dialect.Rules(settings.dialects)
        doors = settings.doors
        self.certificates = self._kept(doors) if doors else None
        self.health = Listener(settings.health, pages=self._pages()) if settings.health else None
        self.doors = self._listener(doors) if doors else None
        self._keeping: Keeping | None = None
        self._adopting: Adopting | None = None
        self.rules.on_change(self._configure)
        if self.certificates is not None:
            self.certificates.on_change(self._configure)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            if self.health is not None:
                group.create_task(self.health.run())
            await install_kinds(self._client)
            if self.doors is not None and self.certificates is not None:
                group.create_task(self.sight.run())
                group.create_task(self.certificates.run())
                if self._settings.dialects is None:
                    group.create_task(self.rules.follow(self._client, self._settings.namespace))
                await self.certificates.ready.wait()
                await self.sight.synced()
                group.create_task(self.doors.run())
                await self.doors.listening.wait()
            group.create_task(self._stand_in_line())

    async def _stand_in_line(self) -> None:
        """Lead whenever no other one does; it is taken over so long after it died. One that lost its lease, on a server
        or a machine too busy to renew it in time, forgets everything and stands in line again."""
        lease_s = self._settings.lease_s
        terms = Terms(lease_s, lease_s * 2 / 3, lease_s * 2 / 15)
        identity = f"{socket.gethostname()}-{os.getpid()}"
        while True:
            election = LeaderElection(
                self._client, "tidegate-operator", self._settings.namespace, identity, terms=terms
            )
            client = self._client.over(partial(LedWire, election=election))
            try:
                await election.run(partial(self._lead, client))
            except LeadershipLost as lost:
                _log.warning("%s It stands in line again.", lost)
            except (StatusError, OSError) as failed:
                _log.warning("It could not begin to lead (%s); it stands in line again.", failed)
                await asyncio.sleep(_RETRY_S)

    async def _lead(self, client: Client) -> None:
        await make_root(client)
        settings, metrics = self._settings, self._metrics
        operator = Operator(
            client,
            kinds=settings.kinds,
            policies=policies_at_work(),
            everywhere=settings.everywhere,
            tally=metrics,
        )
        metrics.follow(operator.cache)
        self._keeping = Keeping(client, self._configurations)
        self._adopting = Adopting(client, settings.kinds)
        self._configure()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(operator.run())
                group.create_task(self._keeping.run())
                group.create_task(self._adopting.run())
        finally:
            self._keeping = self._adopting = None
            metrics.forget()

    def _configure(self) -> None:
        if self._keeping is not None:
            self._keeping.look()
        if self._adopting is not None and self.rules.by_namespace:
            self._adopting.begin()

    def _kept(self, doors: Doors) -> KeptCertificates:
        how = self._settings
        place = Place(how.namespace)
        return KeptCertificates(self._client, place, doors.hosts, terms=how.certificate_terms, clock=how.clock)

    def _listener(self, doors: Doors) -> Listener:
        assert self.certificates is not None
        rendering = dialect.DialectDoor(self._client, self.rules, self._settings.kinds)
        reviews = {
            APPLICATIONS: self._reviewing.application,
            CHANGES: self._reviewing.change,
            GRANTERS: self._reviewing.change_by_granter,
            WORKLOADS: self._reviewing.workload,
            CLUSTER_QUEUES_DOOR: self._reviewing.cluster_queue,
            dialect.PATH: rendering.review,
        }
        return Listener(doors.bind, reviews=reviews, tls=self.certificates.context)

    def _configurations(self) -> list[Object]:
        """All that the server is to be told, as of now."""
        doors, settings = self._settings.doors, self._settings
        if doors is None or self.certificates is None:
            return []
        target = Target(doors.service, doors.url, self.certificates.trusted)
        own = settings.namespace
        where = Where(everywhere=settings.everywhere, own=own)
        wanted = [mutating(settings.kinds, target, where), validating(target)]
        wanted += [policy(settings.kinds), binding(where)]
        return [*wanted, dialect.configuration(settings.kinds, self.rules.by_namespace, target, own=own)]

    @property
    def is_ready(self) -> bool:
        """Whether it can judge what is created; without doors, whether it runs."""
        return self.doors is None or (self.doors.listening.is_set() and self.sight.is_synced)

    def _pages(self) -> dict[str, Page]:
        def alive() -> tuple[int, str, bytes]:
            return 200, _PLAIN, b"ok\n"

        def ready() -> tuple[int, str, bytes]:
            return (200, _PLAIN, b"ok\n") if self.is_ready else (503, _PLAIN, b"not yet: queues are still being read\n")

        return {"/healthz": alive, "/readyz": ready, "/metrics": self._metrics.page}
