"""A loop tells of what went wrong, and not of bytes that came for a connection which had just been closed: an operator
that could not serve at its address said so below a traceback of uvloop's, on a busy machine."""

from __future__ import annotations

import asyncio

import pytest

from tidegate.kube import loops

CLOSED = "unable to perform operation on <TCPTransport closed=True reading=False 0x1>; the handler is closed"


def test_only_what_matters_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> str:
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "Fatal error on transport", "exception": RuntimeError(CLOSED)})
        loop.call_exception_handler({"message": "a fault of ours", "exception": RuntimeError("no such thing")})
        return "done"

    assert loops.run(work()) == "done"
    assert [record.message.splitlines()[0] for record in caplog.records] == ["a fault of ours"]
