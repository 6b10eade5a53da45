"""The planner: `plan` for those who ask again and again, keeping between cycles what a change does not touch.

    planner.configure(snapshot)      nodes, flavors and queues; what changes seldom is worked out anew
    planner.put(workload)            it is new, or something about it is different
    planner.drop(name)               it is finished or gone
    planner.plan(now)                the Plan that `plan(snapshot, now)` of all this would give; taken for done

Kept are the books (what everybody holds), the line (who asks for what, in rows), what everybody deserves, and who
must give back, may start, or waits for a moment in time. A cycle works on the books and the line themselves and assumes
that its Plan is carried out; so it costs what it decides, and how many wait does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from msgspec.structs import replace

from tidegate.scheduler.cycle import Cycle
from tidegate.scheduler.fair.demand import demand
from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.fair.fill import can_ever_fit
from tidegate.scheduler.gate import allowed, kept_out
from tidegate.scheduler.known import Known
from tidegate.scheduler.line.asks import Ask, floor_place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.outcome import carried_out, decisions
from tidegate.scheduler.plan import Plan, Waiting
from tidegate.scheduler.policies import BUILT_IN, Policies
from tidegate.scheduler.report import waiting
from tidegate.scheduler.room.above import Above
from tidegate.scheduler.room.books import Books
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.giveback import must_give_back
from tidegate.scheduler.room.hopes import Hopes
from tidegate.scheduler.snapshot import Instant, Snapshot, Workload
from tidegate.scheduler.standings import Standings
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


def plan(snapshot: Snapshot, now: Instant, *, policies: Policies = BUILT_IN, reasons: bool = True) -> Plan:
    """Decide one cycle. Pure: the same snapshot gives the same Plan, in whatever order its parts were read."""
    planner = Planner(policies)
    planner.configure(snapshot, workloads=snapshot.workloads)
    return planner.plan(now, report=True, reasons=reasons)


class Planner:
    """Plans cycle after cycle. It has no clock: time is what `plan` is told, and never goes back."""

    def __init__(self, policies: Policies = BUILT_IN) -> None:
        self.policies = policies
        self._snapshot = Snapshot()
        self._workloads: dict[str, Workload] = {}
        self._active: Counter[str] = Counter()
        """How many of a Queue are active."""
        self._now: Instant = 0
        self._changed = True
        """Whether a cycle could decide anything that the last one did not."""
        self._somebody_waits = False
        """Whether the last cycle left anybody in line."""
        self._crowded: set[TreeNode] = set()
        """Nodes that may hold more than they are allowed."""
        self._build()

    # ── what changes ──

    def configure(self, snapshot: Snapshot, workloads: Iterable[Workload] | None = None) -> None:
        """Nodes, flavors and queues are these from now on (and, if given, the workloads; otherwise those it knows)."""
        self._snapshot = replace(snapshot, workloads=())
        if workloads is not None:
            self._workloads = {workload.name: workload for workload in workloads}
            self._active = Counter(one.queue for one in self._workloads.values() if one.active)
        self._build()

    def put(self, workload: Workload) -> None:
        """A workload is new, or something about it is different."""
        before = self._workloads.get(workload.name)
        if before == workload:
            return
        if before is not None:
            self._leave(before)
            self._active[before.queue] -= before.active
        self._active[workload.queue] += workload.active
        self._workloads[workload.name] = workload
        if self._is_counted(workload):
            self._enter(workload)
        else:
            self._build()

    def drop(self, name: str) -> None:
        """A workload is finished or gone."""
        workload = self._workloads.pop(name, None)
        if workload is not None:
            self._leave(workload)
            self._active[workload.queue] -= workload.active
            self._deserved.forget(name)
            self._changed = self._changed or not self._deserved.settled

    def workload(self, name: str) -> Workload | None:
        """A workload as the planner sees it: as it was put, with what was decided since."""
        return self._workloads.get(name)

    # ── what follows ──

    def plan(self, now: Instant, *, report: bool = False, reasons: bool = True) -> Plan:
        """Decide one cycle, and take it for done: whoever carries it out puts what came of it, if that is something
        else. With `report`, say how every queue stands, and (`reasons`) for everybody who waits why."""
        self._now = now
        self._let_time_pass()
        if not self._changed and not report:
            return Plan(wake_at=min(self._moments(), default=None), unknown_policies=self._unknown_policies)
        self._line.reopen()
        if self._somebody_waits:
            # What they may hope for depends on what is deserved; else that is worked out when somebody does not fit.
            for queue in self._deserved.news():
                self._line.changed(queue)
        known = Known(self._workloads, self._kept_out, self._active)
        draft = Draft(self._books, self._deserved, self._above, now)
        cycle = Cycle(draft, self._line, self._empty, known)
        if not self._books.holdings and not self._line.somebody_is_impatient:
            self._deserved.begin_with(cycle.beginning, asked_by=len(self._line))
        crowded = [node for node in self._crowded if self._books.ledger.excesses(node)]
        self._crowded.clear()
        cycle.take_back(self._unsettled, crowded, self._held)
        cycle.open(self._open)
        cycle.run()
        made = decisions(cycle.draft)
        moments = [*(eviction.requeue_at for eviction in made.evictions), *self._moments()]
        made = replace(made, wake_at=min(moments, default=None), unknown_policies=self._unknown_policies)
        if report:
            told = waiting(cycle, made) if reasons else ()
            made = replace(made, waiting=told, says_why=reasons, standings=self._standings.of(cycle))
        self._changed = cycle.holds_room or not made.is_empty
        cycle.close()
        for name, holding in cycle.draft.touched.items():
            self._assume(holding, moved=name in cycle.stepped_aside)
        self._somebody_waits = bool(self._line)
        return made

    def _assume(self, holding: Holding, *, moved: bool) -> None:
        """It is as the plan says from now on."""
        before, name = holding.workload, holding.workload.name
        workload = self._workloads[name] = carried_out(holding, self._now)
        if moved or holding.waits_to_start or name in self._held:
            self._leave(before)
            self._stand_in_line(workload)
        else:  # It was granted something and that is all: books and line say already what they should.
            holding.workload = workload
            holding.new = False
            self._open.discard(name)

    # ── state ──

    def _build(self) -> None:
        cells = {
            (flavor, resource)
            for workload in self._workloads.values()
            for one in workload.pod_sets
            for flavor in (*one.granted, *one.present)
            for resource in one.requests
        }
        requests = {one.requests for workload in self._workloads.values() for one in workload.pod_sets}
        self._tree = Tree(self._snapshot, cells, requests)
        self._books = Books(self._tree)
        self._deserved = Deserved(self._tree, self.policies, self._snapshot)
        self._above = Above(self._books, self._deserved)
        self._empty = Ledger(self._tree)
        hopes = Hopes(self._books, self._deserved)
        self._line = Line(self._tree, self._books.ledger, self.policies, self._can_ever_fit, hopes)
        self._unknown_policies = tuple(
            sorted(node.name for node in self._tree.in_order if node.spec and node.spec.policy not in self.policies)
        )
        self._standings = Standings(self._tree)
        self._changed = True
        self._unsettled: set[str] = set()
        self._held: set[str] = set()
        self._open: set[str] = set()
        self._kept_out: dict[str, Waiting] = {}
        self._backoffs: list[tuple[Instant, str]] = []
        self._patience: list[tuple[Instant, str]] = []
        self._crowded = set(self._tree.in_order)
        self._somebody_waits = False
        for workload in self._workloads.values():
            self._enter(workload)

    def _can_ever_fit(self, ask: Ask) -> bool:
        return can_ever_fit(ask, self._empty, self._books.holdings.get(ask.name))

    def _queue_of(self, workload: Workload) -> TreeNode | None:
        node = self._tree.nodes.get(workload.queue)
        return node if node is not None and node.is_queue else None

    def _is_counted(self, workload: Workload) -> bool:
        """Whether the tree has a number for all that its pods take."""
        axes = self._tree.axes
        return all(
            axes.counts(one.requests)
            and all(axes.knows(one.requests, flavor) for flavor in (*one.granted, *one.present))
            for one in workload.pod_sets
        )

    def _enter(self, workload: Workload) -> None:
        queue = self._queue_of(workload)
        wanted = demand(workload, queue, allowed=allowed(workload, queue, self._snapshot))
        if wanted is not None:
            self._deserved.want(wanted)
        else:
            self._deserved.forget(workload.name)
        self._changed = self._changed or not self._deserved.settled
        self._stand_in_line(workload)

    def _stand_in_line(self, workload: Workload) -> None:
        """Count what it holds, and let it ask if it may."""
        name, queue = workload.name, self._queue_of(workload)
        if workload.admitted_at is not None or any(one.present for one in workload.pod_sets):
            self._hold(Holding(workload, queue))
        why = kept_out(workload, queue, allowed=allowed(workload, queue, self._snapshot), now=self._now)
        if why is not None:
            self._kept_out[name] = why
            if why.until is not None:
                heappush(self._backoffs, (why.until, name))
        elif workload.admitted_at is not None:
            self._line.join_growth(self._books.holdings[name])
        elif queue is not None:
            self._line_up(workload, queue)

    def _hold(self, holding: Holding) -> None:
        name = holding.workload.name
        self._books.enter(holding)
        self._changed = True
        if must_give_back(holding):
            self._unsettled.add(name)
        if holding.waits_to_start:
            self._held.add(name)
        if holding.queue is not None:
            self._line.changed(holding.queue)
            self._crowded.update(holding.queue.path)

    def _line_up(self, workload: Workload, queue: TreeNode) -> None:
        if not any(pod_set.least for pod_set in workload.pod_sets):
            self._open.add(workload.name)
            self._changed = True
            return
        impatient = False
        if queue.patience is not None:
            ends = workload.waits_since + queue.patience
            impatient = self._now > ends
            if not impatient:
                heappush(self._patience, (ends + 1, workload.name))
        row = self._line.join(workload, queue, impatient=impatient)
        # Behind one like it, that was not served, it is not served either.
        self._changed = self._changed or row.first == floor_place(workload)

    def _leave(self, workload: Workload) -> None:
        name = workload.name
        holding = self._books.holdings.get(name)
        self._books.forget(name)
        if holding is not None:
            self._changed = True
            if holding.queue is not None:
                self._line.changed(holding.queue)
        self._line.leave(workload)
        self._kept_out.pop(name, None)
        for some in (self._unsettled, self._held, self._open):
            some.discard(name)

    def _moments(self) -> Iterator[Instant]:
        """When the next back-off and the next patience end, of those who still wait for that."""
        for heap, still in ((self._backoffs, self._backs_off), (self._patience, self._is_patient)):
            while heap and not still(*heap[0]):
                heappop(heap)
            if heap:
                yield heap[0][0]

    def _backs_off(self, until: Instant, name: str) -> bool:
        why = self._kept_out.get(name)
        return why is not None and why.until == until

    def _is_patient(self, until: Instant, name: str) -> bool:
        workload = self._workloads.get(name)
        row = self._line.floor_row(name)
        if workload is None or row is None or row.kind.impatient or row.queue.patience is None:
            return False
        return workload.waits_since + row.queue.patience + 1 == until

    def _let_time_pass(self) -> None:
        """Those whose back-off or patience ended stand elsewhere now."""
        for heap in (self._backoffs, self._patience):
            due = set()
            while heap and heap[0][0] <= self._now:
                due.add(heappop(heap)[1])
            for name in sorted(due & self._workloads.keys()):
                workload = self._workloads[name]
                self._leave(workload)
                self._stand_in_line(workload)
