"""Telling those who wait why, and queues how they stand: when there is time, never in the way of a grant, and without
waiting for whom it takes long to tell."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from tidegate.controller.kinds import Key
from tidegate.controller.queues.statuses import QueueStatuses, Written
from tidegate.controller.told.news import news_of
from tidegate.controller.told.workloads import News, told_already
from tidegate.controller.underway import Underway, Urgency
from tidegate.controller.watch.latest import Latest
from tidegate.scheduler import Plan

_log = logging.getLogger(__name__)

_PAUSE_S = 1.0
"""Reasons and standings are worked out and written at most this often, and so that it takes a tenth of the time."""
_PAUSE_MOST_S = 10.0
_BUSY_S = 0.1
"""How often it is asked whether the last report is written."""
_TOLD_AT_ONCE = 200
"""So many of those who wait are told why in one report; the others in the next."""

Tell = Callable[[Key, News], None]


class Reporting:
    """When a report is due, and what of it is news."""

    def __init__(self, workloads: Latest, queues: QueueStatuses, underway: Underway, wake: Callable[[], None]) -> None:
        """`wake` is called when another report has become due."""
        self._wake = wake
        self._workloads = workloads
        self._queues = queues
        queues.differs = self._again
        self._underway = underway
        self.due = True
        """Whether something may have changed since the last."""
        self._group: asyncio.TaskGroup | None = None
        self._at = -_PAUSE_S
        self._pause_s = _PAUSE_S
        self._writing: asyncio.Task[None] | None = None

    def open(self, group: asyncio.TaskGroup) -> None:
        """Where statuses of queues are written."""
        self._group = group

    def begin(self) -> bool:
        """Whether a plan is to have a report; it is taken for made."""
        now = asyncio.get_running_loop().time()
        if not self.due or self._is_busy() or now - self._at < self._pause_s:
            return False
        self._at, self.due = now, False
        return True

    def wait_s(self) -> float | None:
        """How long until the next report may be made; None while none is due."""
        if not self.due:
            return None
        least = _BUSY_S if self._is_busy() else 0.0
        return max(least, self._at + self._pause_s - asyncio.get_running_loop().time()) + 0.01

    def _is_busy(self) -> bool:
        """Whether the last one is being written."""
        return self._writing is not None or self._underway.waiting(Urgency.REPORTS) > 0

    def report(self, plan: Plan, told: set[Key], now: int, tell: Tell) -> None:
        """Tell those who wait why: first who does not know, then the foremost whose numbers are out of date; and queues
        how they stand."""
        news = {key: each for key, each in news_of(plan, told).items() if key not in told and self._is_news(key, each)}
        due = sorted(news, key=lambda key: (self._knows_why(key, news[key]), news[key].ahead, key))
        for key in due[:_TOLD_AT_ONCE]:
            tell(key, news[key])
        self.due |= len(due) > _TOLD_AT_ONCE
        assert self._group is not None
        self._writing = self._group.create_task(self._write_queues(plan, now))

    async def _write_queues(self, plan: Plan, now: int) -> None:
        written = Written(everything=False, took_s=0.0)
        try:
            written = await self._queues.write(plan, now)
        except Exception:
            _log.exception("The statuses of queues were not written")
        finally:
            self._writing = None
        self._pause_s = min(max(_PAUSE_S, 9 * written.took_s), _PAUSE_MOST_S)
        if not written.everything:
            self._again()

    def _again(self) -> None:
        self.due = True
        self._wake()

    def _said(self, key: Key) -> dict[str, object] | None:
        return ((self._workloads.get(key) or {}).get("status") or {}).get("waiting")

    def _knows_why(self, key: Key, news: News) -> bool:
        return bool(news.waiting and (self._said(key) or {}).get("reason") == news.waiting[0].reason)

    def _is_news(self, key: Key, news: News) -> bool:
        """Whether a Workload's status does not say so yet; a glance, since a report speaks of everybody who waits."""
        said = self._said(key)
        return not news.waiting or said is None or not told_already(said, news.waiting[0])
