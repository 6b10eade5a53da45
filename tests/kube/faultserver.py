"""A small API server on loopback that keeps objects truly and misbehaves on demand.

It speaks real HTTP over real sockets. State is one collection with a history of events; a `Fault` waits in line for the
next list or watch, which then goes wrong in that way.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tidegate.kube.access import Access
from tidegate.kube.credentials import Fixed
from tidegate.kube.transport import HttpTransport, Limits

END = "k8s.io/initial-events-end"


@dataclass(frozen=True)
class Fault:
    """One misbehaviour: `after` events of a watch have gone well (lists ignore it)."""

    kind: str
    after: int = 0
    status: int = 500
    retry_after: int | None = None


@dataclass
class Call:
    """One request as the server saw it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class FaultServer:
    watch_list: bool = True
    mute_watch_list: bool = False
    """Accepts `sendInitialEvents` but never sends the end, as servers that do not know it do."""
    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    version: int = 0
    history: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    compacted: int = 0
    uids: int = 0
    list_faults: deque[Fault] = field(default_factory=deque)
    watch_faults: deque[Fault] = field(default_factory=deque)
    calls: list[Call] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    serving: set[asyncio.Task[None]] = field(default_factory=set)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    listening: asyncio.Server | None = None
    canned: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    tokens: set[str] | None = None
    bookmark_now: bool = False
    has_sent_bookmark: asyncio.Event = field(default_factory=asyncio.Event)
    is_watched: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a watch goes on from a version."""
    replay_all: bool = False
    """A watch sends all history, whatever version it asks for."""
    keeps_quiet: bool = True
    """A watch from a version that lies in the future waits for it, instead of an error."""
    expire_pages: bool = False
    no_watch_list_status: int = 422
    port: int = 0

    # What tests do to the collection.

    def put(self, name: str, namespace: str = "default", **spec: Any) -> dict[str, Any]:
        """Creates or changes an object."""
        self.version += 1
        key = (namespace, name)
        old = self.objects.get(key)
        if old is None:
            self.uids += 1
        uid = old["metadata"]["uid"] if old else f"uid-{self.uids}"
        meta = {"namespace": namespace, "name": name, "uid": uid, "resourceVersion": str(self.version)}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": spec}
        self.objects[key] = obj
        self._record("MODIFIED" if old else "ADDED", obj)
        return obj

    def remove(self, name: str, namespace: str = "default") -> None:
        self.version += 1
        old = self.objects.pop((namespace, name))
        meta = {**old["metadata"], "resourceVersion": str(self.version)}
        self._record("DELETED", {**old, "metadata": meta})

    def compact(self) -> None:
        """Forgets all history: older versions are 410 from now on."""
        self.history.clear()
        self.compacted = self.version

    def start_over(self, *, keeps_quiet: bool = True) -> None:
        """Loses everything, as a server whose disk was wiped: versions begin at 1 again."""
        self.keeps_quiet = keeps_quiet
        self.objects.clear()
        self.history.clear()
        self.version = self.compacted = 0

    def _record(self, kind: str, obj: dict[str, Any]) -> None:
        self.history.append((self.version, kind, obj))

    async def announce(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    def drop_connections(self) -> None:
        for writer in list(self.writers):
            writer.transport.abort()

    async def start(self) -> None:
        self.listening = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        self.port = self.listening.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self.listening is not None
        self.listening.close()
        for task in list(self.serving):
            task.cancel()
        await asyncio.gather(*self.serving, return_exceptions=True)
        self.drop_connections()

    def watches(self) -> list[Call]:
        return [call for call in self.calls if "watch" in call.query]

    def lists(self) -> list[Call]:
        """Real lists, without the probes that ask for one object only."""
        return [call for call in self.calls if "watch" not in call.query and call.query.get("limit") != "1"]

    # How it answers.

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        self.writers.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side went, or the test ends
        finally:
            self.serving.discard(task)
            self.writers.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        url = urlsplit(target)
        call = Call(method, url.path, dict(parse_qsl(url.query)), headers, body, asyncio.get_running_loop().time())
        self.calls.append(call)
        if self.tokens is not None and headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return self._whole(writer, 401, _status(401, "Unauthorized"))
        if (method, url.path) in self.canned:
            status, answer = self.canned[method, url.path]
            return self._whole(writer, status, answer)
        if "watch" in call.query:
            return await self._watch(call, writer)
        return await self._list(call, writer)

    def _whole(self, writer: asyncio.StreamWriter, status: int, answer: Any, retry_after: int | None = None) -> bool:
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        if retry_after is not None:
            head += f"Retry-After: {retry_after}\r\n"
        writer.write(head.encode() + b"\r\n" + content)
        return True

    async def _list(self, call: Call, writer: asyncio.StreamWriter) -> bool:
        fault = self.list_faults.popleft() if self.list_faults else None
        if fault is not None:
            return await self._fail_whole(fault, writer)
        items = list(self.objects.values())
        answer = {"kind": "List", "metadata": {"resourceVersion": str(self.version)}, "items": items}
        if ((limit := int(call.query.get("limit", 0))) and "continue" in call.query) or (limit and len(items) > limit):
            start = int(call.query.get("continue", 0))
            if start and self.expire_pages:
                return self._whole(writer, 410, _status(410, "Expired"))
            answer["items"] = items[start : start + limit]
            if start + limit < len(items):
                answer["metadata"]["continue"] = str(start + limit)
        return self._whole(writer, 200, answer)

    async def _fail_whole(self, fault: Fault, writer: asyncio.StreamWriter) -> bool:
        if fault.kind == "status":
            return self._whole(writer, fault.status, _status(fault.status, "Fault"), fault.retry_after)
        if fault.kind == "garbage":
            return self._whole(writer, 200, b'{"items": [nonsense')
        if fault.kind == "hang":
            await asyncio.sleep(3600)
        _reset(writer)
        return False

    async def _watch(self, call: Call, writer: asyncio.StreamWriter) -> bool:
        initial = call.query.get("sendInitialEvents") == "true"
        if initial and not self.watch_list:
            return self._whole(writer, self.no_watch_list_status, _status(self.no_watch_list_status, "Invalid"))
        fault = self.watch_faults.popleft() if self.watch_faults else None
        if fault is not None and fault.kind == "status":
            return self._whole(writer, fault.status, _status(fault.status, "Fault"), fault.retry_after)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent = 0
        if not initial:
            self.is_watched.set()
        lines = self._lines(call, initial)
        while fault is None or sent < fault.after:
            line = await anext(lines, None)
            if line is None:
                break
            _chunk(writer, line)
            await writer.drain()
            sent += 1
        return await self._end_watch(fault, writer)

    async def _end_watch(self, fault: Fault | None, writer: asyncio.StreamWriter) -> bool:
        kind = fault.kind if fault is not None else "close"
        if kind == "gone":
            _chunk(writer, _line("ERROR", _status(410, "Expired")))
        elif kind == "garbage":
            _chunk(writer, b'{"type": nonsense}\n')
        elif kind == "truncated":
            _chunk(writer, _line("ADDED", {"metadata": {"name": "half"}})[:30])
        elif kind == "hang":
            await asyncio.sleep(3600)
        elif kind == "reset":
            await writer.drain()
            _reset(writer)
            return False
        writer.write(b"0\r\n\r\n")
        return True

    async def _lines(self, call: Call, initial: bool) -> AsyncIterator[bytes]:
        position = int(call.query.get("resourceVersion") or 0)
        if initial or not position:
            position = self.version
            for obj in list(self.objects.values()):
                yield _line("ADDED", obj)
            if initial and not self.mute_watch_list:
                yield _line("BOOKMARK", _bookmark(position, {END: "true"}))
        while True:
            if position < self.compacted or (position > self.version and not self.keeps_quiet):
                yield _line("ERROR", _status(410, "Expired"))
                return
            for version, kind, obj in list(self.history):
                if version > position or self.replay_all:
                    position = version
                    yield _line(kind, obj)
            if self.bookmark_now:
                position = self.version
                self.bookmark_now = False
                self.has_sent_bookmark.set()
                yield _line("BOOKMARK", _bookmark(position, {}))
            async with self.changed:
                await self.changed.wait()


def _line(kind: str, obj: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def _bookmark(version: int, annotations: dict[str, str]) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"resourceVersion": str(version), "annotations": annotations}}


def _status(code: int, reason: str) -> dict[str, Any]:
    return {"kind": "Status", "code": code, "reason": reason, "message": f"fault {code}", "status": "Failure"}


def _chunk(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


@asynccontextmanager
async def running(server: FaultServer) -> AsyncIterator[HttpTransport]:
    """Serves on loopback; yields a transport to it."""
    await server.start()
    access = Access(f"http://127.0.0.1:{server.port}", Fixed())
    transport = HttpTransport(access, limits=Limits(idle_s=0.5, stream_idle_s=60.0))
    try:
        yield transport
    finally:
        await transport.close()
        await server.stop()
