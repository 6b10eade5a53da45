"""The line: which ask is next.

Within a Queue: priority, then floors before growth, floors by age, growth by the workload's own smallest share, then
age. Between the children of a ClusterQueue its policy decides; each child stands there with the ask that is next
below it.

Only the path of a Queue changes when something happens in it, so every ClusterQueue keeps its children in a heap;
entries that are out of date are recognised by their version and dropped when they come up. An ask that did not fit is
set aside, and with it, without being looked at, every ask of the same Queue that does not differ from it in any way
that matters: in a cycle room never grows for those who wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from heapq import heappop, heappush, heapreplace
from typing import Any

from tidegate.scheduler.amounts import Cells
from tidegate.scheduler.asks import Ask, floor_of, growth_of
from tidegate.scheduler.draft import Draft
from tidegate.scheduler.fairness import dominant, share
from tidegate.scheduler.fit import choices, place, placed
from tidegate.scheduler.holding import Holding
from tidegate.scheduler.policies import DRF, Candidate, Policies
from tidegate.scheduler.tree import TreeNode

Key = tuple[Any, ...]


class Line:
    """All asks of a draft, in the order of who is next."""

    def __init__(self, draft: Draft, policies: Policies, pass_over: Callable[[Ask, Ask | None], None]) -> None:
        self.draft = draft
        self.policies = policies
        self.pass_over = pass_over
        """Told of every ask that is set aside unseen, and of the one like it that did not fit (None: it just gave
        way)."""
        self._asks: dict[str, list[tuple[Key, Ask]]] = defaultdict(list)
        self._need: dict[str, Cells] = {}
        self._next: dict[str, Ask | None] = {}
        self._version: dict[str, int] = defaultdict(int)
        self._children: dict[str, list[tuple[Key, str, int]]] = defaultdict(list)
        self._failed: dict[str, dict[Hashable, Ask]] = defaultdict(dict)
        self._blocked: dict[str, Ask] = {}

    def join(self, holding: Holding, *, impatient: bool = False) -> None:
        """Put a workload's asks in line: its floor, or once it is admitted the next steps of growth."""
        if not holding.admitted:
            self._add(floor_of(holding, impatient=impatient))
            return
        for index in range(len(holding.granted)):
            ask = growth_of(holding, index)
            if ask is not None:
                self._add(ask)

    def _add(self, ask: Ask) -> None:
        heappush(self._asks[ask.queue.name], (self._key(ask), ask))

    def open(self) -> None:
        """Everybody has joined: set up the order from the Queues to the roots."""
        for root in self.draft.tree.roots:
            for node in reversed(list(root.below())):
                self._renew(node)

    def next(self) -> Ask | None:
        """Whose turn it is."""
        return next((ask for root in self.draft.tree.roots if (ask := self._next.get(root.name))), None)

    def granted(self, ask: Ask) -> None:
        """The ask is served: what the workload wants next takes its place in line."""
        self._drop(ask)
        if ask.is_floor:
            self.join(ask.holding)
        elif (more := growth_of(ask.holding, ask.parts[0].index)) is not None:
            self._add(more)
        self.changed(ask.queue)

    def set_aside(self, ask: Ask) -> None:
        """It does not fit: those behind it may pass, except those that are just like it."""
        self._drop(ask)
        self._failed[ask.queue.name][ask.shape] = ask
        self.changed(ask.queue)

    def block(self, ask: Ask) -> None:
        """It does not fit and may not be passed: nobody in its ClusterQueue is served any more."""
        self._drop(ask)
        assert ask.queue.parent is not None
        self._blocked[ask.queue.parent.name] = ask
        for sibling in ask.queue.parent.children:
            if sibling.is_queue:
                self.changed(sibling)

    def changed(self, queue: TreeNode) -> None:
        """What a Queue holds or asks for is different: weigh its path again."""
        for node in queue.path:
            self._renew(node)

    def _drop(self, ask: Ask) -> None:
        _, first = heappop(self._asks[ask.queue.name])
        assert first is ask

    def _renew(self, node: TreeNode) -> None:
        ask = self._head(node) if node.is_queue else self._first_child(node)
        self._next[node.name] = ask
        self._version[node.name] += 1
        if ask is not None and node.parent is not None:
            entry = (self._child_key(node, ask), node.name, self._version[node.name])
            heappush(self._children[node.parent.name], entry)

    def _first_child(self, node: TreeNode) -> Ask | None:
        heap = self._children[node.name]
        while heap:
            _, child, version = heap[0]
            if self._version[child] == version:
                return self._next[child]
            heappop(heap)
        return None

    def _head(self, queue: TreeNode) -> Ask | None:
        """The first ask of a Queue that is worth looking at."""
        heap, failed = self._asks[queue.name], self._failed[queue.name]
        assert queue.parent is not None
        blocker = self._blocked.get(queue.parent.name)
        while heap:
            key, ask = heap[0]
            fresh = self._key(ask)
            if fresh != key:  # Growth is ordered by what the workload holds, which may have changed since.
                heapreplace(heap, (fresh, ask))
                continue
            gave_way = ask.name in self.draft.gave_way
            if blocker is None and not gave_way and ask.shape not in failed:
                self._need[queue.name] = self._need_of(ask)
                return ask
            heappop(heap)
            self.pass_over(ask, blocker or (None if gave_way else failed[ask.shape]))
        return None

    def _need_of(self, ask: Ask) -> Cells:
        """What it would take, for weighing it: where it fits, or else in the flavors it would like best."""
        placement = place(ask, self.draft.ledger)
        if placement is None and (flavors := choices(ask, self.draft.ledger)) is not None:
            placement = placed(ask, flavors)
        return placement.need if placement else {}

    def _key(self, ask: Ask) -> Key:
        if ask.is_floor:
            return (-ask.priority, False, ask.created, ask.name)
        part = ask.parts[0]
        held = ask.holding.count(part.index)
        return (
            -ask.priority,
            True,
            self._workload_share(ask),
            ask.created,
            ask.name,
            Fraction(held, part.pod_set.wanted),
            part.index,
        )

    def _workload_share(self, ask: Ask) -> Fraction:
        """The dominant share of a workload within its Queue, with the step counted."""
        total: dict[str, int] = {}
        step = ask.parts[0]
        for index, pod_set in enumerate(ask.holding.workload.pod_sets):
            pods = ask.holding.count(index) + (step.count if index == step.index else 0)
            for resource, amount in pod_set.requests.items():
                total[resource] = total.get(resource, 0) + amount * pods
        return dominant(total, ask.queue.total_capacity)

    def _child_key(self, node: TreeNode, ask: Ask) -> Key:
        """Where a child stands among its siblings, with the ask that is next below it."""
        assert node.parent is not None
        granted = self.draft.ledger.granted[node.name]
        now = share(node, granted)
        candidate = Candidate(
            name=node.name,
            weight=node.weight,
            share=now if ask.impatient else share(node, granted, self._need[ask.queue.name]),
            share_now=now,
            workload=ask.name,
            priority=ask.priority,
            created=ask.created,
            pods=ask.pods,
            is_floor=ask.is_floor,
        )
        policy = self.policies.get(node.parent.rules.policy) or self.policies[DRF]
        return (policy.order(candidate), ask.created, node.name)
