"""The plan in the making. The only place where holdings change, so that the ledger is always in step with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.scheduler.amounts import of_pods
from tidegate.scheduler.asks import Ask
from tidegate.scheduler.fairness import Deserved
from tidegate.scheduler.fit import Placement
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.ledger import Ledger
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.snapshot import Instant
from tidegate.scheduler.tree import Tree, TreeNode


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of one pod set and flavor that were taken, and how many of them had not been free to start."""

    index: int
    flavor: str
    count: int
    held: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Something taken back: from whom, by which rule, for whom."""

    holding: Holding
    pods: tuple[Pods, ...]
    rule: Rule
    evicts: bool
    needed_by: str | None = None


class Draft:
    """Holdings and ledger as they would be if the plan so far were carried out."""

    def __init__(self, tree: Tree, holdings: Iterable[Holding], *, now: Instant, deserved: Deserved | None = None):
        self.tree = tree
        self.now = now
        self.ledger = Ledger(tree)
        self.deserved = deserved or Deserved({}, tree.nodes)
        self.holdings = {holding.workload.name: holding for holding in holdings}
        self.by_queue: dict[str, list[Holding]] = {}
        self.taken: list[Taken] = []
        self.gave_way: set[str] = set()
        """Workloads something was taken from: they ask again in the next cycle, not in this one."""
        for name in sorted(self.holdings):
            self._enter(self.holdings[name])

    def _enter(self, holding: Holding) -> None:
        queue = holding.queue
        if queue is None:
            return
        self.by_queue.setdefault(queue.name, []).append(holding)
        for index, pod_set in enumerate(holding.workload.pod_sets):
            for flavor, count in holding.granted[index].items():
                self.ledger.grant(queue, of_pods(flavor, pod_set.requests, count))
                self.ledger.hold(queue, of_pods(flavor, pod_set.requests, holding.held[index].get(flavor, 0)))
            for flavor in holding.present[index]:
                self.ledger.go(queue, of_pods(flavor, pod_set.requests, holding.going(index, flavor)))

    def below(self, node: TreeNode) -> Iterable[Holding]:
        """The workloads of a node."""
        for inner in node.below():
            yield from self.by_queue.get(inner.name, ())

    def grant(self, ask: Ask, placement: Placement, *, held: bool = False) -> None:
        """Give an ask what it asks for; `held`: its pods start once those that give way are gone."""
        holding = ask.holding
        for index, flavor, count in placement.pods:
            self._change(holding, index, flavor, count, held=count if held else 0)
        holding.new = holding.new or not holding.admitted
        holding.admitted = True

    def start(self, holding: Holding, index: int, flavor: str, count: int) -> None:
        """Let granted pods start that had to wait for others to go."""
        holding.held[index][flavor] -= count
        if holding.queue is not None:
            requests = holding.workload.pod_sets[index].requests
            self.ledger.hold(holding.queue, of_pods(flavor, requests, count), -1)

    def shrink(
        self, holding: Holding, pods: Iterable[tuple[int, str, int]], rule: Rule, needed_by: str | None = None
    ) -> Taken:
        """Take some pods back."""
        taken = tuple(self._change(holding, index, flavor, -count) for index, flavor, count in pods)
        return self._record(Taken(holding, taken, rule, False, needed_by))

    def evict(self, holding: Holding, rule: Rule, needed_by: str | None = None) -> Taken:
        """Take everything back."""
        counts = [
            (index, flavor, count)
            for index, counts in enumerate(holding.granted)
            for flavor, count in sorted(counts.items())
            if count
        ]
        taken = tuple(self._change(holding, index, flavor, -count) for index, flavor, count in counts)
        holding.admitted = False
        return self._record(Taken(holding, taken, rule, True, needed_by))

    def queues_taken_from(self, needed_by: str) -> list[TreeNode]:
        """The Queues that gave way for a workload."""
        queues = {taken.holding.queue for taken in self.taken if taken.needed_by == needed_by}
        return sorted((queue for queue in queues if queue is not None), key=lambda queue: queue.name)

    def _record(self, taken: Taken) -> Taken:
        self.taken.append(taken)
        self.gave_way.add(taken.holding.workload.name)
        return taken

    def undo(self, taken: Taken) -> None:
        """Put back what was taken."""
        for pods in taken.pods:
            self._change(taken.holding, pods.index, pods.flavor, pods.count, held=pods.held)
        if taken.evicts:
            taken.holding.admitted = True
        self.taken.remove(taken)
        if all(other.holding is not taken.holding for other in self.taken):
            self.gave_way.discard(taken.holding.workload.name)

    def _change(self, holding: Holding, index: int, flavor: str, count: int, held: int = 0) -> Pods:
        """Change one count. Of pods that are taken, those that had not started go first."""
        granted, waiting = holding.granted[index], holding.held[index]
        going, held_before = holding.going(index, flavor), waiting.get(flavor, 0)
        granted[flavor] = granted.get(flavor, 0) + count
        waiting[flavor] = held_before + held if count > 0 else max(0, held_before + count)
        if holding.queue is not None:
            requests, queue, ledger = holding.workload.pod_sets[index].requests, holding.queue, self.ledger
            ledger.grant(queue, of_pods(flavor, requests, count))
            ledger.hold(queue, of_pods(flavor, requests, waiting[flavor] - held_before))
            ledger.go(queue, of_pods(flavor, requests, holding.going(index, flavor) - going))
        return Pods(index, flavor, abs(count), abs(waiting[flavor] - held_before))
