"""Forwards TCP connections of pods to the API server, which listens on loopback, out of their reach."""

from __future__ import annotations

import asyncio
import contextlib

_PIECE = 65536


async def forward(listen: str, port: int, host: str, target_port: int) -> asyncio.Server:
    """Listens on the bridge's own address; whatever comes in goes to the target, byte for byte."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to_reader, to_writer = await asyncio.open_connection(host, target_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pump(reader, to_writer), _pump(to_reader, writer))

    return await asyncio.start_server(connected, listen, port)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.CancelledError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()
