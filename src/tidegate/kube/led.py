"""Writing as long as one leads, and not a moment longer.

A write is made while the lease is good, and may be sent, or take effect, long after that: its process was held up, its
connection was still being made, or it hangs in the server. So it is asked again in the moment when it is sent, and the
server is told by when to give it up. Whoever leads next finds everything that was written, and nothing comes after.
"""

from __future__ import annotations

from dataclasses import replace

from tidegate.kube.leases import LeaderElection
from tidegate.kube.wire import Request, Response, Transport

_WRITES = ("POST", "PUT", "PATCH", "DELETE")
_BARE = b'{"apiVersion":"v1","kind":"DeleteOptions"}'
"""What a deletion is sent with that says nothing: without a body it could not be held back any more."""
_UNWELL = 500
"""A server that says so or worse may still do what it was asked for."""


class LedWire:
    """A Transport on which nobody writes but who leads."""

    def __init__(self, wire: Transport, election: LeaderElection) -> None:
        self._wire = wire
        self._election = election

    async def send(self, request: Request) -> Response:
        if request.method not in _WRITES:
            return await self._wire.send(request)
        if not self._is_leader():
            raise ConnectionAbortedError("the lease is over, and nothing is written without it")
        within = f"{self._election.terms.answer_within_s * 1000:.0f}ms"
        led = replace(_with_body(request), query={**request.query, "timeout": within}, still=self._is_leader)
        is_over = False
        try:
            response = await self._wire.send(led)
            is_over = response.status < _UNWELL
            return response
        finally:
            if not is_over:
                self._election.cut_off()

    def _is_leader(self) -> bool:
        return self._election.is_leader

    async def close(self) -> None:
        await self._wire.close()


def _with_body(request: Request) -> Request:
    if request.body or request.method != "DELETE":
        return request
    return replace(request, body=_BARE, headers={**request.headers, "content-type": "application/json"})
