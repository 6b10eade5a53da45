"""WebSockets: watch events as text frames, for clients (fabric8) that insist on them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
from collections.abc import AsyncIterator

from tidegate.kube.wire import Request
from tidegate.local.apiserver.front import Duplex, Upgrade

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def stream_over_websocket(request: Request, events: AsyncIterator[list[bytes]]) -> Upgrade:
    """Answers an upgrade; every event then is one text frame."""
    key = request.headers.get("sec-websocket-key", "").encode()
    accept = base64.b64encode(hashlib.sha1(key + _MAGIC).digest()).decode()  # noqa: S324
    headers = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-accept": accept}
    offered = [name.strip() for name in request.headers.get("sec-websocket-protocol", "").split(",")]
    for name in offered:
        if name.endswith("k8s.io") and not name.startswith("base64url.bearer."):
            headers["sec-websocket-protocol"] = name
            break

    async def talk(duplex: Duplex) -> None:
        sending = asyncio.create_task(_send(duplex, events))
        try:
            await _listen(duplex, sending)
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sending

    return Upgrade(101, b"", headers, talk)


async def _send(duplex: Duplex, events: AsyncIterator[list[bytes]]) -> None:
    from websockets.frames import Frame, Opcode

    async for batch in events:
        frames = [Frame(Opcode.TEXT, event).serialize(mask=False) for event in batch]
        await duplex.write(b"".join(frames))
    await duplex.write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=False))
    duplex.close()


async def _listen(duplex: Duplex, sending: asyncio.Task[None]) -> None:
    """Answers pings and a close; anything else a watcher says is of no interest."""
    from websockets.frames import Frame, Opcode
    from websockets.streams import StreamReader

    reader = StreamReader()

    async def feed() -> bool:
        data = await duplex.read()
        if data:
            reader.feed_data(data)
        return bool(data)

    while not sending.done():
        parser = Frame.parse(reader.read_exact, mask=True, max_size=1 << 20)
        frame = None
        while frame is None:
            try:
                next(parser)
            except StopIteration as done:
                frame = done.value
            else:
                if not await feed():
                    return
        if frame.opcode is Opcode.PING:
            await duplex.write(Frame(Opcode.PONG, frame.data).serialize(mask=False))
        elif frame.opcode is Opcode.CLOSE:
            await duplex.write(Frame(Opcode.CLOSE, frame.data).serialize(mask=False))
            return
