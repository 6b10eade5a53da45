"""The world around the operator, in a process of its own: reads what to do as JSON from its first argument, prints what
it saw as JSON. Operations: `mix` and `burst` (see the package's docstring), and `limit`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec
import uvloop

from benchmarks import http
from benchmarks.load import spread
from benchmarks.operator import kueue, ours
from benchmarks.operator.mix import SHAPES, Arrival, arrivals
from benchmarks.operator.words import Status

Json = Any
WORDS = {"tidegate": ours.WORDS, "kueue": kueue.WORDS}
CLIENTS = 32
SOON_S = 0.02
Then = Callable[[bool], None]
"""Hears whether a write was taken; it is not where something else was written meanwhile."""
MERGE = "application/merge-patch+json"


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    resource_version: str = "0"


class _Workload(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    status: Status = msgspec.field(default_factory=Status)


class _Event(msgspec.Struct):
    type: str
    object: _Workload


_read = msgspec.json.Decoder(_Event).decode


class World:
    """Creates Workloads, hears what becomes of them, and ends them."""

    def __init__(self, spec: Json) -> None:
        self.spec = spec
        self._words = WORDS[spec["who"]]
        self.left = {one.name: one for one in arrivals(spec["share"])}
        self.total = len(self.left)
        self.created: dict[str, float] = {}
        self.admitted: dict[str, float] = {}
        self.first = self.last = 0.0
        self.evictions = 0
        self._running: dict[str, asyncio.TimerHandle] = {}
        self._stopped: set[str] = set()
        self._known: dict[str, _Workload] = {}
        self._newest = self._watches = 0
        self._writes: asyncio.Queue[tuple[str, bytes, Then | None]] = asyncio.Queue()
        self._rest = b""
        self.done = asyncio.Event()
        self.errors: list[str] = []

    async def run(self) -> Json:
        watching = asyncio.ensure_future(self._watch())
        writers = [asyncio.ensure_future(self._write()) for _ in range(CLIENTS)]
        await getattr(self, f"_{self.spec['operation']}")()
        async with asyncio.timeout(self.spec["patience_s"]):
            await self.done.wait()
        for task in (watching, *writers):
            task.cancel()
        return self._told()

    async def _watch(self) -> None:
        """Servers end the watch of who is too slow for a moment: it goes on from there. A server that no longer knows
        where that was tells everything again."""
        while True:
            self._rest = b""
            self._watches += 1
            path = f"{self._words.path}?watch=true&resourceVersion={self._newest}&timeoutSeconds=3600"
            watch = await http.connect(self.spec["url"], self.spec["ca"], self._heard)
            # However it ended, by the server or by what could not be read.
            with contextlib.suppress(Exception):
                if await watch.send(http.request("GET", path, self.spec["token"])) != 200:
                    self._newest = 0
            watch.close()

    async def _mix(self) -> None:
        self.first = time.perf_counter()
        for one in list(self.left.values()):
            await asyncio.sleep(max(0.0, self.first + one.at_s - time.perf_counter()))
            self._create(one)

    async def _burst(self) -> None:
        """All are there before the operator is: tell whoever starts it, and wait."""
        for one in list(self.left.values()):
            self._create(one)
        await self._writes.join()
        print("ready", flush=True)
        self.first = time.perf_counter()

    def _create(self, one: Arrival) -> None:
        body = json.dumps(self._words.body(one)).encode()
        self._writes.put_nowait((one.name, http.request("POST", self._words.path, self.spec["token"], body), None))

    async def _write(self) -> None:
        """What is not taken (a connection that ended) is said again: a Workload whose end got lost would keep its quota
        for ever. Of a conflict whoever said it is told."""
        connection = None
        while True:
            name, request, then = await self._writes.get()
            if name:
                self.created.setdefault(name, time.perf_counter())
            try:
                if connection is None:
                    connection = await http.connect(self.spec["url"], self.spec["ca"])
                    connection.keep = True
                status, answer = await connection.send(request), bytes(connection.body[:300])
            except (OSError, EOFError) as lost:
                connection, status, answer = None, 0, repr(lost).encode()
            if then is not None and (status == 409 or 0 < status < 300):
                then(status < 300)
            elif status >= 300 or not status:
                self.errors.append(f"{status} {answer!r}")
                if b"AlreadyExists" not in answer:
                    self._writes.put_nowait((name, request, then))
            self._writes.task_done()

    def _heard(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if b'"type":"ERROR"' in line[:40]:
                self._newest = 0
            elif line.strip():
                self._event(_read(line).object)

    def _event(self, workload: _Workload) -> None:
        name, version = workload.metadata.name, int(workload.metadata.resource_version)
        self._newest = max(self._newest, version)
        one = self.left.get(name)
        if one is None or (name in self._known and version <= int(self._known[name].metadata.resource_version)):
            return
        self._known[name] = workload
        state = self._words.state(workload.status)
        if state != "Evicted":
            self._stopped.discard(name)
        if state == "Admitted" and name not in self._running:
            self.last = time.perf_counter()
            self.admitted.setdefault(name, self.last)
            if self.spec["operation"] == "burst":
                self._over(name)
                return
            self._running[name] = asyncio.get_running_loop().call_later(one.shape.runs_s, self._finish, name)
        elif state == "Evicted":
            if name in self._running:
                self.evictions += 1
                self._running.pop(name).cancel()
            self._stop(name)

    def _stop(self, name: str) -> None:
        """It has stopped after it was evicted, where that is for whoever runs it to say."""
        status = self._known[name].status
        if self._words.let_go is None or name in self._stopped or self._words.state(status) != "Evicted":
            return
        self._stopped.add(name)

        def told(taken: bool) -> None:
            if not taken:
                self._stopped.discard(name)
                asyncio.get_running_loop().call_later(SOON_S, self._stop, name)

        self._say(name, self._words.let_go(status.conditions), told)

    def _finish(self, name: str) -> None:
        """It has ended, as Kueue's runner says it; unless it was evicted meanwhile."""
        if name not in self._running:
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ended = {"type": "Finished", "status": "True", "reason": "ByTest", "message": "", "lastTransitionTime": now}

        def told(taken: bool) -> None:
            if taken:
                self._over(name)
            else:
                asyncio.get_running_loop().call_later(SOON_S, self._finish, name)

        self._say(name, {"conditions": [*self._known[name].status.conditions, ended]}, told)

    def _say(self, name: str, status: Json, then: Then) -> None:
        """Of what is known of it now: what was so a while ago would give one that was evicted its quota back."""
        version = {"resourceVersion": self._known[name].metadata.resource_version}
        body = msgspec.json.encode({"metadata": version, "status": status})
        path = f"{self._words.path}/{name}/status"
        self._writes.put_nowait(("", http.request("PATCH", path, self.spec["token"], body, MERGE), then))

    def _over(self, name: str) -> None:
        self.left.pop(name, None)
        if not self.left:
            self.done.set()

    def _told(self) -> Json:
        delays = {name: self.admitted[name] - self.created[name] for name in self.admitted}
        by_shape = {
            shape.name: [delay for name, delay in delays.items() if f"-{shape.name}-" in name] for shape in SHAPES
        }
        return {
            "count": self.total,
            "seconds": self.last - self.first,
            "evictions": self.evictions,
            "watches": self._watches,
            "errors": self.errors[:3],
            **spread(list(delays.values())),
            **{f"{name}_s": sum(some) / max(1, len(some)) for name, some in by_shape.items()},
        }


