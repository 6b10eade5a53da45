"""A TCP relay on loopback whose connections can be cut, so that a real server's streams break for real."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit


class Relay:
    """Passes bytes between its port and a server; `cut` aborts every connection there is."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cuts = 0

    async def __aenter__(self) -> Relay:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"{self._target.scheme}://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def point_to(self, url: str) -> None:
        """New connections go to another server."""
        self._target = urlsplit(url)

    def cut(self) -> None:
        self.cuts += 1
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(self._target.hostname, self._target.port)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers |= {writer, there[1]}
        try:
            await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))
        finally:
            self._tasks.discard(task)
            self._writers -= {writer, there[1]}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(1 << 16):
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # cut
        finally:
            writer.close()
