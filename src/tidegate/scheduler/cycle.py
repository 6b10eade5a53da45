"""One cycle: who is admitted and who grows, who gives way, and why each other waits. The story of the scheduler.

what must go back goes back  ─►  whose turn is it?  ─►  does it fit?  ── yes ─►  granted
                                    ▲                      │ no
                                    │             can room be made?  ── yes ─►  granted; others shrink, then go
                                    │                      │ no
                                    └──────────────  it waits, with its reason; patience may hold room for it
"""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.fair.fill import can_ever_fit
from tidegate.scheduler.known import Known
from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.line.shapes import Placement
from tidegate.scheduler.room.beginning import Beginning, lost_and_wronged_others
from tidegate.scheduler.room.draft import NO_CHANGES, Draft
from tidegate.scheduler.room.giveback import give_back, start_held
from tidegate.scheduler.room.hold import HeldRoom
from tidegate.scheduler.room.making import make_room
from tidegate.scheduler.room.memory import Memory
from tidegate.scheduler.room.spared import give_back_rather_than_more, give_back_what_was_not_needed
from tidegate.scheduler.room.taken import Taken
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.unrest import Unrest, want_what_is_left

_NOTHING = Placement((), ())
_MOST_PASSES = 64
_MOST_DRAFTS = 3
_MOST_ROUNDS = 8
_FEW_PASSES = 4
"""After these it is looked whether they go round and round."""


