"""Reading a watch: pieces of bytes to lines, lines to events. Every way that a stream can break is an OSError."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

from tidegate.kube.answers import Event
from tidegate.kube.codec import Codec

T = TypeVar("T")


async def events_of(
    pieces: AsyncGenerator[bytes, None], codec: Codec[T], *, idle_s: float | None
) -> AsyncGenerator[Event[T], None]:
    """The events of a stream, until it ends. A stream that says nothing for `idle_s` raises TimeoutError; one that ends
    inside a line, or carries what is not JSON, raises ConnectionError."""
    rest = b""
    try:
        while (piece := await _next(pieces, idle_s)) is not None:
            # The embedded server sends whole lines: then nothing is joined and the split is the only copy.
            lines = (rest + piece if rest else piece).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if line and not line.isspace():
                    yield codec.event(line)
    finally:
        await pieces.aclose()
    if rest.strip():
        raise ConnectionError("The watch ended in the middle of an event.")


async def _next(pieces: AsyncGenerator[bytes, None], idle_s: float | None) -> bytes | None:
    try:
        async with asyncio.timeout(idle_s):
            return await anext(pieces)
    except StopAsyncIteration:
        return None
