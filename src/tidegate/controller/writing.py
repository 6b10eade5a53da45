"""Writing statuses of Workloads: each with the version it was made from, while the next are planned already.

What fails stops everything: nothing more is sent, what was not sent is forgotten, and the truth is read again before
anything more is planned.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from tidegate.controller.kinds import WORKLOADS, Key, key_of
from tidegate.controller.underway import Step, Underway, Urgency
from tidegate.controller.watch.latest import Latest
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.model.codec import encode_status
from tidegate.model.kinds.workload import WorkloadStatus

_log = logging.getLogger(__name__)

_AT_ONCE = 32
_IN_PASSING = 4
"""What only tells is sent while fewer than so many are under way: whoever is given something does not wait for it."""
_IN_PASSING_LEAST = 1
"""But so many always may be."""
FENCE = "tidegate.dev/asked-again"
"""Annotation of a Workload: the version that a write without an answer was made from."""


class StatusWriter:
    """The one writer of Workloads' statuses. Its tasks are in the group that it is opened with."""

    def __init__(self, client: Client, workloads: Latest, written: Callable[[Step, bool], None]) -> None:
        """`written` is called with each step that the server has taken, and whether nothing newer was heard of."""
        self._client = client
        self._workloads = workloads
        self._written = written
        self._group: asyncio.TaskGroup | None = None
        self.underway = Underway()
        self.unsure: dict[Key, bool] = {}
        """Whose write failed, and whether it had no answer. Nothing may be planned before they were read again."""
        self.failed: Callable[[], None] = lambda: None
        """Called when something has become unsure."""
        self._sent = [0, 0]
        """Under way: what changes somebody's room, and what only tells."""
        self._still = asyncio.Event()
        self._still.set()
        self._own: dict[Key, str] = {}

    def open(self, group: asyncio.TaskGroup) -> None:
        """From now on what is put is sent."""
        self._group = group

    def is_own(self, obj: Object) -> bool:
        """Whether this is what the server answered to our last write, so that it is no news; asked once."""
        return self._own.pop(key_of(obj), "") == str(obj["metadata"]["resourceVersion"])

    def push(self) -> None:
        """Send what may be sent now."""
        while not self.unsure and self._group is not None and sum(self._sent) < _AT_ONCE:
            passing = sum(self._sent) < _IN_PASSING or self._sent[1] < _IN_PASSING_LEAST
            found = self.underway.next(Urgency.REPORTS if passing else Urgency.GIVES)
            if found is None:
                return
            self._sent[found[0].urgency > Urgency.GIVES] += 1
            self._still.clear()
            self._group.create_task(self._send(*found))

    async def _send(self, step: Step, known: Object) -> None:
        try:
            answer = await self._one(step.key, known, step.status)
        except Exception:
            _log.exception("The status of %s/%s could not be written", *step.key)
            self.unsure[step.key], answer = True, None
        finally:
            self._sent[step.urgency > Urgency.GIVES] -= 1
            if not any(self._sent):
                self._still.set()
        if answer is None:
            self.failed()
            return
        is_newest = self._workloads.wrote(answer)
        if is_newest:
            self._own[step.key] = str(answer["metadata"]["resourceVersion"])
        self.underway.written(step, answer)
        self._written(step, is_newest)
        self.push()

    async def _one(self, key: Key, known: Object, status: WorkloadStatus) -> Object | None:
        """The server's answer; None where it has not taken it, or may not have."""
        try:
            sent = with_status(known, encode_status(status))
            return await self._client.update(WORKLOADS, sent, subresource="status")
        except StatusError as refused:
            _log.info("The status of %s/%s was not written: %s", *key, refused.message)
            self.unsure[key] = refused.code >= 500
        except OSError as broken:
            _log.info("The status of %s/%s may not have been written: %s", *key, broken)
            self.unsure[key] = True
        return None

    async def forget(self) -> set[Key]:
        """Let what was sent come to its end, and assume nothing more; whose status was assumed."""
        await self._still.wait()
        return self.underway.forget()

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
