"""Patience with a server that says no: the same write is not sent again before its time, and its time comes later and
later.

A write that was refused (forbidden, invalid) will be refused again until somebody changes something elsewhere: a
policy, a quota, a right. Another write of the same object is sent at once: it may be the one that takes something away.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import msgspec

from tidegate.kube.answers import StatusError, refusal
from tidegate.kube.wire import Request, Response, Transport

_FIRST_S = 1.0
_MOST_S = 60.0
_REMEMBERED = 4096
_WRITES = ("POST", "PUT", "PATCH", "DELETE")
_NOT_FOR_GOOD = (401, 404, 409, 429)
"""Says nothing of the write itself, or not of the next."""
_BY_THE_SERVER = ("resourceVersion", "generation", "managedFields")

Place = tuple[str, str, str]
"""Method, path, and the name of what is created."""


class RefusedBeforeError(StatusError):
    """The same write was refused a while ago; `retry_after_s` says when it may be tried again."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    content: Any
    error: StatusError
    tries: int
    until: float


class PatientWire:
    """A Transport that remembers what was refused."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire
        self._refused: OrderedDict[Place, _Refusal] = OrderedDict()

    async def send(self, request: Request) -> Response:
        if request.method not in _WRITES:
            return await self._wire.send(request)
        known = self._known(request) if self._refused else None
        now = asyncio.get_running_loop().time()
        if known is not None and now < known.until:
            error, left_s = known.error, known.until - now
            raise RefusedBeforeError(error.code, error.reason, error.message, error.status, retry_after_s=left_s)
        response = await self._wire.send(request)
        if 400 <= response.status < 500 and response.status not in _NOT_FOR_GOOD and isinstance(response.body, bytes):
            return self._remembered(request, response, 0 if known is None else known.tries)
        if known is not None and response.status < 400:
            self._refused.pop(_place(request), None)
        return response

    async def close(self) -> None:
        await self._wire.close()

    def _known(self, request: Request) -> _Refusal | None:
        """This very write, if it was refused."""
        known = self._refused.get(_place(request))
        return known if known is not None and known.content == _content(request) else None

    def _remembered(self, request: Request, response: Response, tries: int) -> Response:
        assert isinstance(response.body, bytes)
        wait_s = min(_MOST_S, _FIRST_S * 2 ** min(tries, 10))
        until = asyncio.get_running_loop().time() + wait_s
        error = refusal(response.status, response.body, response.headers)
        place = _place(request)
        self._refused[place] = _Refusal(_content(request), error, tries + 1, until)
        self._refused.move_to_end(place)
        if len(self._refused) > _REMEMBERED:
            self._refused.popitem(last=False)
        return Response(response.status, response.body, {**response.headers, "retry-after": str(wait_s)})


def _place(request: Request) -> Place:
    name = _body(request).get("metadata", {}).get("name", "") if request.method == "POST" else ""
    return request.method, request.path, str(name)


def _content(request: Request) -> Any:
    """What is written, without what the server counts by itself; of a status only that, otherwise all but that."""
    body = _body(request)
    if request.path.endswith("/status"):
        return body.get("status")
    meta = {key: value for key, value in (body.get("metadata") or {}).items() if key not in _BY_THE_SERVER}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": meta}


def _body(request: Request) -> dict[str, Any]:
    body = msgspec.json.decode(request.body) if request.body else {}
    return body if isinstance(body, dict) else {"metadata": {}, "items": body}
