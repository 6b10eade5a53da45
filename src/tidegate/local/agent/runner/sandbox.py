"""The namespaces that the containers of one pod share: network, host name, IPC, and the pod's own mounts."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

from tidegate.local.agent.runner import linux, netlink


def enter(sandbox: dict[str, Any]) -> None:
    """Moves this process into the pod's namespaces. They go, with everything in them, when the last process does."""
    if not sandbox["namespaces"]:
        return
    network = sandbox.get("network")
    outside = netlink.Netlink()
    bridge = socket.if_nametoindex(network["bridge"]) if network else 0
    linux.unshare(linux.NEWNS | linux.NEWUTS | linux.NEWIPC | (linux.NEWNET if network else 0))
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    socket.sethostname(sandbox["hostname"])
    for memory in sandbox["tmpfs"]:
        options = f"mode=1777,size={memory['bytes']}" if memory["bytes"] else "mode=1777"
        linux.mount("tmpfs", memory["path"], "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
    if network:
        _join(network, outside, bridge)
    outside.close()


def _join(network: dict[str, Any], outside: netlink.Netlink, bridge: int) -> None:
    """One end of a cable into the bridge, the other here as eth0, with the pod's address and the way out."""
    with contextlib.suppress(OSError):
        # The kernel takes its time to clear away the namespace of a runner that was killed.
        outside.delete(network["veth"])
    outside.add_veth(network["veth"], bridge=bridge, peer="eth0", peer_pid=os.getpid())
    inside = netlink.Netlink()
    inside.raise_link(socket.if_nametoindex("lo"))
    index = socket.if_nametoindex("eth0")
    inside.raise_link(index)
    inside.add_address(index, network["address"], network["prefix"])
    inside.add_default_route(network["gateway"])
    inside.close()
