"""Addresses for pods: a bridge and a network namespace each where the user may make them, else loopback addresses."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import ipaddress
import itertools
import os
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate.local.agent.runner.netlink import Netlink


@dataclass(frozen=True, slots=True)
class Isolation:
    """How pods of this node are kept apart, and why not better."""

    namespaces: bool
    reason: str


def probe(mode: str, otherwise: str = "") -> Isolation:
    """What can be done here: tries it in a child process, since nothing else tells for sure.

    `otherwise` says why another way to get the right to do it did not work either.
    """
    if mode == "loopback":
        return Isolation(False, "asked for")
    if not sys.platform.startswith("linux"):
        problem = "namespaces need Linux"
    else:
        problem = _try_namespaces()
    if problem and otherwise:
        problem = f"{problem}; {otherwise}"
    if mode == "namespaces" and problem:
        raise OSError(f"Namespaces cannot be used here: {problem}. Run as root, or use --isolation loopback.")
    return Isolation(not problem, problem or "available")


def _try_namespaces() -> str:
    """Empty if a child could make every namespace and device that pods need, else what failed."""
    result, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _rehearse()
        except OSError as error:
            os.write(report, str(error).encode())
        finally:
            os._exit(0)
    os.close(report)
    problem = os.read(result, 4096).decode()
    os.close(result)
    os.waitpid(pid, 0)
    return problem


def _rehearse() -> None:
    from tidegate.local.agent.runner import linux

    linux.unshare(linux.NEWNS | linux.NEWUTS | linux.NEWIPC | linux.NEWNET | linux.NEWPID)
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    inside = Netlink()
    inside.add_bridge("probe0")
    inside.add_veth("probe1", bridge=socket.if_nametoindex("probe0"), peer="probe2", peer_pid=os.getpid())


class Addresses:
    """Gives out addresses of one range; the first one is the bridge's own."""

    def __init__(self, network: ipaddress.IPv4Network) -> None:
        self.network = network
        self.gateway = str(network.network_address + 1)
        self._taken: dict[str, str] = {}
        self._next = 2

    def keep(self, pod_uid: str, address: str) -> None:
        """An address that a pod of an earlier agent has already."""
        self._taken[address] = pod_uid

    def take(self, pod_uid: str) -> str:
        """The pod's address: the one it has, else the next free one, so that none is used again soon."""
        for address, owner in self._taken.items():
            if owner == pod_uid:
                return address
        size = self.network.num_addresses - 1
        for _ in range(size):
            address = str(self.network.network_address + self._next)
            self._next = 2 if self._next + 1 >= size else self._next + 1
            if address not in self._taken:
                self._taken[address] = pod_uid
                return address
        raise OSError(errno.EADDRNOTAVAIL, f"All addresses of {self.network} are taken. Choose a larger --pod-cidr.")

    def release(self, pod_uid: str) -> None:
        for address in [address for address, owner in self._taken.items() if owner == pod_uid]:
            del self._taken[address]


def default_range(seed: str, *, namespaces: bool, used: Iterable[str]) -> ipaddress.IPv4Network:
    """A range that is the same at every start for one data folder and meets no address that the machine has."""
    base = hashlib.sha256(seed.encode()).digest()
    if not namespaces:
        return ipaddress.IPv4Network(f"127.{64 + base[0] % 190}.{base[1]}.0/24")
    present = [ipaddress.IPv4Address(address) for address in used]
    for turn in range(256):
        network = ipaddress.IPv4Network(f"10.{128 + (base[0] + turn) % 120}.{base[1] // 4 * 4}.0/22")
        if not any(address in network for address in present):
            return network
    raise OSError("No free range of addresses was found for pods. Choose one with --pod-cidr.")


def bridge_name(seed: str) -> str:
    return f"tg-{hashlib.sha256(seed.encode()).hexdigest()[:10]}"


def veth_name(pod_uid: str) -> str:
    return f"tg{hashlib.sha256(pod_uid.encode()).hexdigest()[:12]}"


def ensure_bridge(name: str, addresses: Addresses) -> None:
    """Makes the bridge with its address, or what is missing of it since an earlier start."""
    link = Netlink()
    try:
        with contextlib.suppress(FileExistsError):
            link.add_bridge(name)
        with contextlib.suppress(FileExistsError):
            link.add_address(socket.if_nametoindex(name), addresses.gateway, addresses.network.prefixlen)
    finally:
        link.close()


def remove_bridge(name: str) -> None:
    link = Netlink()
    with contextlib.suppress(OSError):
        link.delete(name)
    link.close()


def machine_addresses() -> list[str]:
    """Every IPv4 address this machine has, as the kernel's routing table tells."""
    found = []
    lines = Path("/proc/net/fib_trie").read_text().splitlines()
    for address, kind in itertools.pairwise(lines):
        if "/32 host LOCAL" in kind:
            found.append(address.split()[-1])
    return found


def sandbox_network(pod_uid: str, address: str, bridge: str, addresses: Addresses) -> dict[str, Any]:
    """What the runner needs to plug a pod in."""
    return {
        "bridge": bridge,
        "veth": veth_name(pod_uid),
        "address": address,
        "prefix": addresses.network.prefixlen,
        "gateway": addresses.gateway,
    }
