"""The circle: look at what changed, plan, write down what was decided, and let applications go or hold them.

One cycle at a time; everything is written before the next begins. The Planner takes its Plan for done. Where a write
failed, the truth is read again and put before anything more is planned, so that nothing is ever granted twice. What is
taken is written before what is given: whoever is killed in between has given too little, never too much.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import structs

from tidegate.controller.applications.gated import GatedPods
from tidegate.controller.applications.gates import Gates
from tidegate.controller.applications.objects import Applications
from tidegate.controller.applications.queue_jobs import QueueJobs
from tidegate.controller.applications.workers import GatedApplications
from tidegate.controller.doing import Deed, do_all
from tidegate.controller.kinds import Key, key_of, name_of
from tidegate.controller.looking import Looking
from tidegate.controller.metrics.tally import UNCOUNTED, Tally
from tidegate.controller.namespaces import Managed
from tidegate.controller.queues.quotas import Quotas
from tidegate.controller.queues.statuses import QueueStatuses
from tidegate.controller.queues.tree import NamespaceTree
from tidegate.controller.seen.config import snapshot
from tidegate.controller.seen.workloads import seen_workload
from tidegate.controller.telling import Telling
from tidegate.controller.told.news import keys_of, news_of
from tidegate.controller.told.workloads import News, status_of, told_already, wished
from tidegate.controller.watch.cache import BY_NAMESPACE, Cache
from tidegate.controller.watch.changes import Changes
from tidegate.controller.watch.deadlines import Deadlines
from tidegate.controller.writing import StatusWriter
from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds, Outcome, builtin
from tidegate.model.kinds import Workload
from tidegate.scheduler import BUILT_IN, Plan, Planner, Policies, Snapshot
from tidegate.scheduler import Workload as SeenWorkload

_log = logging.getLogger(__name__)

_REPORT_S = 1.0
"""Reasons and standings are worked out and written at most this often, and so that it takes a tenth of the time."""
_REPORT_MOST_S = 10.0
_TOLD_AT_ONCE = 200
"""So many of those who wait are told why in one report; the others in the next."""
_RETRY_S = 1.0
_SOON_S = 0.1
"""After a conflict: by then the other's write has been heard of."""


