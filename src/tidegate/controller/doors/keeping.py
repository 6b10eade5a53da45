"""Configurations kept as they should be: written when the certificates change, and put back when somebody else does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.informer import Informer
from tidegate.kube.resources import (
    MUTATINGWEBHOOKCONFIGURATIONS,
    VALIDATINGADMISSIONPOLICIES,
    VALIDATINGADMISSIONPOLICYBINDINGS,
    VALIDATINGWEBHOOKCONFIGURATIONS,
)
from tidegate.kube.wire import Object, Resource

_log = logging.getLogger(__name__)

_RETRY_S = 2.0
RESOURCES: dict[str, Resource[Object]] = {
    each.kind: each
    for each in (
        MUTATINGWEBHOOKCONFIGURATIONS,
        VALIDATINGWEBHOOKCONFIGURATIONS,
        VALIDATINGADMISSIONPOLICIES,
        VALIDATINGADMISSIONPOLICYBINDINGS,
    )
}


class Keeping:
    """One writer for these objects; only the replica that leads runs it."""

    def __init__(self, client: Client, wanted: Callable[[], list[Object]]) -> None:
        self._client = client
        self._wanted = wanted
        self._look = asyncio.Event()
        self._informers: dict[tuple[str, str], Informer[Object]] = {}

    def look(self) -> None:
        """What is wanted may have changed."""
        self._look.set()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._look.clear()
                wanted = {(str(each["kind"]), str(each["metadata"]["name"])): each for each in self._wanted()}
                fresh = wanted.keys() - self._informers.keys()
                for kind, name in fresh:
                    # One by one, so that no right to read everybody's is needed.
                    informer: Informer[Object] = Informer(self._client, RESOURCES[kind], fields=f"metadata.name={name}")
                    informer.on_change(lambda old, new: self.look())
                    self._informers[kind, name] = informer
                    group.create_task(informer.run())
                # Together: a busy server takes seconds to say that a watch is complete, and till then nothing is put.
                await asyncio.gather(*(self._informers[each].synced() for each in fresh))
                done = await self._put(wanted)
                try:
                    async with asyncio.timeout(None if done else _RETRY_S):
                        await self._look.wait()
                except TimeoutError:
                    continue

    async def _put(self, wanted: Mapping[tuple[str, str], Object]) -> bool:
        done = True
        for (kind, name), body in wanted.items():
            known = self._informers[kind, name].get(name)
            if known is not None and includes(known, body):
                continue
            try:
                await self._write(RESOURCES[kind], known, body)
                _log.info("%s %s was written.", kind, name)
            except (StatusError, OSError) as failed:
                done = False
                if getattr(failed, "code", 0) == 409:  # Our own write, or somebody else's, is heard of in a moment.
                    continue
                _log.warning("%s %s could not be written: %s", kind, name, failed)
        return done

    async def _write(self, resource: Resource[Object], known: Object | None, body: Object) -> None:
        if known is None:
            await self._client.create(resource, body)
            return
        meta = {
            **known["metadata"],
            "labels": {**(known["metadata"].get("labels") or {}), **body["metadata"]["labels"]},
        }
        content = {key: value for key, value in body.items() if key != "metadata"}
        await self._client.update(resource, {**known, **content, "metadata": meta})


def includes(known: object, wanted: object) -> bool:
    """Whether everything wanted is there, and nothing where nothing is wanted. What a server adds by default to objects
    does not matter; of lists all does."""
    if wanted in ({}, []):
        return not known
    if isinstance(wanted, Mapping) and isinstance(known, Mapping):
        return all(includes(known.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(known, list):
        return len(known) == len(wanted) and all(map(includes, known, wanted))
    return known == wanted
