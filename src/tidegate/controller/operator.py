"""The circle: look at what changed, plan, write down what was decided, and let applications go or hold them.

Planning does not wait for writing. The Planner takes its Plan for done, and a Workload is seen with the status that was
decided, until the server has it. Where a write failed, the truth is read again, what was not sent is forgotten, and all
of that is planned anew; so nothing is ever granted twice. What is taken is written before what is given: whoever is
killed in between has given too little, never too much. An application hears of what was granted when that is written.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tidegate.controller.applications.gated import GatedPods
from tidegate.controller.applications.gates import Gates
from tidegate.controller.applications.objects import Applications
from tidegate.controller.applications.queue_jobs import QueueJobs
from tidegate.controller.applications.workers import GatedApplications
from tidegate.controller.carrying import Carrying
from tidegate.controller.describing import Describing
from tidegate.controller.doing import Deed, Doing
from tidegate.controller.kinds import Key, key_of, name_of
from tidegate.controller.looking import Looking
from tidegate.controller.metrics.tally import UNCOUNTED, Tally
from tidegate.controller.namespaces import Managed
from tidegate.controller.planning import Planning
from tidegate.controller.queues.quotas import Quotas
from tidegate.controller.queues.statuses import QueueStatuses
from tidegate.controller.queues.tree import NamespaceTree
from tidegate.controller.reporting import Reporting
from tidegate.controller.seen.workloads import seen_workload
from tidegate.controller.telling import Telling, recorder
from tidegate.controller.told.news import keys_of, news_of, parts_of
from tidegate.controller.told.workloads import News, differs_in_counts, status_of
from tidegate.controller.underway import Step, Urgency
from tidegate.controller.watch.cache import BY_NAMESPACE, Cache
from tidegate.controller.watch.changes import Changes, Taken
from tidegate.controller.writing import StatusWriter
from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.patience import PatientWire
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds, builtin
from tidegate.scheduler import BUILT_IN, Plan, Policies

_log = logging.getLogger(__name__)

_RETRY_S = 1.0
_SOON_S = 0.1
"""After a conflict: by then the other's write has been heard of."""
_AGAIN_S = 0.05
"""What is due at once."""
_GATHER_S = (0.02, 0.1)
"""Between cycles, at least and at most: as long as the last one took, so that what happens meanwhile is looked at
together."""


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
        self._recorder = recorder(client)
        patient = client.over(PatientWire)
        gates = Gates(patient, self.cache)
        self._applications = Applications(patient, self.cache, self.managed, self._recorder, gates)
        self._gated = GatedPods(patient, self.cache, self.managed, self._recorder, gates)
        workers = GatedApplications(patient, self.cache, self._applications, gates)
        self._tree = NamespaceTree(client, self.cache, self.managed)
        self._quotas = Quotas(client, self.cache, self.managed)
        self._telling = Telling(self._recorder, self._applications, self.cache.workloads)
        self._doing = Doing(self._refused)
        self._writer = StatusWriter(client, self.cache.workloads, self._written, self._not_written)
        underway = self._writer.underway
        self._looking = Looking(self.cache, self._applications, self._gated, clock, underway.assumed)
        self._planning = Planning(self.cache, self._looking, policies)
        self._changes = Changes(self._writer.is_own)
        statuses = QueueStatuses(client, self.cache, self._quotas.refused)
        self._reporting = Reporting(self.cache.workloads, statuses, underway, self._changes.wake)
        self._carrying = Carrying(
            (self._gated, QueueJobs(patient, self.cache), workers, self._applications),
            self._looking, underway, self._doing, look=self._see_between, changes=self._changes,
        )  # fmt: skip
        self._describing = Describing(self._applications, self._gated, self._looking, self._doing, self._changes)
        self._overdue: set[Key] = set()
        """Workloads of which the planner still assumes what was not written, or knows what nobody was told: nothing is
        planned before both are mended, also while they are being asked for anew."""
        self._counts: set[Key] = set()
        """Workloads of which only the number of pods that run has changed: the next report tells that."""
        self._cycle_s = 0.0

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
            self._writer.open(group)
            self._doing.open(group)
            self._reporting.open(group)
            self._changes.listen(self.cache, self._applications.workload_key)
            try:
                while True:
                    wait_s = await self._turn()
                    await self._changes.wait(wait_s)
                    await asyncio.sleep(sorted((*_GATHER_S, self._cycle_s))[1])
            finally:
                self._writer.close()

    async def _turn(self) -> float | None:
        """One cycle; how long nothing need be done if nothing happens."""
        taken: Taken = (set(), [], set())
        began, completed = time.monotonic(), False
        try:
            taken = self._changes.take()
            wait_s = await self._cycle(*taken)
            completed = True
            return wait_s
        except (OSError, StatusError) as failed:
            _log.warning("The cycle was not completed: %s", str(failed) or type(failed).__name__)
        except Exception:
            _log.exception("A cycle failed; beginning again from what the server says")
            self._planning.anew()
            self._changes.config = True
            self._changes.mark(key_of(obj) for obj in self.cache.workloads.all())
        finally:
            self._tally.cycle(time.monotonic() - began, completed=completed)
        self._changes.give_back(taken)
        await asyncio.sleep(_RETRY_S)
        self._changes.wake()
        return _RETRY_S

    async def _keep_quotas(self) -> None:
        again_in = 2 * _RETRY_S  # Where the server gives no answer; somebody else's write is over soon.
        try:
            again_in = 0 if all([await self._tree.keep(), await self._quotas.keep()]) else _SOON_S
        finally:
            if again_in:
                asyncio.get_running_loop().call_later(again_in, self._changes.mark_quotas)

    async def _cycle(self, dirty: set[Key], applications: list[Object], waiting: set[Key]) -> float | None:
        if self._changes.quotas:
            self._changes.quotas, self._reporting.due = False, True
            await self._keep_quotas()
        began, now = asyncio.get_running_loop().time(), int(self._clock())
        self._describing.begin(applications, waiting)
        if self._changes.config:
            self._changes.config = False
            self._configure()
        # Whoever the planner does not know at all is never left out: it may hold something.
        later = {key for key in self._describing.keys if self._planning.workload(name_of(key)) is not None}
        dirty = (dirty | self._planning.deadlines.due(now)) - later | self._overdue
        self._overdue = set()
        for key in sorted(dirty):
            self._writer.underway.forget_words(key)
            self._see(key)
        plan = self._planning.plan(now, report=self._reporting.begin())
        told = dirty | keys_of(plan)
        self._tell(plan, told, now)
        if plan.standings:
            report = partial(self._put, now=now, urgency=Urgency.REPORTS)
            for key in sorted(self._counts):
                report(key, News())
            self._counts.clear()
            self._reporting.report(plan, told, now, report)
        self._writer.push()
        self._cycle_s = asyncio.get_running_loop().time() - began
        return self._next(plan, now)

    def _next(self, plan: Plan, now: int) -> float | None:
        waits = [max(_AGAIN_S, at - now) for at in (plan.wake_at, self._planning.deadlines.next()) if at is not None]
        if any(grant.held for grant in plan.grants):
            # Who gives way for them may have no pods, and then nobody tells that those are gone.
            waits.append(_AGAIN_S)
        report_s = self._reporting.wait_s()
        return min([*waits, report_s] if report_s is not None else waits, default=None)

    # ── what is seen ──

    def _configure(self) -> None:
        self._planning.configure()
        self._writer.underway.replant()
        self._carrying.flavors = self._planning.snapshot.flavors
        self._reporting.due = True

    def _see(self, key: Key) -> None:
        self._reporting.due = True
        self._planning.see(key)

    def _see_between(self, key: Key) -> None:
        """The same between two cycles. Whoever holds less by then is told so in the next, before its room is given."""
        before = self._planning.held_by(key)
        self._see(key)
        if self._planning.held_by(key) != before:
            self._overdue.add(key)
            self._changes.wake()

    # ── what is told ──

    def _tell(self, plan: Plan, told: set[Key], now: int) -> None:
        """Put what is decided and what was seen on its way to the server. Who has nothing to be told is carried out
        now, the others when they are written."""
        news, parts, decided = news_of(plan, told), parts_of(plan), keys_of(plan)
        for key in sorted(told):
            if key in decided or key in news or not self._is_new(key):
                self._put(key, news.get(key, News()), now=now, urgency=Urgency.TELLS, told=parts.get(key, ()))
            if key not in self._writer.underway:
                self._carrying.carry_out(key)

    def _is_new(self, key: Key) -> bool:
        """Whether it waits and was never told anything: the next report tells it all in one write."""
        raw, seen = self.cache.workloads.get(key), self._planning.workload(name_of(key))
        return raw is not None and not raw.get("status") and seen is not None and seen.active

    def _put(self, key: Key, news: News, *, now: int, urgency: Urgency, told: tuple[Plan, ...] = ()) -> None:
        """A Workload's status as it is now, if that is another than it has or is to have."""
        raw, workload = self.cache.workloads.get(key), self._looking.workload(key)
        if raw is None or workload is None:
            return
        facts = self._looking.facts(workload)
        seen = self._planning.workload(name_of(key)) or seen_workload(workload, facts)
        seen = self._planning.forgiven(seen, workload, news)
        status = status_of(workload, seen, replace(news, outcome=facts.outcome), now)
        if urgency is not Urgency.REPORTS and not told and differs_in_counts(workload.status, status):
            self._counts.add(key)
        elif told or status != workload.status or not raw.get("status"):
            root, floors = self._planning.root_of(seen), {each.name: each.least for each in seen.pod_sets}
            self._writer.underway.put(
                key, raw, workload.status, status, urgency=urgency, root=root, told=told, floors=floors
            )
            self._planning.expect(key)

    def _written(self, step: Step, is_newest: bool) -> None:
        """The server has a status: say so, and carry it out. What others said since was hidden by what was assumed."""
        for part in step.told:
            self._telling.events(part, self._looking.workload)
            self._tally.told(part, self._planning.workload, self._planning.snapshot, int(self._clock()))
        if not is_newest:
            self._changes.mark([step.key])
        self._carrying.carry_out(step.key)

    def _not_written(self, step: Step, refused: StatusError | None, assumed: set[Key]) -> None:
        """The server has not taken a status: all of which something was assumed that is not on its way is planned
        anew, before anything else is."""
        if refused is not None:
            self._telling.refused(self._looking.workload(step.key), None, refused)
        self._overdue |= assumed
        self._changes.wake()

    def _refused(self, deed: Deed, error: StatusError) -> None:
        self._telling.refused(self._looking.workload(deed.key), deed.about, error)