async def limit(spec: Json) -> Json:
    """The same writes by clients that decide nothing: create a Workload, write its status when it is admitted, that it
    has ended, and its status then."""
    left, words = arrivals(spec["share"]), ours.WORDS
    took = {"create": 0.0, "status": 0.0, "end": 0.0, "note": 0.0}

    async def client(work: list[Arrival], step: str) -> None:
        connection = await http.connect(spec["url"], spec["ca"])
        connection.keep = True
        while work:
            one = work.pop()
            name = f"limit-{one.name}"
            if step == "create":
                body = words.body(one)
                body["metadata"]["name"] = name
                request = http.request("POST", words.path, spec["token"], json.dumps(body).encode())
            else:
                content = json.dumps({"status": _status(step)}).encode()
                request = http.request("PATCH", f"{words.path}/{name}/status", spec["token"], content, MERGE)
            status = await connection.send(request)
            assert status < 300, bytes(connection.body[:300])
        connection.close()

    for step in took:
        work, began = list(left), time.perf_counter()
        await asyncio.gather(*(client(work, step) for _ in range(CLIENTS)))
        took[step] = time.perf_counter() - began
    times = {f"{step}_s": seconds for step, seconds in took.items()}
    return {"count": len(left), "errors": [], "all_s": sum(took.values()), **times}


def _status(step: str) -> Json:
    at = {"lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    said = {"type": "Admitted", "status": "True", "reason": "Granted", "message": "granted main 1 of 1", **at}
    ended = {"type": "Finished", "status": "True", "reason": "ByTest", "message": "", **at}
    pods = {"name": "main", "granted": 1, "flavors": {"default": 1}, "held": {}, "running": 0}
    if step == "status":
        return {"state": "Admitted", "podSets": [pods], "conditions": [said]}
    if step == "end":
        return {"conditions": [said, ended]}
    return {"state": "Finished", "podSets": [{**pods, "granted": 0, "flavors": {}}], "conditions": [said, ended]}


async def main(spec: Json) -> Json:
    return await limit(spec) if spec["operation"] == "limit" else await World(spec).run()


if __name__ == "__main__":
    print(json.dumps(uvloop.run(main(json.loads(sys.argv[1])))))
