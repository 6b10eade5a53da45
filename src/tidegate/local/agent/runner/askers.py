"""Whoever is connected to the runner: requests as JSON lines, with descriptors beside them, and who watches."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable
from typing import Any

_LINE_MOST = 4 << 20
_READ = 65536


class Askers:
    """By descriptor of their connection."""

    def __init__(self, listener: socket.socket, poll: select.poll, left: Callable[[int], None]) -> None:
        """`left` is called with one that has hung up."""
        self._listener = listener
        self._poll = poll
        self._left = left
        self._clients: dict[int, tuple[socket.socket, bytes]] = {}
        self._fds: dict[int, list[int]] = {}
        self._watchers: set[int] = set()
        poll.register(listener, select.POLLIN)

    def __contains__(self, fd: int) -> bool:
        return fd in self._clients

    def is_door(self, fd: int) -> bool:
        """Whether somebody knocks there."""
        return fd == self._listener.fileno()

    def let_in(self) -> None:
        client, _ = self._listener.accept()
        self._clients[client.fileno()] = (client, b"")
        self._poll.register(client, select.POLLIN)

    def hear(self, fd: int) -> dict[str, Any] | None:
        """A request; None where it is not whole yet, or whoever made it is gone."""
        client, held = self._clients[fd]
        try:
            piece, fds, _, _ = socket.recv_fds(client, _READ, 3)
        except OSError:
            piece, fds = b"", []
        self._fds.setdefault(fd, []).extend(fds)
        held += piece
        if not piece or len(held) > _LINE_MOST:
            self._hang_up(fd)
            return None
        line, newline, rest = held.partition(b"\n")
        self._clients[fd] = (client, rest if newline else held)
        request: dict[str, Any] | None = json.loads(line) if newline else None
        return request

    def say(self, fd: int, answer: dict[str, Any]) -> None:
        """To one that may have left by now."""
        if fd not in self._clients:
            return
        try:
            self._clients[fd][0].sendall(json.dumps(answer).encode() + b"\n")
        except OSError:
            self._hang_up(fd)

    def descriptors(self, fd: int) -> list[int]:
        """What came with a request; they are the caller's from now on."""
        return self._fds.pop(fd, [])

    def watch(self, fd: int) -> None:
        """From now on it is told of every change."""
        self._watchers.add(fd)

    def publish(self, state: dict[str, Any]) -> None:
        for fd in list(self._watchers):
            self.say(fd, state)

    def _hang_up(self, fd: int) -> None:
        client, _ = self._clients.pop(fd)
        self._watchers.discard(fd)
        for left in self._fds.pop(fd, []):
            os.close(left)
        self._left(fd)
        self._poll.unregister(fd)
        client.close()

    def forget(self) -> None:
        """In a process that is none of the runner's: their connections are not its own."""
        self._listener.close()
        for client, _ in self._clients.values():
            client.close()
