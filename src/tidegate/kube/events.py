"""Events: telling people what happened to an object, without ever getting in the way of what happens.

`record` only notes; `run` writes. The same event again becomes a count; many alike in one go become one that says so;
when there is more than fits, or the server does not take it, events are dropped: they are a courtesy.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from tidegate.kube.answers import StatusError
from tidegate.kube.backoff import Backoff
from tidegate.kube.client import Client
from tidegate.kube.metadata import identity
from tidegate.kube.resources import EVENTS
from tidegate.kube.wire import Object, Resource

_log = logging.getLogger(__name__)

_REMEMBERED = 4096
_WAITING_MOST = 1000
_ALIKE_MOST = 10
"""So many different notes with one reason on one object are written; further ones are combined."""
_ALIKE_S = 600.0
_NOTE_MOST = 1024
_COMBINED = "(combined from similar events): "

Key = tuple[str, ...]


@dataclass(slots=True)
class _Note:
    """One event to be: what it says, and how often it has been said."""

    regarding: Object
    reason: str
    note: str
    type: str
    first: str
    last: str
    count: int = 1
    name: str = ""
    """The object's name on the server, once it has one."""


@dataclass(slots=True)
class _Alike:
    """The different notes of one reason on one object lately."""

    since: float
    notes: set[str] = field(default_factory=set)


class EventRecorder:
    """Records events in the name of one component."""

    def __init__(self, client: Client, component: str, *, instance: str | None = None, pause_s: float = 1.0) -> None:
        """`pause_s`: time between writes, in which repetitions gather."""
        self._client = client
        self._component = component
        self._instance = instance or f"{component}-{socket.gethostname()}"
        self._pause_s = pause_s
        self._known: OrderedDict[Key, _Note] = OrderedDict()
        self._alike: OrderedDict[Key, _Alike] = OrderedDict()
        self._waiting: dict[Key, _Note] = {}
        self._wake = asyncio.Event()
        self._backoff = Backoff(most_s=60.0)

    def record(
        self,
        resource: Resource[Any],
        regarding: Any,
        reason: str,
        note: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",  # noqa: A002 — the word that Kubernetes has for it
    ) -> None:
        """Notes that something happened. Returns at once and never fails; `reason` is one word in CamelCase."""
        try:
            self._note(_reference(resource, regarding), reason, note[:_NOTE_MOST], type)
        except Exception:
            _log.exception("The event %s could not be noted.", reason)

    async def run(self) -> None:
        """Writes what was noted, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                key = next(iter(self._waiting))
                await self._write(key, self._waiting.pop(key))
            await asyncio.sleep(self._pause_s)

    async def flush(self) -> None:
        """Writes what was noted, now; for a program about to end."""
        while self._waiting:
            key = next(iter(self._waiting))
            note = self._waiting.pop(key)
            try:
                await self._put(key, note)
            except (StatusError, OSError) as failed:
                _log.debug("An event was dropped: %s", failed)

    def _note(self, regarding: Object, reason: str, note: str, type_: str) -> None:
        about = (regarding["kind"], regarding["namespace"], regarding["name"], regarding["uid"], reason, type_)
        if self._is_flood(about, note):
            key: Key = (*about, _COMBINED)
            note = (_COMBINED + note)[:_NOTE_MOST]
        else:
            key = (*about, note)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        known = self._known.get(key)
        if known is None:
            if len(self._waiting) >= _WAITING_MOST:
                return
            known = _remember(self._known, key, _Note(regarding, reason, note, type_, now, now))
        else:
            self._known.move_to_end(key)
            known.note, known.last = note, now
            known.count += 1
        self._waiting[key] = known
        self._wake.set()

    def _is_flood(self, about: Key, note: str) -> bool:
        now = time.monotonic()
        alike = self._alike.get(about)
        if alike is None or now - alike.since > _ALIKE_S:
            alike = _remember(self._alike, about, _Alike(now))
        if len(alike.notes) < _ALIKE_MOST:
            alike.notes.add(note)
        return note not in alike.notes

    async def _write(self, key: Key, note: _Note) -> None:
        try:
            await self._put(key, note)
            self._backoff.reset()
        except StatusError as refused:
            _log.debug("The event %s was refused: %s", note.reason, refused.message)
            if refused.code == 429 or refused.code >= 500:
                await self._later(key, note, refused.retry_after_s or 0.0)
        except OSError as broken:
            _log.debug("The event %s could not be written: %s", note.reason, broken)
            await self._later(key, note, 0.0)

    async def _later(self, key: Key, note: _Note, wait_s: float) -> None:
        if len(self._waiting) < _WAITING_MOST:
            self._waiting.setdefault(key, note)
        await asyncio.sleep(max(wait_s, self._backoff.next_s()))

    async def _put(self, key: Key, note: _Note) -> None:
        namespace = note.regarding["namespace"] or "default"
        if note.name:
            change = {"count": note.count, "lastTimestamp": note.last, "message": note.note}
            try:
                await self._client.patch(EVENTS, note.name, change, namespace)
                return
            except StatusError as refused:
                if refused.code != 404:  # servers forget events after an hour
                    raise
        name = f"{note.regarding['name'][:236]}.{secrets.token_hex(8)}"
        await self._client.create(EVENTS, self._event(note, name, namespace))
        note.name = name

    def _event(self, note: _Note, name: str, namespace: str) -> Object:
        return {
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {field: value for field, value in note.regarding.items() if value},
            "reason": note.reason,
            "message": note.note,
            "type": note.type,
            "count": note.count,
            "firstTimestamp": note.first,
            "lastTimestamp": note.last,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._instance,
        }


def _reference(resource: Resource[Any], regarding: Any) -> Object:
    who = identity(regarding)
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "namespace": who.namespace,
        "name": who.name,
        "uid": who.uid,
        "resourceVersion": who.resource_version,
    }


def _remember(memory: OrderedDict[Key, Any], key: Key, value: Any) -> Any:
    """Keeps the newest; what is forgotten starts again at one."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
    return value
