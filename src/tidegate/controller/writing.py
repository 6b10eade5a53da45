"""Writing statuses of Workloads: each with the version it was made from, while the next are planned already.

A write is under way until it is known what came of it: one that failed is read again first, and until then it is
planned with as if it were still on its way, which gives nobody too much. Then what was not sent is forgotten, and all
of that is decided anew. So a write that hangs, or is refused for ever, is its own Workload's trouble alone.
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
"""But so many always are: what has ended is said so in the busiest hour."""
_SLOW_S = 1.0
"""One that takes longer is not waited for by the next that only tells."""
_AGAIN_S = 1.0
_AGAIN_MOST_S = 60.0
"""Between two tries of one that is refused, longer each time; and of asking a server that does not answer."""
_UNWELL = 500
"""A server that says so or worse may have done what it was asked for."""
FENCE = "tidegate.dev/asked-again"
"""Annotation of a Workload: the version that a write without an answer was made from."""


class StatusWriter:
    """The one writer of Workloads' statuses. Its tasks are in the group that it is opened with."""

    def __init__(
        self,
        client: Client,
        workloads: Latest,
        written: Callable[[Step, bool], None],
        failed: Callable[[Step, StatusError | None, set[Key]], None],
    ) -> None:
        """`written` is called with each step that the server has taken, and whether nothing newer was heard of;
        `failed` with each that it has not, why it may not be, and all Workloads of which something else was assumed."""
        self._client = client
        self._workloads = workloads
        self._written = written
        self._failed = failed
        self._group: asyncio.TaskGroup | None = None
        self.underway = Underway()
        self._sent = 0
        self._passing: set[Step] = set()
        """Those under way that only tell, and were sent a moment ago."""
        self._refusals: dict[Key, int] = {}
        """How often in a row."""
        self._own: dict[Key, str] = {}
        """Versions that we wrote last, until they are heard of."""
        self._heard: dict[Key, str] = {}
        """Versions that were heard of while a write was under way: news often overtake answers."""

    def open(self, group: asyncio.TaskGroup) -> None:
        """From now on what is put is sent."""
        self._group = group

    def close(self) -> None:
        """Nothing more is sent."""
        self._group = None

    def is_own(self, obj: Object) -> bool:
        """Whether this is what we wrote last, so that it is no news; asked once. While a write is under way its answer
        will tell."""
        key, version = key_of(obj), str(obj["metadata"]["resourceVersion"])
        if self.underway.is_sent(key):
            self._heard[key] = version
            return True
        return self._own.pop(key, "") == version

    def push(self) -> None:
        """Send what may be sent now."""
        while self._group is not None and self._sent < _AT_ONCE:
            found = self._next()
            if found is None:
                return
            self._sent += 1
            if found[0].urgency > Urgency.GIVES:
                self._passing.add(found[0])
            self._group.create_task(self._send(*found))

    def _next(self) -> tuple[Step, Object] | None:
        found = None
        if len(self._passing) < _IN_PASSING_LEAST:
            found = self.underway.next(Urgency.REPORTS, Urgency.TELLS)
        return found or self.underway.next(Urgency.REPORTS if self._sent < _IN_PASSING else Urgency.GIVES)

    async def _send(self, step: Step, known: Object) -> None:
        slow = asyncio.get_running_loop().call_later(_SLOW_S, self._passed, step)
        try:
            answer, refused = await self._one(step.key, known, step.status)
            if answer is None:
                await self._read_again(step.key, sure=refused is not None and refused.code < _UNWELL)
        finally:
            slow.cancel()
            self._sent -= 1
            self._passing.discard(step)
        if answer is not None:
            self._taken(step, answer)
        else:
            self._not_taken(step, refused)
        self.push()

    def _passed(self, step: Step) -> None:
        self._passing.discard(step)
        self.push()

    def _taken(self, step: Step, answer: Object) -> None:
        version, heard = str(answer["metadata"]["resourceVersion"]), self._heard.pop(step.key, "")
        is_ahead = self._workloads.wrote(answer)
        if is_ahead:
            self._own[step.key] = version
        self._refusals.pop(step.key, None)
        self.underway.written(step, answer)
        self._written(step, is_ahead or heard == version)

    def _not_taken(self, step: Step, refused: StatusError | None) -> None:
        """What stands there now is known, and nothing else is assumed. Who is only late tries again at once."""
        key = step.key
        self._heard.pop(key, None)
        assumed = self.underway.forget(step)
        if refused is None or refused.code in (404, 409):
            self._failed(step, None, assumed)
            return
        tried = self._refusals.get(key, 0)
        self._refusals[key] = tried + 1
        self.underway.hold_back(key)
        wait_s = min(_AGAIN_MOST_S, _AGAIN_S * 2 ** min(tried, 10))
        asyncio.get_running_loop().call_later(wait_s, self._again, key)
        self._failed(step, refused if refused.code < _UNWELL else None, assumed)

    def _again(self, key: Key) -> None:
        self.underway.let_go(key)
        self.push()

    async def _one(self, key: Key, known: Object, status: WorkloadStatus) -> tuple[Object | None, StatusError | None]:
        """The server's answer, or why it has not taken it; neither where it may have."""
        try:
            sent = with_status(known, encode_status(status))
            return await self._client.update(WORKLOADS, sent, subresource="status"), None
        except StatusError as refused:
            level = logging.INFO if refused.code in (404, 409) else logging.WARNING
            _log.log(level, "The status of %s/%s was not written: %s", *key, refused.message)
            return None, refused
        except OSError as broken:
            _log.info("The status of %s/%s may not have been written: %s", *key, broken)
        except Exception:
            _log.exception("The status of %s/%s could not be written", *key)
        return None, None

    async def _read_again(self, key: Key, *, sure: bool) -> None:
        """As it is now, however long it takes to hear that. A write that had no answer may still be on its way: by a
        newer version it is shut out, or it would grant what was given to somebody else meanwhile."""
        (namespace, name), wait_s = key, _AGAIN_S
        while True:
            known = self._workloads.get(key)
            mark = {"metadata": {"annotations": {FENCE: known["metadata"]["resourceVersion"] if known else ""}}}
            try:
                if sure:
                    self._workloads.wrote(await self._client.get(WORKLOADS, name, namespace))
                else:
                    self._workloads.wrote(await self._client.patch(WORKLOADS, name, mark, namespace))
                return
            except StatusError as refused:
                if refused.code == 404:
                    self._workloads.gone(key)
                    return
                said = refused.message
            except OSError as broken:
                said = str(broken) or type(broken).__name__
            _log.info("What became of %s/%s is not known yet: %s", *key, said)
            await asyncio.sleep(wait_s)
            wait_s = min(_AGAIN_MOST_S, 2 * wait_s)


def with_status(known: Object, content: Object) -> Object:
    """What is sent to write a status: the object, made from which version, without what servers do not take from it."""
    meta = {name: value for name, value in known["metadata"].items() if name != "managedFields"}
    return {"metadata": meta, "status": content}
