"""Subresources and questions that are not plain reads and writes of an object: each has its own small rule."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tidegate.kube.wire import Response
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.errors import page_not_found

Special = Callable[[Api, Call], Awaitable[Response]]


async def special(api: Api, call: Call) -> Response:
    found = _table().get((call.served.group, call.served.plural, call.subresource))
    found = found or _table().get(("*", "*", call.subresource))
    if found is None:
        raise page_not_found()
    return await found(api, call)


def _table() -> dict[tuple[str, str, str], Special]:
    return {}
