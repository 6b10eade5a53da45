"""Moving in: the agent of an ordinary user enters the house, and arranges the two ways over its border."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tidegate.local.agent.runner import linux
from tidegate.local.agent.runner.netlink import Netlink

_SOURCE = str(Path(__file__).resolve().parents[4])
_COMMAND = f"import sys; sys.path.insert(0, {_SOURCE!r}); from tidegate.local.agent.house.keeper import main; "
_COMMAND += "sys.exit(main(sys.argv[1]))"


def move_in(data_dir: Path, *, api_url: str, listen: str, port: int) -> socket.socket:
    """Enters the house; returns a socket that listens outside, for logs and exec. Call before there are threads.

    The API server is then found at the same address as outside. OSError says why it cannot be done.
    """
    api = urlsplit(api_url)
    if api.hostname not in ("127.0.0.1", "localhost"):
        raise OSError("the API server is not on this machine, which pods in a user's own network could not reach")
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    started = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _COMMAND, str(data_dir)], stderr=subprocess.PIPE, check=False
    )
    if started.returncode:
        raise OSError(started.stderr.decode(errors="replace").strip())
    door = _knock(data_dir)
    user, network = _ask(door, {"do": "enter"}, expect=2)
    (ear,) = _ask(door, {"do": "ear", "host": listen, "port": port}, expect=1)
    linux.setns(user, linux.NEWUSER)
    linux.setns(network, linux.NEWNET)
    _open_loopback()
    target = {"do": "forward", "host": "127.0.0.1", "port": api.port or 443}
    try:
        inside = socket.create_server(("127.0.0.1", api.port or 443))
    except OSError:
        inside = None  # An earlier agent has arranged it, and the keeper still listens.
    if inside is not None:
        _ask(door, target, give=[inside.fileno()])
        inside.close()
    door.close()
    for fd in (user, network):
        os.close(fd)
    return socket.socket(fileno=ear)


def leave(data_dir: Path) -> None:
    """Lets the keeper go, and with it the house, once no pod lives there."""
    try:
        door = _knock(data_dir)
    except OSError:
        return
    _ask(door, {"do": "close"})
    door.close()


def _knock(data_dir: Path) -> socket.socket:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    folder = os.open(data_dir, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        door.connect(f"/proc/self/fd/{folder}/house.sock")
    finally:
        os.close(folder)
    return door


def _ask(
    door: socket.socket, request: dict[str, object], *, give: list[int] | None = None, expect: int = 0
) -> list[int]:
    socket.send_fds(door, [json.dumps(request).encode()], give or [])
    _, fds, _, _ = socket.recv_fds(door, 4096, max(expect, 1))
    if len(fds) != expect:
        raise OSError("the keeper of the house did not answer as expected")
    return list(fds)


def _open_loopback() -> None:
    link = Netlink()
    link.raise_link(socket.if_nametoindex("lo"))
    link.close()
