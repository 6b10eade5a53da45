"""What pods say, line by line; where several speak, each line begins with who."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]
_BEGUN = ("Running", "Succeeded", "Failed")
_COLOURS = (36, 33, 35, 32, 34)


class Streams:
    """Follows every pod that has begun, once."""

    def __init__(self, client: Client, namespace: str, *, several: bool, query: dict[str, str]) -> None:
        self._client, self._namespace = client, namespace
        self._several, self._query = several, query
        self._colour = several and os.isatty(1)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def follow(self, pods: list[Json]) -> None:
        """Begin with those that have begun to speak and are not followed yet."""
        for pod in pods:
            name = str(pod["metadata"]["name"])
            if name not in self._tasks and (pod.get("status") or {}).get("phase") in _BEGUN:
                self._tasks[name] = asyncio.create_task(self._stream(name, self._prefix(name)))

    @property
    def begun(self) -> bool:
        return bool(self._tasks)

    async def ended(self) -> None:
        """Returns when everything that is followed has been said."""
        await asyncio.gather(*self._tasks.values())

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _prefix(self, name: str) -> bytes:
        if not self._several:
            return b""
        if not self._colour:
            return f"[{name}] ".encode()
        return f"\033[{_COLOURS[len(self._tasks) % len(_COLOURS)]}m[{name}]\033[0m ".encode()

    async def _stream(self, pod: str, prefix: bytes) -> None:
        from tidegate.kube.client import StatusError

        path = f"/api/v1/namespaces/{self._namespace}/pods/{pod}/log"
        rest = b""
        # A pod that goes while it speaks has said what it had to say.
        with contextlib.suppress(StatusError, OSError):
            async for piece in self._client.stream(path, query=self._query):
                *lines, rest = (rest + piece).split(b"\n")
                _write(b"".join(prefix + line + b"\n" for line in lines))
        if rest:
            _write(prefix + rest + b"\n")


def _write(text: bytes) -> None:
    """All of it, also into a pipe that takes a part at a time."""
    while text:
        text = text[os.write(1, text) :]
