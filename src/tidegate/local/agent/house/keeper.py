"""The keeper of the house: stays outside, holds the namespaces, and carries bytes between inside and outside.

Requests are JSON messages on `house.sock`: `enter` answers with the namespaces, `ear` with a listening socket of the
outside, `forward` brings a listening socket of the inside whose connections go to an address outside.
"""

# pathlib would cost memory for as long as pods run.
# ruff: noqa: PTH108, PTH110, PTH123
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import socket
import sys

from tidegate.local.agent.runner import linux

_PIECE = 65536
_HELD_MOST = 1 << 20


def main(folder: str) -> int:
    """Starts the keeper unless there is one, and returns when it answers."""
    os.chdir(folder)
    lock = os.open("house.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    ready, tell = os.pipe2(os.O_CLOEXEC)
    if os.fork() == 0:
        os.close(ready)
        os.setsid()
        _keep(tell)
    os.close(tell)
    said = b"".join(iter(lambda: os.read(ready, 4096), b"")).decode()
    if said == "ready":
        return 0
    sys.stderr.write(said or "the keeper of the house ended before it was ready")
    return 1


def _keep(tell: int) -> None:
    try:
        namespaces = _build()
        if os.path.exists("house.sock"):
            os.unlink("house.sock")
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.bind("house.sock")
        door.listen(8)
        quiet = os.open("/dev/null", os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(quiet, target)
        os.write(tell, b"ready")
    except OSError as error:
        os.write(tell, str(error).encode())
        os._exit(1)
    os.close(tell)
    _Keeper(door, namespaces).run()
    os._exit(0)


def _build() -> tuple[int, int]:
    """Makes the namespaces by way of a child, since this process must stay outside; this user becomes root in them."""
    made, making = os.pipe2(os.O_CLOEXEC)
    released, release = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        os.close(made)
        os.close(release)
        try:
            linux.unshare(linux.NEWUSER | linux.NEWNET)
            os.write(making, b"made")
            os.read(released, 1)
        except OSError as error:
            os.write(making, str(error).encode())
        os._exit(0)
    os.close(making)
    said = os.read(made, 4096).decode()
    if said != "made":
        raise OSError(said)
    for file, text in (("setgroups", "deny"), ("uid_map", f"0 {os.getuid()} 1"), ("gid_map", f"0 {os.getgid()} 1")):
        with open(f"/proc/{child}/{file}", "w") as handle:
            handle.write(text)
    user, network = (os.open(f"/proc/{child}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in ("user", "net"))
    os.close(release)
    os.waitpid(child, 0)
    return user, network


class _Keeper:
    def __init__(self, door: socket.socket, namespaces: tuple[int, int]) -> None:
        self._door = door
        self._namespaces = namespaces
        self._poll = select.poll()
        self._guests: dict[int, socket.socket] = {}
        self._inside: dict[int, tuple[socket.socket, tuple[str, int]]] = {}
        self._pipes: dict[int, tuple[socket.socket, socket.socket, bytearray]] = {}
        self._closing = False

    def run(self) -> None:
        self._poll.register(self._door, select.POLLIN)
        while not self._closing:
            for fd, events in self._poll.poll():
                with contextlib.suppress(OSError):
                    self._dispatch(fd, events)

    def _dispatch(self, fd: int, events: int) -> None:
        if fd == self._door.fileno():
            guest, _ = self._door.accept()
            self._guests[guest.fileno()] = guest
            self._poll.register(guest, select.POLLIN)
        elif fd in self._guests:
            self._answer(self._guests[fd])
        elif fd in self._inside:
            self._connect(*self._inside[fd])
        elif fd in self._pipes:
            self._carry(fd, events)

    def _answer(self, guest: socket.socket) -> None:
        message, fds, _, _ = socket.recv_fds(guest, 4096, 1)
        if not message:
            self._poll.unregister(guest)
            del self._guests[guest.fileno()]
            guest.close()
            return
        asked = json.loads(message)
        if asked["do"] == "enter":
            socket.send_fds(guest, [b"{}"], list(self._namespaces))
        elif asked["do"] == "ear":
            ear = socket.create_server((asked["host"], asked["port"]))
            socket.send_fds(guest, [b"{}"], [ear.fileno()])
            ear.close()
        elif asked["do"] == "forward":
            listener = socket.socket(fileno=fds[0])
            self._inside[listener.fileno()] = (listener, (asked["host"], asked["port"]))
            self._poll.register(listener, select.POLLIN)
            guest.send(b"{}")
        elif asked["do"] == "close":
            self._closing = True
            guest.send(b"{}")

    def _connect(self, listener: socket.socket, target: tuple[str, int]) -> None:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(target, timeout=5)
        except OSError:
            near.close()
            return
        for one, other in ((near, far), (far, near)):
            one.setblocking(False)
            self._pipes[one.fileno()] = (one, other, bytearray())
            self._poll.register(one, select.POLLIN)

    def _carry(self, fd: int, events: int) -> None:
        """Bytes from one side to the other; what the other cannot take yet is held, and no more read meanwhile."""
        one, other, to_one = self._pipes[fd]
        to_other = self._pipes[other.fileno()][2]
        try:
            if events & select.POLLOUT and to_one:
                del to_one[: one.send(to_one)]
            if events & (select.POLLIN | select.POLLHUP) and len(to_other) < _HELD_MOST:
                piece = one.recv(_PIECE)
                if not piece:
                    self._hang_up(one, other)
                    return
                to_other += piece
                with contextlib.suppress(BlockingIOError):
                    del to_other[: other.send(to_other)]
        except BlockingIOError:
            pass
        except OSError:
            self._hang_up(one, other)
            return
        for side, waiting, onward in ((one, to_one, to_other), (other, to_other, to_one)):
            reading = select.POLLIN if len(onward) < _HELD_MOST else 0
            self._poll.modify(side, reading | (select.POLLOUT if waiting else 0))

    def _hang_up(self, one: socket.socket, other: socket.socket) -> None:
        for side in (one, other):
            _, _, left = self._pipes.pop(side.fileno())
            self._poll.unregister(side)
            with contextlib.suppress(OSError):
                side.settimeout(5)
                side.sendall(left)
            side.close()
