"""News of what is looked at: a command that waits for something looks again when there is any, and not before."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self

from tidegate.kube.answers import StatusError

if TYPE_CHECKING:
    from types import TracebackType

    from tidegate.kube.client import Client
    from tidegate.kube.wire import Resource

Watched = tuple["Resource[Any]", str]
"""A collection of one namespace, and which fields its objects have; an empty text: all of them."""
_TOGETHER_S = 0.1
"""News this close to one another are worth one look."""
_AGAIN_S = 0.5
_IDLE_S = 150.0


class News:
    """`async with` begins to listen. Where nobody can be heard, that is news, too: whoever looks again sees why."""

    def __init__(self, client: Client, namespace: str, *watched: Watched) -> None:
        self._client, self._namespace, self._watched = client, namespace, watched
        self._heard = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._listen(*each)) for each in self._watched]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def come(self) -> None:
        """Returns when something may be different from when this was last asked, or from the beginning."""
        await self._heard.wait()
        await asyncio.sleep(_TOGETHER_S)
        self._heard.clear()

    async def _listen(self, resource: Resource[Any], fields: str) -> None:
        while True:
            try:
                page = await self._client.list(resource, self._namespace, fields=fields)
                self._heard.set()  # It may have happened since somebody looked, and is not told again.
                with contextlib.suppress(StatusError):  # Who may read may not always watch, and asks again instead.
                    await self._hear(resource, fields, page.resource_version)
            except StatusError as refused:
                if refused.code in (401, 403, 404):
                    return
            except OSError:
                pass
            await asyncio.sleep(_AGAIN_S)
            self._heard.set()

    async def _hear(self, resource: Resource[Any], fields: str, since: str) -> None:
        """Until the server ends the stream."""
        events = self._client.watch(resource, self._namespace, fields=fields, resource_version=since, idle_s=_IDLE_S)
        async with contextlib.aclosing(events):
            async for event in events:
                if event.type != "BOOKMARK":
                    self._heard.set()
