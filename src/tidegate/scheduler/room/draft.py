"""The plan in the making: the books as they would be if it were carried out, and what was taken for whom."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.shapes import Placement
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.above import Above
from tidegate.scheduler.room.books import Books
from tidegate.scheduler.room.taken import Pods, Taken, covering, need_of
from tidegate.scheduler.snapshot import Instant
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import TreeNode

Changes = frozenset[tuple[str, int, str, int]]
"""By workload, pod set and flavor: so many more or fewer pods."""
NO_CHANGES: Changes = frozenset()


class Draft:
    """The only place where holdings change while a plan is made."""

    def __init__(self, books: Books, deserved: Deserved, above: Above, now: Instant) -> None:
        self.books = books
        self.ledger = books.ledger
        self.deserved = deserved
        self.above = above
        self.now = now
        self.taken: dict[Taken, None] = {}
        self.stays: dict[Taken, None] = {}
        """What had to go, and could stay after all."""
        self.moves = 0
        """How often something was taken, put back, or given for somebody else."""
        self._for: dict[str, dict[Taken, None]] = {}
        self._across: tuple[int, dict[TreeNode, dict[Taken, None]]] = (0, {})
        self.gave_way: dict[str, int] = {}
        """Workloads something was taken from, and how often: they ask again in the next cycle, not in this one."""
        self.touched: dict[str, Holding] = {}
        self.in_vain: dict[Holding, bool] = {}
        """Those for whom others gave what somebody may take from them at once, and may not take from those others; and
        whether that is their floor."""
        self.awaits_leaving: dict[str, tuple[TreeNode, Need]] = {}
        """Those who would be made room for, were there not enough pods on their way out already; and what they need."""
        self.returned: dict[Holding, None] = {}
        """Those who have again what they had given for somebody who lost it."""

    def grant(self, holding: Holding, placement: Placement, *, held: bool = False) -> None:
        """Give pods; `held`: they start once those that give way are gone."""
        self.touched[holding.workload.name] = holding
        if not holding.admitted:
            holding.since = self.now
        for index, flavor, count in placement.pods:
            waiting = max(0, count - holding.kept(index, flavor)) if held else 0
            self.books.change(holding, index, flavor, count, waiting)
        holding.new = holding.new or not holding.admitted
        holding.admitted = True

    def admit(self, holding: Holding, placement: Placement, *, held: bool = False) -> None:
        """Give a floor to a workload that is not in the books yet."""
        self.touched[holding.workload.name] = holding
        self.books.admit(holding, placement, held=held)
        holding.new = holding.admitted = True

    def start(self, holding: Holding, index: int, flavor: str, count: int) -> None:
        """Let granted pods start that had to wait for others to go."""
        self.touched[holding.workload.name] = holding
        self.books.change(holding, index, flavor, 0, -count)

    def shrink(
        self,
        holding: Holding,
        pods: Iterable[tuple[int, str, int]],
        rule: Rule,
        needed_by: str | None = None,
        axes: Collection[int] = (),
    ) -> Taken:
        """Take some pods back, for what they have of these axes."""
        taken = self.give_up(holding, pods)
        inherits = self._inherited(holding, taken, needed_by, axes)
        return self._record(Taken(holding, taken, rule, False, needed_by, inherits))

    def evict(self, holding: Holding, rule: Rule, needed_by: str | None = None) -> Taken:
        """Take everything back."""
        counts = [
            (index, flavor, count)
            for index, counts in enumerate(holding.granted)
            for flavor, count in sorted(counts.items())
            if count
        ]
        taken = self.give_up(holding, counts)
        holding.admitted = False
        inherits = self._inherited(holding, taken, needed_by, ())
        return self._record(Taken(holding, taken, rule, True, needed_by, inherits))

    def undo(self, taken: Taken) -> None:
        """Put back what was taken."""
        self.put_back(taken.holding, taken.pods)
        if taken.evicts:
            taken.holding.admitted = True
        self.moves += 1
        taken.was_for = {other: (other.needed_by, other.rule) for other in taken.inherits if other in self.taken}
        for other in taken.was_for:
            self._give_for(other, taken.holding.workload.name)
        del self.taken[taken]
        if taken.needed_by is not None:
            del self._for[taken.needed_by][taken]
        name = taken.holding.workload.name
        self.gave_way[name] -= 1
        if not self.gave_way[name]:
            del self.gave_way[name]

    def withdraw(self, holding: Holding, *, floor: bool) -> list[Pods]:
        """What this very plan gave a workload it does not get: all of it, or what is above its floor."""
        pods: list[Pods] = []
        for index, pod_set in enumerate(holding.workload.pod_sets):
            most = holding.count(index) if floor else holding.surplus(index)
            for flavor, count in sorted(holding.granted[index].items()):
                given = min(most, count - pod_set.granted.get(flavor, 0))
                if given > 0:
                    pods += self.give_up(holding, [(index, flavor, given)])
                    most -= given
        if floor and holding.workload.admitted_at is None:
            holding.admitted = False
        return pods

    def give_up(self, holding: Holding, pods: Iterable[tuple[int, str, int]]) -> tuple[Pods, ...]:
        """Some pods are not held any more."""
        return tuple(self._take(holding, index, flavor, count) for index, flavor, count in pods)

    def put_back(self, holding: Holding, pods: Iterable[Pods]) -> None:
        """Pods are held again as they were."""
        for some in pods:
            self.books.change(holding, some.index, some.flavor, some.count, some.held)

    def take_again(self, taken: Taken) -> Taken:
        """Take what was put back: it is the same as before, for whoever inherits it or inherited from it."""
        taken.pods = self.give_up(taken.holding, [(some.index, some.flavor, some.count) for some in taken.pods])
        if taken.evicts:
            taken.holding.admitted = False
        for other, (needed_by, rule) in taken.was_for.items():
            if other in self.taken:
                self._give_for(other, needed_by)
                other.rule = rule
        return self._record(taken)

    def pass_on(self, holding: Holding) -> None:
        """Who lost something and took as much from others keeps it: those gave it for whoever it was lost to."""
        name = holding.workload.name
        if name not in self.gave_way:
            return
        given = [taken for taken in self.taken if taken.holding is holding and taken.rule is not Rule.NOT_WANTED]
        if not given:
            return
        lost = next((taken for taken in given if taken.needed_by != name), given[0])
        # If it took its own again, that is not lost; but what others gave for it is, to whom its own had been.
        again = lost.needed_by == name
        to = lost.asked_by if again else lost.needed_by
        for taken in self.taken_for(name):
            if again and taken.holding.workload.name in (name, to):
                continue
            of_its_own = taken.holding.queue is holding.queue
            if holding.gained and to is not None:
                continue  # It is granted something in the end, and that is what they gave it for.
            self._give_for(taken, to)
            if of_its_own or to is None:
                taken.rule = lost.rule

    def pass_on_in_the_end(self) -> None:
        """Nobody gave for somebody who is granted nothing."""
        for name in [name for name, given in self._for.items() if given]:
            holding = self.books.holdings.get(name)
            if holding is not None and not (holding.gained or (holding.new and holding.admitted)):
                self.pass_on(holding)

    def begin_again(self, taken: Iterable[tuple[Taken, tuple[Pods, ...]]], touched: dict[str, Holding]) -> None:
        """Nothing was taken but this, and nobody touched but these."""
        self.moves += 1
        self.taken, self._for, self.gave_way, self.touched = {}, {}, {}, {}
        self.in_vain.clear()
        self.returned.clear()
        self.stays.clear()
        for one, pods in taken:
            one.pods, one.needed_by, one.rule = pods, one.asked_by, one.asked_by_rule
            self._record(one)
        self.touched = touched
        self.ledger.fresh_is_free = False

    def lay_down(self) -> dict[Taken, None]:
        """All that was taken is not kept count of for now, as if it had been done."""
        earlier, self.taken = self.taken, {}
        self._for, self.gave_way, self.stays = {}, {}, {}
        self.moves += 1
        self.ledger.fresh_is_free = False
        return earlier

    def take_up(self, earlier: Iterable[Taken]) -> None:
        """Keep count of what was taken earlier as well."""
        later, self.taken = self.taken, {}
        self._for, self.gave_way = {}, {}
        for one in (*earlier, *later):
            self._record(one)

    def taken_for(self, needed_by: str) -> list[Taken]:
        """What was taken for a workload."""
        return list(self._for.get(needed_by, ()))

    def changes(self) -> Changes:
        """What is held that was not, and the other way round."""
        return frozenset(
            (name, index, flavor, change)
            for name, holding in self.touched.items()
            for index, (counts, pod_set) in enumerate(zip(holding.granted, holding.workload.pod_sets, strict=True))
            for flavor in counts.keys() | pod_set.granted.keys()
            if (change := counts.get(flavor, 0) - pod_set.granted.get(flavor, 0))
        )

    def given_across(self) -> dict[TreeNode, dict[Taken, None]]:
        """By node: what somebody below it has of others that are not."""
        if self._across[0] != self.moves:
            found: dict[TreeNode, dict[Taken, None]] = {}
            for name, given in self._for.items():
                holding = self.books.holdings.get(name)
                mine = holding.queue if holding is not None else None
                for taken in given if mine is not None else ():
                    for node in mine.meets(taken.holding.queue) if mine and taken.holding.queue else ():
                        found.setdefault(node, {})[taken] = None
            self._across = self.moves, found
        return self._across[1]

    def _inherited(
        self, holding: Holding, lost: tuple[Pods, ...], needed_by: str | None, axes: Collection[int]
    ) -> tuple[Taken, ...]:
        """What others gave for the holder of pods that are lost now: all if nothing is left of what this very plan gave
        it, else as much as was lost of what it was taken for. Who takes what they gave themselves comes first."""
        given = self.taken_for(holding.workload.name)
        if given and holding.admitted and holding.gained and holding.queue is not None:
            given.sort(key=lambda other: other.holding.workload.name != needed_by)
            wanted = tuple((axis, amount) for axis, amount in need_of(holding, lost) if axis in axes)
            lost_to = {*covering(wanted, self._could_go_back(given))}
            self.ledger.grant(holding.queue, wanted)
            lost_to.update(self._could_go_back(given))
            self.ledger.grant(holding.queue, wanted, -1)
            given = [other for other in given if other in lost_to]
        for other in given:
            self._give_for(other, needed_by)
        return tuple(given)

    def _could_go_back(self, given: Iterable[Taken]) -> Iterator[Taken]:
        """What is not needed for whom it was taken, as things are."""
        for other in given:
            if (queue := other.holding.queue) is not None:
                before = self.ledger.crowding(queue)
                self.put_back(other.holding, other.pods)
                needed = self.ledger.is_crowded(queue, before)
                other.pods = self.give_up(other.holding, [(some.index, some.flavor, some.count) for some in other.pods])
                if not needed:
                    yield other

    def _give_for(self, taken: Taken, needed_by: str | None) -> None:
        """It was taken for somebody else than it seemed."""
        self.moves += 1
        if taken.needed_by is not None:
            del self._for[taken.needed_by][taken]
        taken.needed_by = needed_by
        if needed_by == taken.asked_by:
            taken.rule = taken.asked_by_rule
        if needed_by is not None:
            self._for.setdefault(needed_by, {})[taken] = None

    def _record(self, taken: Taken) -> Taken:
        name = taken.holding.workload.name
        self.moves += 1
        self.taken[taken] = None
        self.stays.pop(taken, None)
        if taken.needed_by is not None:
            self._for.setdefault(taken.needed_by, {})[taken] = None
        self.gave_way[name] = self.gave_way.get(name, 0) + 1
        self.touched[name] = taken.holding
        return taken

    def _take(self, holding: Holding, index: int, flavor: str, count: int) -> Pods:
        """Of pods that are taken, those that had not started go first."""
        held = min(holding.held[index].get(flavor, 0), count)
        self.books.change(holding, index, flavor, -count, -held)
        return Pods(index, flavor, count, held)