class Operator:
    """Queues on one API server. `run` goes on until it is cancelled; several may run, if only one leads."""

    def __init__(
        self,
        client: Client,
        *,
        kinds: Kinds | None = None,
        policies: Policies = BUILT_IN,
        everywhere: bool = False,
        clock: Callable[[], float] = time.time,
        tally: Tally = UNCOUNTED,
    ) -> None:
        self._tally = tally
        self._clock = clock
        self.cache = Cache(client, kinds or builtin())
        self.managed = Managed(self._labels, self._queue_names, everywhere=everywhere)
        self._recorder = EventRecorder(client, "tidegate")
        self._policies = policies
        self._planner = Planner(policies)
        self._snapshot = Snapshot()
        gates = Gates(client, self.cache)
        self._applications = Applications(client, self.cache, self.managed, self._recorder, gates)
        self._gated = GatedPods(client, self.cache, self.managed, self._recorder, gates)
        self._workers = GatedApplications(client, self.cache, self._applications, gates)
        self._queue_jobs = QueueJobs(client, self.cache)
        self._writer = StatusWriter(client, self.cache.workloads)
        self._queues = QueueStatuses(client, self.cache)
        self._tree = NamespaceTree(client, self.cache, self.managed)
        self._quotas = Quotas(client, self.cache, self.managed)
        self._telling = Telling(self._recorder, self._applications, self.cache.workloads)
        self._changes = Changes()
        self._looking = Looking(self.cache, self._applications, self._gated, clock)
        self._deadlines = Deadlines()
        self._report_due = True
        self._reported_at = -_REPORT_S
        self._report_pause_s = _REPORT_S

    def _labels(self, namespace: str) -> dict[str, str]:
        found = self.cache.namespaces.get(namespace)
        return dict((found or {}).get("metadata", {}).get("labels") or {})

    def _queue_names(self, namespace: str) -> set[str]:
        return {str(queue["metadata"]["name"]) for queue in self.cache.queues.by(BY_NAMESPACE, namespace)}

    async def run(self) -> None:
        """Look, plan, write; for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.cache.run())
            group.create_task(self._recorder.run())
            await self.cache.synced()
            self._changes.listen(self.cache, self._applications.workload_key)
            while True:
                wait_s = await self._turn()
                await asyncio.sleep(0)  # Whatever happens, others get their turn.
                await self._changes.wait(wait_s)

    async def _turn(self) -> float | None:
        """One cycle; how long nothing need be done if nothing happens."""
        taken, began, completed = self._changes.take(), time.monotonic(), False
        try:
            wait_s = await self._cycle(*taken)
            completed = True
            return wait_s
        except (OSError, StatusError) as failed:
            _log.warning("The cycle was not completed: %s", str(failed) or type(failed).__name__)
        except Exception:
            _log.exception("A cycle failed; beginning again from what the server says")
            self._planner, self._changes.config = Planner(self._policies), True
            self._changes.mark(key_of(obj) for obj in self.cache.workloads.all())
        finally:
            self._tally.cycle(time.monotonic() - began, completed=completed)
        # Everything that was to be looked at is looked at again.
        self._changes.workloads |= taken[0]
        self._changes.pods |= taken[2]
        for obj in taken[1]:
            self._changes.add(obj)
        await asyncio.sleep(_RETRY_S)
        self._changes.wake()
        return _RETRY_S

    async def _cycle(self, dirty: set[Key], applications: list[Object], waiting: set[Key]) -> float | None:
        dirty = dirty | await self._writer.make_sure()
        now = int(self._clock())
        dirty |= self._deadlines.due(now)
        if self._changes.quotas:
            self._changes.quotas, self._report_due = False, True
            if not all([await self._tree.keep(), await self._quotas.keep()]):
                asyncio.get_running_loop().call_later(_SOON_S, self._changes.mark_quotas)
        dirty |= {self._applications.workload_key(obj) for obj in applications}
        await do_all(self._descriptions(applications, waiting))
        if self._changes.config:
            self._changes.config = False
            self._configure()
        for key in sorted(dirty):
            self._see(key)
        plan = self._plan(now)
        told = dirty | keys_of(plan)
        failed = await self._tell(plan, told, now)
        await do_all(self._carrying_out(told - failed))
        if plan.standings:
            await self._report(plan, told, now)
        self._changes.mark(failed)
        return self._next(plan, now, busy=bool(told) or bool(failed))

    def _plan(self, now: int) -> Plan:
        at = asyncio.get_running_loop().time()
        report = self._report_due and at - self._reported_at >= self._report_pause_s
        if report:
            self._reported_at, self._report_due = at, False
        return self._planner.plan(now, report=report)

    def _next(self, plan: Plan, now: int, *, busy: bool) -> float | None:
        self._report_due = self._report_due or busy
        waits = [max(0.05, at - now) for at in (plan.wake_at, self._deadlines.next()) if at is not None]
        if self._report_due:
            waits.append(max(0.0, self._reported_at + self._report_pause_s - asyncio.get_running_loop().time()) + 0.01)
        return min(waits, default=None)

    # ── what is seen ──

    def _configure(self) -> None:
        cache = self.cache
        self._snapshot = snapshot(
            cache.nodes.all(), cache.flavors.all(), cache.cluster_queues.all(), cache.queues.all(),
            cache.namespaces.all(),
        )  # fmt: skip
        self._planner.configure(self._snapshot)
        self._report_due = True

    def _see(self, key: Key) -> None:
        """Put what there is of a Workload before the planner."""
        self._deadlines.expect(key, self._looking.deadline(key))
        seen = self._looking.seen(key)
        if seen is None:
            self._planner.drop(name_of(key))
        else:
            self._planner.put(seen)

    def _described(self, key: Key) -> Coroutine[Any, Any, None]:
        """Ask for pods that wait: by the application that made them, or by themselves."""
        workload = self._looking.workload(key)
        found = self._applications.owner_of(workload) if workload else None
        return self._gated.describe(key) if found is None else self._applications.describe(found[1])

    # ── what is told ──

    async def _tell(self, plan: Plan, told: set[Key], now: int) -> set[Key]:
        """Write what is taken and what was seen, then what is given; whose write failed."""
        news = news_of(plan, told)
        gives = {key for key in keys_of(plan, takes=False) if key in told}
        says = {key for key in told - gives if key in news or not self._is_new(key)}
        failed = await self._write({key: news.get(key, News()) for key in says}, now)
        # Who gives back and is given in one cycle gives back first, like everybody.
        back = {key: News() for key in gives if self._gives_back(key)}
        failed |= await self._write(back, now, planned=False)
        if failed:
            # The room for what is given may not be there: forget it, and plan again from what is true.
            for key in sorted(gives | failed):
                self._see(key)
            return failed | gives
        failed = await self._write({key: news.get(key, News()) for key in gives}, now)
        for key in sorted(failed):
            self._see(key)
        self._telling.events(plan, self._looking.workload)
        self._tally.told(plan, failed, self._planner.workload, self._snapshot, now)
        return failed

    async def _report(self, plan: Plan, told: set[Key], now: int) -> None:
        """Tell those who wait why: first who does not know, then the foremost whose numbers are out of date; and queues
        how they stand. Whoever is given something comes before: a report of which much was new is not soon followed by
        another."""
        began = asyncio.get_running_loop().time()
        news = {key: each for key, each in news_of(plan, told).items() if key not in told and self._is_news(key, each)}
        due = sorted(news, key=lambda key: (self._knows_why(key, news[key]), news[key].ahead, key))
        await self._write({key: news[key] for key in due[:_TOLD_AT_ONCE]}, now)
        self._report_due |= len(due) > _TOLD_AT_ONCE
        self._report_due |= not await self._queues.write(plan, now)
        spent = asyncio.get_running_loop().time() - began
        self._report_pause_s = min(max(_REPORT_S, 9 * spent), _REPORT_MOST_S)

    def _knows_why(self, key: Key, news: News) -> bool:
        said = ((self.cache.workloads.get(key) or {}).get("status") or {}).get("waiting") or {}
        return bool(news.waiting and said.get("reason") == news.waiting[0].reason)

    def _is_new(self, key: Key) -> bool:
        """Whether it waits and was never told anything: the next report tells it all in one write."""
        raw, seen = self.cache.workloads.get(key), self._planner.workload(name_of(key))
        return raw is not None and not raw.get("status") and seen is not None and seen.active

    def _is_news(self, key: Key, news: News) -> bool:
        """Whether a Workload's status does not say so yet; a glance, since a report speaks of everybody who waits."""
        raw = self.cache.workloads.get(key)
        said = (raw or {}).get("status", {}).get("waiting")
        return not news.waiting or said is None or not told_already(said, news.waiting[0])

    def _gives_back(self, key: Key) -> bool:
        """Whether its status says that it holds places which ended pods have left."""
        workload = self._looking.workload(key)
        said = workload.status.pod_sets if workload is not None else ()
        if workload is None or not any(each.granted for each in said):
            return False
        holds = seen_workload(workload, self._looking.facts(workload)).pod_sets
        return any(one.granted > sum(two.granted.values()) for one, two in zip(said, holds, strict=False))

    async def _write(self, news: dict[Key, News], now: int, *, planned: bool = True) -> set[Key]:
        """Write statuses: as planned, or only as seen. Whose could not be written."""
        statuses = {}
        for key, each in news.items():
            raw, workload = self.cache.workloads.get(key), self._looking.workload(key)
            if raw is None or workload is None:
                continue
            facts = self._looking.facts(workload)
            seen = (self._planner.workload(name_of(key)) if planned else None) or seen_workload(workload, facts)
            if each.eviction is not None:
                seen = self._forgiven(seen, workload, each)
            how: Outcome | None = facts.outcome
            statuses[key] = raw, status_of(workload, seen, replace(each, outcome=how), now)
        return await self._writer.write(statuses)

    def _forgiven(self, seen: SeenWorkload, workload: Workload, news: News) -> SeenWorkload:
        """An eviction that was its own wish counts for nothing."""
        if news.eviction is None or not wished(news.eviction.causes):
            return seen
        before = workload.status.requeue.count if workload.status.requeue else 0
        kept = structs.replace(seen, evictions=before, requeue_at=None, waiting_since=None)
        self._planner.put(kept)
        return kept

    # ── what is done ──

    def _descriptions(self, applications: list[Object], waiting: set[Key]) -> Iterator[Deed]:
        """What applications and pods ask for, written down as Workloads."""
        for obj in applications:
            describe, again = partial(self._applications.describe, obj), partial(self._changes.add, obj)
            yield Deed(self._applications.workload_key(obj), describe, again)
        for key in sorted(waiting):
            yield Deed(key, partial(self._described, key), partial(self._changes.add_pods, key))

    def _carrying_out(self, keys: set[Key]) -> Iterator[Deed]:
        """What was granted, given to applications."""
        for key in sorted(keys):
            workload, seen = self._looking.workload(key), self._planner.workload(name_of(key))
            if workload is None or seen is None:
                continue
            everybody = (self._gated, self._queue_jobs, self._workers, self._applications)
            hands = next(each for each in everybody if each.is_ours(workload))
            carry_out = partial(hands.carry_out, workload, seen, self._snapshot.flavors)
            yield Deed(key, carry_out, partial(self._changes.mark, [key]))