class Cycle:
    """One cycle over books and a line that its planner keeps."""

    def __init__(self, draft: Draft, line: Line, empty: Ledger, known: Known) -> None:
        self.draft = draft
        self.books = draft.books
        self.line = line
        self.empty = empty
        self.known = known
        self.stepped_aside: dict[str, Holding] = {}
        """Workloads that something was taken from, if only for a moment: they ask again in the next pass."""
        self.held_room = HeldRoom(self.draft, empty)
        self._memory = Memory(NO_CHANGES)
        self._left_out: dict[str, Holding] = {}
        """Those who are not asked any more."""
        self._unrest = Unrest(draft, line)
        self.beginning: list[Ask] = []
        """What was granted as long as there was room for all and nobody waited, in order."""
        self._begins = True

    def take_back(self, names: Iterable[str], crowded: Iterable[TreeNode], held: Iterable[str]) -> None:
        """Before anybody is asked: what must go back, and who may start now that others are gone."""
        give_back(self.draft, names, crowded)
        for name in self.draft.gave_way:
            self._step_aside(self.draft.touched[name])
        if self.stepped_aside:
            self._ask_again()
        start_held(self.draft, held)

    def open(self, names: Iterable[str]) -> None:
        """Admit those who need nothing to start, so that there is nothing to wait for."""
        for name in sorted(names):
            workload = self.known.workloads[name]
            holding = self.books.holdings.get(name)
            if holding is None:
                holding = Holding(workload, self.books.tree.nodes[workload.queue], now=self.draft.now)
                self.draft.admit(holding, _NOTHING)
            else:
                self.draft.grant(holding, _NOTHING)
            self.line.join_growth(holding)

    def run(self) -> None:
        """Let everybody have their turn. If somebody got something and lost it again, the plan goes on from what it has
        and without that memory, as the next plan would, until that changes nothing."""
        self._round()
        for _ in range(_MOST_ROUNDS if self._left_out or self._memory.has_withdrawn else 0):
            before, earlier = self.draft.changes(), self._go_on()
            self._round()
            self.draft.take_up(earlier)
            self._give_back_what_was_not_needed(self.draft.taken)
            if self.draft.changes() == before:
                break
        for holding in self._left_out.values():
            self._line_up(holding)
        self.draft.pass_on_in_the_end()

    def _round(self) -> None:
        """If what some got and lost again had others judged by it, everything is done again without those: they got
        nothing."""
        beginning = Beginning(self.draft)
        self._settle()
        for _ in range(_MOST_DRAFTS):
            lost = lost_and_wronged_others(self.draft, self._memory.given)
            if not lost:
                break
            self._begin_again(beginning, lost)
            self._settle()

    def _begin_again(self, beginning: Beginning, lost: dict[str, Holding]) -> None:
        """As if nobody had had their turn; but these are not asked any more."""
        self._left_out |= lost
        self._step_all_aside([*beginning.go_back(), *self.stepped_aside.values()])
        self._memory = Memory(self.draft.changes())
        self._ask_again()
        for name in self.stepped_aside.keys() - self.books.holdings.keys():
            del self.stepped_aside[name]  # It may be admitted anew, and is another then.

    def _go_on(self) -> dict[Taken, None]:
        """As if what was decided were done, and nobody had been left out. What was taken so far."""
        left_out, self._left_out = self._left_out, {}
        earlier = self.draft.lay_down()
        self._memory = Memory(self.draft.changes())
        self._ask_again()
        for holding in left_out.values():
            self._line_up(holding)
        return earlier

    def _settle(self) -> None:
        """Let everybody have their turn; and again, while what happened may change the answer for those who wait. What
        is left of what was taken, since pods and floors go whole, is given last, to start when it is free."""
        for number in range(_MOST_PASSES):
            if number:
                self._ask_again()
            self._pass()
            unsettled = self._unrest.goes_on(somebody_gave=bool(self.stepped_aside)) and not self._goes_round(number)
            # Who deserves what is left comes before those it was taken from.
            if (unsettled and number < _MOST_PASSES - 1) or self._give_back_what_was_not_needed(self.draft.taken):
                continue
            if self.draft.taken and self._give_back_rather_than_more():
                continue
            if self._memory.gives_what_is_left or not self.draft.ledger.give_what_is_fresh():
                break
            self._memory.gives_what_is_left = True

    def _pass(self) -> None:
        self._unrest = Unrest(self.draft, self.line)
        while ask := self.line.next():
            if self.draft.taken:
                self._give_back_before_more_than_deserved(ask)
            if placement := self.fits(ask):
                self.grant(ask, placement, held=not self.draft.ledger.is_free_now(ask.queue, placement.need))
            elif not self._memory.is_in_vain(ask.name) and (placement := self._make_room(ask)):
                self.grant(ask, placement, held=True)
            else:
                for holding, floor in self.draft.in_vain.items():
                    self._withdraw(holding, ask, floor=floor)
                self.wait(ask)
            if self.draft.returned or self.draft.in_vain:
                for holding in self.draft.returned:
                    self._step_aside(holding)
                self.draft.returned.clear()
                self.draft.in_vain.clear()

    def _make_room(self, ask: Ask) -> Placement | None:
        before = self.draft.moves
        placement = make_room(ask, self.draft, self.empty, self.held_room.users_to_spare)
        self._unrest.took |= placement is not None and self.draft.moves > before
        return placement

    def _give_back_before_more_than_deserved(self, ask: Ask) -> None:
        """Before a node for which others gave is given more than it deserves, they get back what they can."""
        wanted = ask.row.shape.first
        if wanted is None:
            return
        ledger, due = self.draft.ledger, self.draft.deserved.share
        for node in ask.queue.path:
            if node.parent is None or ledger.share_with(node, wanted.need) <= due(node):
                continue
            given = self.draft.given_across().get(node)
            if given and self._memory.asked_back.get(node) != self.draft.moves:
                self._give_back_what_was_not_needed(given)
                self._memory.asked_back[node] = self.draft.moves

    def _withdraw(self, holding: Holding, ask: Ask, *, floor: bool) -> None:
        """Others gave for a workload what an ask may take from it, and may not take from them: neither gets it, and if
        that happens again no more room is made for it while the ask waits."""
        name = holding.workload.name
        self._memory.withdraw(name, ask.name)
        self.draft.withdraw(holding, floor=floor)
        self._give_back_what_was_not_needed(self.draft.taken_for(name))
        self._step_aside(holding)
        self._unrest.withdrew = True

    def _ask_again(self) -> None:
        """Whoever lost something above the floor may ask for more, if there is room after all; and who lost a floor
        that this very plan had given it never had it, and asks for it as before. So may all who wait."""
        self._release()
        self.line.reopen()
        want_what_is_left(self.draft, self.line, self.stepped_aside.values())
        for name, holding in self.stepped_aside.items():
            if name not in self._left_out:
                self._line_up(holding)

    def _line_up(self, holding: Holding) -> None:
        if holding.workload.name in self.known.kept_out or holding.queue is None:
            return
        self.line.leave(holding.workload)
        if holding.admitted:
            self.line.join_growth(holding)
        elif holding.workload.admitted_at is None:
            self.line.join(holding.workload, holding.queue, impatient=holding.was_impatient)

    def _goes_round(self, number: int) -> bool:
        """Whether everybody has what they had after a pass before, or before them all: two may take the same from each
        other by different rights. Nothing is better than where it began."""
        return number >= _FEW_PASSES and self._memory.has_seen(self.draft.changes())

    def _give_back_what_was_not_needed(self, of: Iterable[Taken]) -> bool:
        return self._step_all_aside(give_back_what_was_not_needed(self.draft, of))

    def _give_back_rather_than_more(self) -> bool:
        changed = give_back_rather_than_more(self.draft, self._memory.given.values())
        if changed:
            self._memory.withdraw(changed[0].workload.name)
        return self._step_all_aside(changed)

    def _step_all_aside(self, holdings: list[Holding]) -> bool:
        for holding in holdings:
            self._step_aside(holding)
        return bool(holdings)

    def fits(self, ask: Ask) -> Placement | None:
        """Where the ask fits as things are, or in held room that it will have left in time."""
        return place(ask.row, self.draft.ledger) or self.held_room.backfill(ask)

    def grant(self, ask: Ask, placement: Placement, *, held: bool = False) -> None:
        """Give it; `held`: as soon as those who gave way for it are gone."""
        holding = self.books.holdings.get(ask.name)
        gets_its_own = holding is not None and ask.name in self.draft.gave_way and holding.has_less
        if holding is None:
            holding = Holding(self.known.workloads[ask.name], ask.queue, now=self.draft.now)
            self.draft.admit(holding, placement, held=held)
        else:
            self.draft.grant(holding, placement, held=held)
        self.line.serve(ask, holding)
        if not gets_its_own:
            self._memory.given[ask.name] = holding
        self._unrest.granted(ask)
        self._begins = self._begins and self.line.has_room_for_all
        if self._begins:
            self.beginning.append(ask)
        self._memory.served(ask.name)
        if held:
            gave = [taken.holding for taken in self.draft.taken_for(ask.name)]
            self._step_all_aside(gave)
            want_what_is_left(self.draft, self.line, gave)
            self.draft.pass_on(holding)

    def wait(self, ask: Ask) -> None:
        """No room: those behind may pass or not, and patience may hold room for it."""
        self._unrest.somebody_waits, self._begins = True, False
        if ask.queue.rules.ordering is Ordering.STRICT:
            self.line.block(ask)
            return
        if ask.kind.impatient and can_ever_fit(ask, self.empty, self.books.holdings.get(ask.name)):
            self.held_room.hold(ask, self.known.workloads[ask.name].waits_since + (ask.queue.patience or 0))
            self.line.room_is_held(self.held_room.holds)
        self.line.set_aside(ask)

    @property
    def holds_room(self) -> bool:
        """Whether something is set aside or blocked, which time or an arrival may change."""
        return self.held_room.holds or self.line.blocks

    def _release(self) -> None:
        for queue in self.held_room.release():
            self.line.changed(queue)
        self.line.room_is_held(False)

    def close(self) -> None:
        """Nothing stays set aside: the next cycle decides anew."""
        self._release()
        self.draft.ledger.nothing_is_fresh()

    def _step_aside(self, holding: Holding) -> None:
        """Whoever something was taken from, or given back to, does not ask again in this pass."""
        self.stepped_aside[holding.workload.name] = holding
        self.line.leave(holding.workload)
        if holding.queue is not None:
            self.line.changed(holding.queue)
