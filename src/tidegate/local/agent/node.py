"""The Node object of this machine, and the Lease that says it is alive."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import LEASES, NAMESPACES, NODES
from tidegate.local.agent import machine
from tidegate.local.agent.pod.status import stamp
from tidegate.local.agent.settings import Settings

_log = logging.getLogger(__name__)

LEASE_NAMESPACE = "kube-node-lease"
_STATUS_S = 300.0


class Registration:
    """Registers the node and keeps it alive. `node` is what the binder and the pods see."""

    def __init__(self, client: Client, settings: Settings, *, notes: Mapping[str, str]) -> None:
        self._client = client
        self._settings = settings
        self._notes = notes
        self.port = 0
        devices = machine.gpus(settings)
        self.devices = machine.Devices(devices)
        self.capacity = machine.capacity(settings, devices)
        self.allocatable = machine.allocatable(self.capacity, settings.reserve)
        self.node: dict[str, Any] = {}

    async def register(self) -> None:
        """Creates the Node, or takes it over, and says it is ready."""
        name = self._settings.node_name
        info = machine.description("0.1")
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
        labels |= {"kubernetes.io/arch": info["architecture"], **self._settings.labels}
        meta = {"name": name, "labels": labels, "annotations": dict(self._notes)}
        spec = {"taints": [dict(taint) for taint in self._settings.taints]} if self._settings.taints else {}
        body = {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec}
        try:
            await self._client.create(NODES, body)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                raise
            await self._client.patch(NODES, name, {"metadata": {"labels": labels, "annotations": dict(self._notes)}})
        await self._report()
        await self._renew()

    async def _report(self) -> None:
        status = {
            "capacity": self.capacity,
            "allocatable": self.allocatable,
            "addresses": [{"type": "InternalIP", "address": self._settings.listen}],
            "nodeInfo": machine.description("0.1"),
            "conditions": _conditions(time.time(), self.node),
            # Tells a real API server that exec and attach come as WebSockets here, not as SPDY.
            "declaredFeatures": ["ExtendWebSocketsToKubelet"],
        }
        if self.port:
            status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": self.port}}
        patch = {"status": status}
        self.node = await self._client.patch(
            NODES, self._settings.node_name, patch, type="strategic", subresource="status"
        )

    async def _renew(self) -> None:
        """Renews the Lease, making it (and its namespace) where it is missing."""
        name, seconds = self._settings.node_name, int(self._settings.heartbeat_s * 4)
        now = time.time()
        renewed = f"{stamp(now)[:-1]}.{int(now % 1 * 1_000_000):06d}Z"
        spec = {"holderIdentity": name, "leaseDurationSeconds": seconds, "renewTime": renewed}
        try:
            await self._client.patch(LEASES, name, {"spec": spec}, LEASE_NAMESPACE)
        except StatusError as error:
            if error.code != 404:
                raise
            await self._create_lease(spec)

    async def _create_lease(self, spec: Mapping[str, Any]) -> None:
        name = self._settings.node_name
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": self.node["metadata"]["uid"]}
        meta = {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
        try:
            await self._client.create(LEASES, body)
        except StatusError as error:
            if error.code != 404:
                raise
            home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LEASE_NAMESPACE}}
            await self._client.create(NAMESPACES, home)
            await self._client.create(LEASES, body)

    def observe(self, node: dict[str, Any] | None) -> None:
        """The Node as the server has it now: labels, taints and cordons of others count for binding."""
        if node is not None:
            self.node = node

    async def run(self) -> None:
        """Heartbeats until cancelled; a server that does not answer is tried again at the next one."""
        reported = time.monotonic()
        while True:
            await asyncio.sleep(self._settings.heartbeat_s)
            try:
                if time.monotonic() - reported >= _STATUS_S:
                    await self._report()
                    reported = time.monotonic()
                await self._renew()
            except StatusError as error:
                if error.code == 404:
                    await self._again()
                else:
                    _log.warning("heartbeat refused: %s", error.message)
            except OSError as error:
                _log.warning("heartbeat failed: %s", error)

    async def _again(self) -> None:
        """Somebody deleted the Node; as long as this agent runs, there is one."""
        try:
            await self.register()
        except (StatusError, OSError) as error:
            _log.warning("the node could not be registered again: %s", error)


def _conditions(now: float, node: Mapping[str, Any]) -> list[dict[str, str]]:
    old = {each["type"]: each for each in (node.get("status") or {}).get("conditions") or []}
    wanted = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "the node has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "the node has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "the node has sufficient PIDs available"),
        ("Ready", "True", "KubeletReady", "the node agent is posting ready status"),
    ]
    found = []
    for kind, status, reason, message in wanted:
        before = old.get(kind)
        since = before["lastTransitionTime"] if before and before["status"] == status else stamp(now)
        told = {"type": kind, "status": status, "reason": reason, "message": message}
        found.append(told | {"lastHeartbeatTime": stamp(now), "lastTransitionTime": since})
    return found
