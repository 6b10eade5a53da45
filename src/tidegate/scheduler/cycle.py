"""One cycle: who is admitted and who grows, who gives way, and why each other waits. The story of the scheduler.

what must go back goes back  ─►  whose turn is it?  ─►  does it fit?  ── yes ─►  granted
                                    ▲                      │ no
                                    │             can room be made?  ── yes ─►  granted; others shrink, then go
                                    │                      │ no
                                    └──────────────  it waits, with its reason; patience may hold room for it
"""

from __future__ import annotations

from collections import Counter

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.asks import Ask, floor_of, growth_of
from tidegate.scheduler.deserved import deserved
from tidegate.scheduler.draft import Draft
from tidegate.scheduler.fit import Placement, place
from tidegate.scheduler.gate import kept_out
from tidegate.scheduler.giveback import give_back, start_held
from tidegate.scheduler.hold import HeldRoom
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.ledger import Ledger
from tidegate.scheduler.order import Line
from tidegate.scheduler.outcome import outcome
from tidegate.scheduler.plan import Plan, Waiting
from tidegate.scheduler.policies import BUILT_IN, Policies
from tidegate.scheduler.reasons import behind, can_ever_fit, why_it_waits
from tidegate.scheduler.room import OnItsWay, make_room
from tidegate.scheduler.snapshot import Instant, Snapshot, Workload
from tidegate.scheduler.tree import Tree, TreeNode


def plan(snapshot: Snapshot, now: Instant, *, policies: Policies = BUILT_IN) -> Plan:
    """Decide one cycle. Pure: the same snapshot gives the same Plan, in whatever order its parts were read."""
    cycle = _Cycle(snapshot, now, policies)
    give_back(cycle.draft)
    start_held(cycle.draft)
    cycle.line_up()
    while ask := cycle.line.next():
        if placement := cycle.fits(ask):
            cycle.grant(ask, placement)
        elif placement := cycle.room_made_for(ask):
            cycle.grant(ask, placement, held=True)
        else:
            cycle.wait(ask)
    return cycle.finish()


class _Cycle:
    """What the story above speaks of."""

    def __init__(self, snapshot: Snapshot, now: Instant, policies: Policies) -> None:
        self.snapshot = snapshot
        self.now = now
        self.policies = policies
        self.tree = Tree(snapshot)
        self.empty = Ledger(self.tree)
        holdings = [Holding(workload, self._queue_of(workload)) for workload in snapshot.workloads]
        due = deserved(snapshot, self.tree, self.empty, policies)
        self.draft = Draft(self.tree, holdings, now=now, deserved=due)
        self.line = Line(self.draft, policies, self._pass_over)
        self.held_room = HeldRoom(self.draft, self.empty)
        self.waiting: dict[tuple[str, str | None], Waiting] = {}
        self.wake_at: list[Instant] = []
        self._ahead: Counter[str] = Counter()

    def _queue_of(self, workload: Workload) -> TreeNode | None:
        node = self.tree.nodes.get(workload.queue)
        return node if node is not None and node.is_queue else None

    def line_up(self) -> None:
        """Let everybody ask who may."""
        for name in sorted(self.draft.holdings):
            holding = self.draft.holdings[name]
            waiting = kept_out(holding.workload, self.tree, self.snapshot, self.now)
            if waiting is not None:
                self._keep_out(holding, waiting)
            elif name not in self.draft.gave_way:
                self._line_up(holding)
        self.line.open()

    def _line_up(self, holding: Holding) -> None:
        if not holding.admitted and not any(pod_set.least for pod_set in holding.workload.pod_sets):
            # Nothing is needed to start, so there is nothing to wait for.
            self.draft.grant(floor_of(holding), Placement((), {}))
        self.line.join(holding, impatient=self._impatient(holding))

    def _keep_out(self, holding: Holding, waiting: Waiting) -> None:
        if not holding.admitted or any(growth_of(holding, index) for index in range(len(holding.granted))):
            self.waiting[waiting.workload, None] = waiting
        if waiting.until is not None:
            self.wake_at.append(waiting.until)

    def _impatient(self, holding: Holding) -> bool:
        """Whether a floor has waited longer than its ClusterQueue's patience."""
        assert holding.queue is not None
        rules, workload = holding.queue.rules, holding.workload
        if holding.admitted or rules.ordering is Ordering.STRICT:
            return False
        ends = workload.waits_since + rules.patience.seconds
        if ends >= self.now:
            self.wake_at.append(ends + 1)
        return self.now > ends

    def fits(self, ask: Ask) -> Placement | None:
        """Where the ask fits as things are, or in held room that it will have left in time."""
        return place(ask, self.draft.ledger) or self.held_room.backfill(ask)

    def room_made_for(self, ask: Ask) -> Placement | None:
        """Where it fits after others have given way, which they do only if it does."""
        made = make_room(ask, self.draft, self.empty)
        return None if isinstance(made, OnItsWay) else made

    def grant(self, ask: Ask, placement: Placement, *, held: bool = False) -> None:
        """Give it; `held`: as soon as those who gave way for it are gone."""
        self.draft.grant(ask, placement, held=held)
        self.line.granted(ask)
        if held:
            for queue in self.draft.queues_taken_from(ask.name):
                self.line.changed(queue)

    def wait(self, ask: Ask) -> None:
        """No room: say why, and whether those behind may pass."""
        held_for = self.held_room.in_the_way_of(ask)
        self._say(ask, why_it_waits(ask, self.draft.ledger, self.empty, held_for=held_for, ahead=self._place(ask)))
        strict = ask.queue.rules.ordering is Ordering.STRICT
        if (strict or ask.impatient) and can_ever_fit(ask, self.empty):
            if strict:
                self.line.block(ask)
                return
            self.held_room.hold(ask)
        self.line.set_aside(ask)

    def _pass_over(self, ask: Ask, like: Ask | None) -> None:
        """An ask that was not looked at, because one like it did not fit or blocks the way."""
        known = self.waiting.get((like.name, like.pod_set)) if like is not None else None
        if like is None or known is None:
            waiting = why_it_waits(ask, self.draft.ledger, self.empty, held_for=None, ahead=self._place(ask))
        elif like.shape == ask.shape and like.queue is ask.queue:
            waiting = known.of_another(ask.name, ask.pod_set, self._place(ask))
        else:
            waiting = behind(ask, like.name, self._place(ask))
        self._say(ask, waiting)

    def _place(self, ask: Ask) -> int:
        return self._ahead[ask.queue.name]

    def _say(self, ask: Ask, waiting: Waiting) -> None:
        self.waiting[ask.name, ask.pod_set] = waiting
        self._ahead[ask.queue.name] += 1

    def finish(self) -> Plan:
        """The plan, with a reason for everybody who wants more than they have."""
        for name in sorted(self.draft.gave_way):
            holding = self.draft.holdings[name]
            for index in range(len(holding.granted)) if holding.admitted else ():
                ask = growth_of(holding, index)
                if ask is not None and (ask.name, ask.pod_set) not in self.waiting:
                    self._pass_over(ask, None)
        return outcome(self.draft, self.policies, self.waiting, self.wake_at)
