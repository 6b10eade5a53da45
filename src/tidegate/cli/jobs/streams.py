"""What pods say, line by line; where several speak, each line begins with who."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidegate.kube.answers import StatusError

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]
_BEGUN = ("Running", "Succeeded", "Failed")
_COLOURS = (36, 33, 35, 32, 34)
_AGAIN_S, _TRIES = 0.5, 40


class UnheardError(Exception):
    """What was said cannot be shown here: nobody reads it any more, or there is no room where it goes."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.is_unread = isinstance(error, BrokenPipeError)


class Streams:
    """Follows every pod that has begun, once. `unheard` is set when what they say can no longer be shown."""

    def __init__(
        self, client: Client, namespace: str, *, several: bool, query: dict[str, str], form: str = "table",
        speaks: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """`speaks` is called before anything that is said is shown."""
        self._client, self._namespace = client, namespace
        self._several, self._query, self._form, self._speaks = several, query, form, speaks
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._colour = several and os.isatty(1) and not plain
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_waiting = False
        self.unheard = asyncio.Event()
        self.is_whole = True
        """Whether all that was said could be read, so far."""

    def follow(self, pods: list[Json]) -> None:
        """Begin with those that have begun to speak and are not followed yet."""
        for pod in pods:
            name = str(pod["metadata"]["name"])
            if name not in self._tasks and (pod.get("status") or {}).get("phase") in _BEGUN:
                self._tasks[name] = task = asyncio.create_task(self._stream(pod, self._writer(name)))
                task.add_done_callback(self._check_heard)

    def _check_heard(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and isinstance(task.exception(), UnheardError):
            self.unheard.set()

    @property
    def begun(self) -> bool:
        return bool(self._tasks)

    async def ended(self) -> None:
        """Returns when everything that is followed has been said; UnheardError where it cannot be shown."""
        await asyncio.gather(*self._tasks.values())

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _writer(self, name: str) -> Callable[[bytes], bytes]:
        """How a line of a pod is shown."""
        if self._form != "table":
            dash = "- " if self._form == "yaml" else ""
            return lambda line: f"{dash}{json.dumps({'pod': name, 'line': line.decode(errors='replace')})}\n".encode()
        prefix = b""
        if self._several:
            colour = _COLOURS[len(self._tasks) % len(_COLOURS)]
            prefix = (f"\033[{colour}m[{name}]\033[0m " if self._colour else f"[{name}] ").encode()
        return lambda line: prefix + line + b"\n"

    async def _stream(self, begun: Json, shown: Callable[[bytes], bytes]) -> None:
        """To its end. Where it breaks off though there is more to come, it goes on where it was, if that can be told:
        what was said is counted from the beginning."""
        pod, query = str(begun["metadata"]["name"]), self._query | {"container": _main_container(begun)}
        said, goes_on, tries = Said(shown), "follow" in query and "tailLines" not in query, 0
        while True:
            try:
                await self._listen(pod, query, said)
                if not goes_on or await self._has_ended(begun):
                    break
                tries = 0
            except OSError as broken:
                if not goes_on:
                    self._is_cut(f"The log of pod {pod} broke off: {broken}")
                    break
                self.waiting()
            except StatusError as refused:
                if refused.code == 404:  # A pod that goes while it speaks has said what it had to say.
                    break
                tries += 1
                if refused.code < 500 or not goes_on or tries > _TRIES:
                    self._is_cut(f"The log of pod {pod} cannot be read: {refused.message}")
                    break
            await asyncio.sleep(_AGAIN_S)
        said.end()

    async def _has_ended(self, begun: Json) -> bool:
        """Whether what was followed has ended with its log. A log also ends when the node's agent does, while the
        pod goes on; the next agent has all that is said meanwhile."""
        from tidegate.kube.resources import PODS

        now = await self._client.get(PODS, str(begun["metadata"]["name"]), self._namespace)
        return "running" not in _main_state(now).get("state", {}) or _restarts(now) != _restarts(begun)

    async def _listen(self, pod: str, query: dict[str, str], said: Said) -> None:
        path = f"/api/v1/namespaces/{self._namespace}/pods/{pod}/log"
        said.begin_again()
        async for piece in self._client.stream(path, query=query):
            self._is_waiting = False
            self._speaks()
            said.hear(piece)

    def _is_cut(self, why: str) -> None:
        self.is_whole = False
        print(f"tidegate: {why.rstrip('.')}.", file=sys.stderr)

    def waiting(self) -> None:
        """Told once, however many pods speak."""
        if not self._is_waiting:
            self._is_waiting = True
            print("tidegate: The server does not answer; waiting for it.", file=sys.stderr, flush=True)


class Said:
    """What one pod has said so far, shown line by line; what is heard again is not shown again."""

    def __init__(self, shown: Callable[[bytes], bytes]) -> None:
        self._shown = shown
        self._rest = b""
        self.length = 0
        self._heard = 0

    def begin_again(self) -> None:
        """The next piece is from the beginning."""
        self._heard = 0

    def hear(self, piece: bytes) -> None:
        new = piece[max(0, self.length - self._heard) :]
        self._heard += len(piece)
        self.length = max(self.length, self._heard)
        *lines, self._rest = (self._rest + new).split(b"\n")
        _write(b"".join(map(self._shown, lines)))

    def end(self) -> None:
        """A last line may have no end."""
        if self._rest:
            _write(self._shown(self._rest))


def _main_container(pod: Json) -> str:
    """The one that kubectl would show, too: as it is marked, else the first."""
    marked = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container")
    return str(marked or pod["spec"]["containers"][0]["name"])


def _main_state(pod: Json) -> Json:
    name, known = _main_container(pod), (pod.get("status") or {}).get("containerStatuses") or ()
    return next((each for each in known if each["name"] == name), {})


def _restarts(pod: Json) -> int:
    return int(_main_state(pod).get("restartCount") or 0)


def _write(text: bytes) -> None:
    """All of it, also into a pipe that takes a part at a time."""
    try:
        while text:
            text = text[os.write(1, text) :]
    except OSError as error:
        raise UnheardError(error) from None
