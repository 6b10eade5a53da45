"""What was made beside an object before that was stored: it is given to the object, or taken away if that never came.

A PodGroup must be there before the pods of its application, so the door makes it while the application is still being
judged: it has no uid yet, and may be refused by somebody else. The replica that leads sees to it afterwards.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from tidegate.controller.kinds import Key, key_of
from tidegate.kube.client import Client, StatusError
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Object, Resource
from tidegate.kube.workqueue import WorkQueue
from tidegate.model.jobs import JobKind, Kinds

_log = logging.getLogger(__name__)

POD_GROUPS: Resource[Object] = Resource("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
LABEL = {"app.kubernetes.io/managed-by": "tidegate"}
MADE_FOR = "tidegate.dev/made-for"
"""Annotation: apiVersion, kind and name (empty where the server chooses it) of what it was made beside."""
_SOON_S, _LATER_S = 1.0, 10.0
_NEVER_S = 120.0
"""An object that is not there by then was refused: requests end within a minute."""


def made_for(other: Object, obj: Object) -> Object:
    """Marked as made beside an object that is still to be stored."""
    meta, name = other.get("metadata") or {}, (obj.get("metadata") or {}).get("name") or ""
    said = json.dumps({"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "name": name})
    notes = {**(meta.get("annotations") or {}), MADE_FOR: said}
    return {**other, "metadata": {**meta, "labels": {**(meta.get("labels") or {}), **LABEL}, "annotations": notes}}


class Adopting:
    """Runs until cancelled, from when somebody wants such objects: before that the server need not know them."""

    def __init__(self, client: Client, kinds: Kinds, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._kinds = kinds
        self._clock = clock
        selector = ",".join(f"{key}={value}" for key, value in LABEL.items())
        self._groups: Informer[Object] = Informer(client, POD_GROUPS, labels=selector)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._groups.on_change(lambda old, new: self._queue.add(key_of(new)) if new is not None else None)
        self._wanted = asyncio.Event()

    def begin(self) -> None:
        """From now on there may be some."""
        self._wanted.set()

    async def run(self) -> None:
        await self._wanted.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._groups.run())
            group.create_task(self._queue.run(self._look))

    async def _look(self, key: Key) -> float | None:
        group = self._groups.get(key[1], key[0])
        found = _made_for(group, self._kinds) if group is not None else None
        if group is None or found is None or group["metadata"].get("deletionTimestamp"):
            return None
        owners = owners_of(group, found[1], await self._candidates(found[0], key[0]))
        if owners:
            return await self._adopt(group, found[0], owners)
        if group["metadata"].get("ownerReferences"):
            return None
        age_s = self._clock() - datetime.fromisoformat(group["metadata"]["creationTimestamp"]).timestamp()
        if age_s < _NEVER_S:
            return _SOON_S if age_s < _LATER_S else _LATER_S
        await self._give_up(group)
        return None

    async def _candidates(self, entry: JobKind, namespace: str) -> list[Object]:
        resource: Resource[Object] = Resource(entry.group, entry.versions[0], entry.plural, entry.kind)
        head = {"apiVersion": entry.api_version, "kind": entry.kind}
        return [{**head, **each} for each in (await self._client.list(resource, namespace)).items]

    async def _adopt(self, group: Object, entry: JobKind, owners: list[Object]) -> float | None:
        """It goes when they are all gone. A gang of pods that is not complete yet is waited for: who came first might
        go before the others come."""
        if not entry.group and len(owners) < int((group.get("spec") or {}).get("minMember") or 1):
            return _LATER_S
        known = list(group["metadata"].get("ownerReferences") or ())
        uids = {each["uid"] for each in known}
        more = [
            {"apiVersion": one["apiVersion"], "kind": one["kind"], "name": one["metadata"]["name"], "uid": uid}
            for one in owners
            if (uid := one["metadata"]["uid"]) not in uids
        ]
        if more:
            meta = {**group["metadata"], "ownerReferences": [*known, *more]}
            await self._client.update(POD_GROUPS, {**group, "metadata": meta})
        return None

    async def _give_up(self, group: Object) -> None:
        meta = group["metadata"]
        try:
            await self._client.delete(POD_GROUPS, meta["name"], meta["namespace"], uid=meta["uid"])
            _log.info("PodGroup %s/%s was deleted: what it was made for never came.", meta["namespace"], meta["name"])
        except StatusError as gone:
            if gone.code not in (404, 409):
                raise


def owners_of(group: Object, name: str, candidates: list[Object]) -> list[Object]:
    """Those that it was made for: the one of that name, or where the server or others chose names, all that say they
    belong to the group."""
    named = [each for each in candidates if name and each["metadata"]["name"] == name]
    is_gang = bool(named) and named[0].get("kind") == "Pod"
    if named and not is_gang:
        return named
    return [each for each in candidates if group["metadata"]["name"] in _said(each)]


def _said(content: Any) -> Iterator[Any]:
    """Values of all labels and annotations, of the object itself and in its templates."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            if key in ("labels", "annotations") and isinstance(value, Mapping):
                yield from value.values()
            else:
                yield from _said(value)
    elif isinstance(content, list):
        for each in content:
            yield from _said(each)


def _made_for(group: Object, kinds: Kinds) -> tuple[JobKind, str] | None:
    """The kind and the name of what it was made for; None where nothing that can be read says so."""
    try:
        said = json.loads((group["metadata"].get("annotations") or {}).get(MADE_FOR) or "")
        entry = kinds.find(said)
        return None if entry is None else (entry, str(said.get("name") or ""))
    except (ValueError, AttributeError, TypeError):
        return None
