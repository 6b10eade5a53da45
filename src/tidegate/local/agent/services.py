"""Services with an address: the node listens there, on its own bridge, and forwards to a pod behind the service.

The address is given to the bridge, so that pods reach it by their default route. Addresses that this machine already
has a way to are left alone: they belong to somebody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import itertools
import logging
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tidegate.local.agent.forward import pipe
from tidegate.local.agent.runner.netlink import Netlink
from tidegate.local.agent.sandbox.names import backends

Spec = Mapping[str, Any]
Ear = tuple[str, int]

_log = logging.getLogger(__name__)


class ServiceForwarder:
    """Follows the services: `settle` makes what is listened to equal to what there is."""

    def __init__(
        self, bridge: str, *, services: Callable[[], Iterable[Spec]], pods: Callable[[], Iterable[Spec]]
    ) -> None:
        self._bridge = bridge
        self._services = services
        self._pods = pods
        self._servers: dict[Ear, asyncio.Server] = {}
        self._claimed: set[str] = set()
        self._foreign: set[str] = set()
        self._turn = itertools.count()

    @property
    def reachable(self) -> frozenset[str]:
        return frozenset(address for address, _ in self._servers)

    async def settle(self) -> None:
        wanted = {ear for service in self._services() for ear in _ears(service)}
        for ear in set(self._servers) - wanted:
            self._servers.pop(ear).close()
        for ear in sorted(wanted - set(self._servers)):
            if ear[0] not in self._foreign:
                await self._listen(ear)
        self._drop_addresses({address for address, _ in wanted})

    async def _listen(self, ear: Ear) -> None:
        address, port = ear
        if address not in self._claimed and not self._claim(address):
            return
        try:
            self._servers[ear] = await asyncio.start_server(lambda r, w: self._serve(ear, r, w), address, port)
        except OSError as error:
            _log.warning("the service address %s:%d cannot be listened on: %s", address, port, error)

    def _claim(self, address: str) -> bool:
        """Gives the address to the bridge, unless the machine has a way to it that is not its default route."""
        if _has_route(address):
            self._foreign.add(address)
            _log.warning(
                "the service address %s is in a network of this machine; services there are not forwarded", address
            )
            return False
        link = Netlink()
        with contextlib.suppress(FileExistsError):
            link.add_address(socket.if_nametoindex(self._bridge), address, 32)
        link.close()
        self._claimed.add(address)
        return True

    def _drop_addresses(self, kept: set[str]) -> None:
        for address in list(self._claimed - kept):
            self._claimed.discard(address)
            link = Netlink()
            with contextlib.suppress(OSError):
                link.delete_address(socket.if_nametoindex(self._bridge), address, 32)
            link.close()

    async def _serve(self, ear: Ear, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for host, port in self._targets(ear):
            try:
                to_reader, to_writer = await asyncio.open_connection(host, port)
            except OSError:
                continue
            await pipe(reader, writer, to_reader, to_writer)
            return
        writer.close()

    def _targets(self, ear: Ear) -> list[Ear]:
        """Every pod behind the address, beginning with another one each time."""
        found = []
        for service in self._services():
            if service["spec"].get("clusterIP") != ear[0]:
                continue
            ports = [port for port in service["spec"].get("ports") or [] if port["port"] == ear[1]]
            found += [
                (pod["status"]["podIP"], target_port(port, pod))
                for port in ports
                for pod in backends(service, self._pods())
            ]
        start = next(self._turn) % len(found) if found else 0
        return found[start:] + found[:start]

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


def _ears(service: Spec) -> list[Ear]:
    """Where a service is listened for. The API server's own has no pods behind it and its own way."""
    spec = service["spec"]
    address = spec.get("clusterIP") or "None"
    if address == "None" or not spec.get("selector"):
        return []
    return [(address, int(port["port"])) for port in spec.get("ports") or [] if port.get("protocol", "TCP") == "TCP"]


def target_port(port: Spec, pod: Spec) -> int:
    """The pod's port behind a service's: by number, by its name in the pod, or the same."""
    told = port.get("targetPort") or port["port"]
    if isinstance(told, int) or told.isdigit():
        return int(told)
    for container in pod["spec"]["containers"]:
        for each in container.get("ports") or []:
            if each.get("name") == told:
                return int(each["containerPort"])
    return int(port["port"])


def _has_route(address: str) -> bool:
    """Whether a route that is not the default one leads to the address."""
    wanted = ipaddress.IPv4Address(address)
    for line in Path("/proc/net/route").read_text().splitlines()[1:]:
        fields = line.split()
        # The kernel prints them as numbers in its own byte order.
        target, mask = (int.from_bytes(struct.pack("=I", int(fields[at], 16)), "big") for at in (1, 7))
        if mask and int(wanted) & mask == target & mask:
            return True
    return False
