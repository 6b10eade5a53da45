"""Writing statuses of Workloads: with the version they were made from, and the truth read again when that fails."""

from __future__ import annotations

import asyncio
import logging

from tidegate.controller.kinds import WORKLOADS, Key
from tidegate.controller.watch.latest import Latest
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.model.codec import encode_status
from tidegate.model.kinds.workload import WorkloadStatus

_log = logging.getLogger(__name__)

_AT_ONCE = 32
FENCE = "tidegate.dev/asked-again"
"""Annotation of a Workload: the version that a write without an answer was made from."""


class StatusWriter:
    """The one writer of Workloads' statuses."""

    def __init__(self, client: Client, workloads: Latest) -> None:
        self._client = client
        self._workloads = workloads
        self.unsure: dict[Key, bool] = {}
        """Whose write failed, and whether it had no answer. Nothing may be planned before they were read again."""

    async def write(self, statuses: dict[Key, tuple[Object, WorkloadStatus]]) -> set[Key]:
        """Write these, each with the object that it was made from, by whose version the server knows whether somebody
        else has said something since; which of them could not be."""
        limit = asyncio.Semaphore(_AT_ONCE)

        async def one(key: Key) -> bool:
            async with limit:
                return await self._one(key, *statuses[key])

        keys = sorted(statuses)
        done = await asyncio.gather(*(one(key) for key in keys))
        return {key for key, written in zip(keys, done, strict=True) if not written}

    async def _one(self, key: Key, known: Object, status: WorkloadStatus) -> bool:
        content = encode_status(status)
        if content == known.get("status"):
            return True
        try:
            wrote = await self._client.update(WORKLOADS, with_status(known, content), subresource="status")
        except StatusError as refused:
            _log.info("The status of %s/%s was not written: %s", *key, refused.message)
            self.unsure[key] = refused.code >= 500
            return False
        except OSError as broken:
            _log.info("The status of %s/%s may not have been written: %s", *key, broken)
            self.unsure[key] = True
            return False
        self._workloads.wrote(wrote)
        return True

    async def make_sure(self) -> set[Key]:
        """Read again whatever is unsure; which those were. Raises OSError while the server cannot be asked."""
        read_again = set(self.unsure)
        for key in sorted(read_again):
            try:
                self._workloads.wrote(await self._read_again(key))
            except StatusError as refused:
                if refused.code != 404:
                    raise OSError(refused.message) from None
                self._workloads.gone(key)
            del self.unsure[key]
        return read_again

    async def _read_again(self, key: Key) -> Object:
        """As it is now. A write that had no answer may still be on its way: by a newer version it is shut out, or it
        would grant what was given to somebody else meanwhile."""
        namespace, name = key
        if not self.unsure[key]:
            return await self._client.get(WORKLOADS, name, namespace)
        known = self._workloads.get(key)
        mark = {"metadata": {"annotations": {FENCE: known["metadata"]["resourceVersion"] if known else ""}}}
        return await self._client.patch(WORKLOADS, name, mark, namespace)


def with_status(known: Object, content: Object) -> Object:
    """What is sent to write a status: the object, made from which version, without what servers do not take from it."""
    meta = {name: value for name, value in known["metadata"].items() if name != "managedFields"}
    return {"metadata": meta, "status": content}
