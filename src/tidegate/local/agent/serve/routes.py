"""The routes of the node's server, as the API server asks for them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tidegate.local.agent.serve import channels, logs
from tidegate.local.agent.serve.channels import Channels, Tunnel
from tidegate.local.agent.serve.executing import execute
from tidegate.local.agent.serve.forwarding import SUBPROTOCOL, Forwarding
from tidegate.local.agent.serve.http import Answer, Asked
from tidegate.local.agent.work.folder import Work
from tidegate.local.agent.work.observe import log_path


@dataclass(frozen=True, slots=True)
class Routes:
    """Answers for the pods it is given."""

    works: Callable[[], Iterable[Work]]

    async def handle(self, asked: Asked, answer: Answer) -> None:
        match asked.parts:
            case ("healthz",):
                await answer.whole(200, "ok")
            case ("containerLogs", namespace, pod, container):
                await self._logs(asked, answer, self._find(namespace, pod), container)
            case ("exec", namespace, pod, container) | ("exec", namespace, pod, _, container):
                await self._exec(asked, answer, self._find(namespace, pod), container)
            case ("attach", namespace, pod, container) | ("attach", namespace, pod, _, container):
                await self._attach(asked, answer, self._find(namespace, pod), container)
            case ("portForward", namespace, pod):
                await self._forward(asked, answer, self._find(namespace, pod))
            case _:
                await answer.whole(404, "404 page not found\n")

    def _find(self, namespace: str, name: str) -> Work | None:
        found = [work for work in self.works() if (work.namespace, work.name) == (namespace, name)]
        return next((work for work in found if not work.closed), found[-1] if found else None)

    async def _logs(self, asked: Asked, answer: Answer, work: Work | None, container: str) -> None:
        if work is None:
            await answer.whole(404, "pod does not exist\n")
            return
        attempts = work.attempts(None).get(container, ())
        previous = asked.query.get("previous", "").lower() in ("true", "1")
        if len(attempts) <= (1 if previous else 0):
            kind = "previous terminated container" if previous else "container"
            await answer.whole(400, f'{kind} "{container}" in pod "{work.name}" not found\n')
            return
        try:
            options = logs.options_from(asked.query, now=time.time())
        except ValueError as error:
            await answer.whole(400, f"{error}\n")
            return
        number = attempts[-2].number if previous else attempts[-1].number
        options = replace(options, follow=options.follow and not previous)
        await answer.begin()
        async for piece in self._read(work, container, number, options):
            await answer.piece(piece)
        await answer.end()

    def _read(self, work: Work, container: str, number: int, options: logs.LogOptions) -> AsyncIterator[bytes]:
        def alive() -> bool:
            attempts = work.attempts(None).get(container, ())
            return bool(attempts) and attempts[-1].number == number and attempts[-1].alive

        path: Path = log_path(work.folder, container, number)
        return logs.read(path, options, alive=alive)

    async def _exec(self, asked: Asked, answer: Answer, work: Work | None, container: str) -> None:
        if work is None or not work.runs(container):
            await answer.whole(404, f'container not found ("{container}")\n')
            return
        open_ = await Channels.open(asked, answer)
        if open_ is not None:
            tty = asked.query.get("tty", "") in ("1", "true")
            await execute(open_, work.runner, container, asked.all("command"), tty=tty)

    async def _forward(self, asked: Asked, answer: Answer, work: Work | None) -> None:
        """To the pod's own address: what listens there is reached, what listens only on its localhost is not."""
        if work is None or not work.address:
            await answer.whole(404, "pod does not run\n")
            return
        tunnel = await Tunnel.open(asked, answer, SUBPROTOCOL)
        if tunnel is not None:
            await Forwarding(tunnel, work.address).run()

    async def _attach(self, asked: Asked, answer: Answer, work: Work | None, container: str) -> None:
        """Output only, from now on: containers here have no standard input."""
        if work is None or not work.runs(container):
            await answer.whole(404, f'container not found ("{container}")\n')
            return
        open_ = await Channels.open(asked, answer)
        if open_ is None:
            return
        number = work.attempts(None)[container][-1].number
        options = logs.LogOptions(follow=True, tail_lines=0)
        async for piece in self._read(work, container, number, options):
            await open_.send(channels.STDOUT, piece)
        await open_.finish(channels.success())
