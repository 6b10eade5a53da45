"""Forwards TCP connections of pods: to the API server, which listens on loopback, out of their reach."""

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
        await pipe(reader, writer, to_reader, to_writer)

    return await asyncio.start_server(connected, listen, port)


async def pipe(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    to_reader: asyncio.StreamReader,
    to_writer: asyncio.StreamWriter,
) -> None:
    """Carries bytes both ways until both sides have said all they had."""
    await asyncio.gather(_pump(reader, to_writer), _pump(to_reader, writer))
    for each in (writer, to_writer):
        each.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.CancelledError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
        # Half closed: the other direction may still have much to say.
        if writer.can_write_eof():
            writer.write_eof()
