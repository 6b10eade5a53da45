"""Events: what a controller did, told on the object it did it for."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.objects import Meta, plain, stamp

EVENTS: Resource[Object] = Resource("", "v1", "events", "Event")
_WAITING_MOST = 1000
_KNOWN_MOST = 4096


class Happening(NamedTuple):
    type: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The object an event is about."""

    api_version: str
    kind: str
    metadata: Meta


@dataclass(slots=True)
class _Told:
    name: str
    count: int


class Recorder:
    """Writes events in the background. They are a courtesy: those that come too fast or are refused are dropped."""

    def __init__(self, client: Client, component: str, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._component = component
        self._clock = clock
        self._waiting: asyncio.Queue[tuple[Subject, Happening]] = asyncio.Queue(_WAITING_MOST)
        self._told: OrderedDict[tuple[str, Happening], _Told] = OrderedDict()

    def tell(self, subject: Subject, *happenings: Happening) -> None:
        for happening in happenings:
            if not self._waiting.full():
                self._waiting.put_nowait((subject, happening))

    async def run(self) -> None:
        while True:
            subject, happening = await self._waiting.get()
            try:
                await self._write(subject, happening)
            except (StatusError, OSError, TimeoutError) as error:
                logging.getLogger(__name__).debug("event %s dropped: %s", happening.reason, error)

    async def _write(self, subject: Subject, happening: Happening) -> None:
        """The same thing again raises the count of the event that told it first."""
        key = (subject.metadata.uid, happening)
        moment = plain(stamp(self._clock()))
        namespace = subject.metadata.namespace or "default"
        if told := self._told.get(key):
            told.count += 1
            patch = {"count": told.count, "lastTimestamp": moment}
            try:
                await self._client.patch(EVENTS, told.name, patch, namespace)
                return
            except StatusError as error:
                if error.code != 404:
                    raise
        created = await self._client.create(EVENTS, self._event(subject, happening, moment), namespace)
        self._told[key] = _Told(created["metadata"]["name"], 1)
        if len(self._told) > _KNOWN_MOST:
            self._told.popitem(last=False)

    def _event(self, subject: Subject, happening: Happening, moment: str) -> Object:
        metadata = subject.metadata
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{metadata.name[:200]}.", "namespace": metadata.namespace or "default"},
            "involvedObject": {
                "apiVersion": subject.api_version,
                "kind": subject.kind,
                "name": metadata.name,
                "namespace": metadata.namespace,
                "uid": metadata.uid,
                "resourceVersion": metadata.resource_version,
            },
            "type": happening.type,
            "reason": happening.reason,
            "message": happening.message[:1024],
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
