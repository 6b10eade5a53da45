"""Turns: which of the children of a ClusterQueue is next, and below it, and so down to a Queue and its ask.

A ClusterQueue keeps its children in a heap by their policy's order, one heap per ceiling under which it was asked. A
child that changed is weighed again when a heap is next looked at, so a turn costs the paths of the Queues in which
something happened since, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.line.ceilings import Ceiling, Ceilings
from tidegate.scheduler.policies import DRF, ByPriority, Candidate, Drf, Fifo, Policies
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import NO_BOUND, TreeNode
from tidegate.scheduler.tree.tree import Tree

_MOST_VIEWS = 8

Head = Callable[[TreeNode, Ceiling], Ask | None]
"""The ask of a Queue that is next under a ceiling."""
Asking = Sequence[Collection[object]]
"""By index of a Queue: the rows in which somebody of it stands."""


_Place = tuple[Any, int, int, int, TreeNode, Ask | None]
"""Where a child stands among its siblings: its policy's order, the age of its ask, its place by name; a number that no
other has; which child it is, and with which ask (None: that is still to be found out, and it does not stand further
ahead). It is flat since heaps compare places thousands of times a cycle."""


class _View:
    """The children of a ClusterQueue in order, as they were when it was last looked at."""

    __slots__ = ("heap", "missed", "places", "seen")

    def __init__(self, seen: int) -> None:
        self.heap: list[_Place] = []
        """With places that are out of date."""
        self.places: dict[TreeNode, _Place] = {}
        self.seen = seen
        """How many changes below it had happened by then."""
        self.missed: dict[TreeNode, None] = {}
        """Children that changed since, as far as the list of changes does not tell any more."""


class Turns:
    """Who is next, of all that stand in line."""

    def __init__(
        self,
        tree: Tree,
        ledger: Ledger,
        policies: Policies,
        ceilings: Ceilings,
        head: Head,
        *,
        asking: Asking,
        only_what_fits: bool,
    ) -> None:
        self.tree = tree
        self.ledger = ledger
        self._policies = [_policy(node, policies) for node in tree.in_order]
        self._ceilings = ceilings
        self._bounded = ceilings.bounded
        self._head = head
        self._asking = asking
        self._only_what_fits = only_what_fits
        self._views: list[dict[Ceiling, _View]] = [{} for _ in range(tree.size)]
        self._changes: list[list[TreeNode]] = [[] for _ in range(tree.size)]
        self._forgotten = [0] * tree.size
        """How many changes are not in the list any more."""
        self._placed = 0
        self._keepers = [
            (node, [one.index for one in node.below() if one.is_queue]) for node in tree.in_order if node.kept
        ]
        """Who keeps room for itself, and the Queues it is kept for."""
        self.in_vain = False
        """Whether somebody had a turn and did not fit."""
        self.ceiling = ceilings.none
        """What stood above the ask that was next."""

    def next(self) -> Ask | None:
        """Whose turn it is."""
        for root in self.tree.roots:
            above = self._ceilings.over(root)
            ceiling = self._ceilings.at(root, above) if self._bounded[root.index] else above
            if self._only_what_fits and ceiling is not self._ceilings.none and self._ceilings.shuts_out(ceiling):
                continue
            if self.in_vain and self._only_what_fits and self._keepers and self._is_closed(root):
                continue
            foremost = self._foremost(root, ceiling)
            if foremost is not None:
                self.ceiling = ceiling
                return foremost[5]
        return None

    def _is_closed(self, root: TreeNode) -> bool:
        """Whether nobody below a root fits, since what is left is kept for others: ceilings do not tell."""
        keepers = [(node, queues) for node, queues in self._keepers if node.root is root]
        inner = self.ledger.inner
        for axis in self._ceilings.used_up(root):
            idle = (queues for node, queues in keepers if node.kept and inner[node.index][axis] < node.kept[axis])
            if not any(self._asking[queue] for queues in idle for queue in queues):
                return True
        return False

    def changed(self, queue: TreeNode) -> None:
        """What a Queue asks for, or holds, is different."""
        node, changes = queue, self._changes
        while node.parent is not None:
            changes[node.parent.index].append(node)
            node = node.parent

    def changes_below(self, node: TreeNode) -> int:
        """How often something below a ClusterQueue was different."""
        return self._forgotten[node.index] + len(self._changes[node.index])

    def next_below(self, node: TreeNode) -> tuple[tuple[Any, ...], TreeNode, Ask] | None:
        """Which child of a node would be next if there were room: where it stands, which it is, and with what. A Queue
        is its own child."""
        ceiling = self._ceilings.whole(node)
        if node.is_queue:
            ask = self._head(node, ceiling)
            return None if ask is None else ((), node, ask)
        foremost = self._foremost(node, ceiling)
        if foremost is None:
            return None
        *key, _, child, ask = foremost
        assert ask is not None
        return tuple(key), child, ask

    def all_below(self, node: TreeNode) -> list[tuple[tuple[Any, ...], TreeNode, Ask]]:
        """The same of every child of a ClusterQueue where a policy decides, in no order."""
        ceiling = self._ceilings.whole(node)
        self._foremost(node, ceiling)
        places = self._views[node.index][ceiling].places.values()
        return [((order, age, name), child, ask) for order, age, name, _, child, ask in places if ask is not None]

    def _first(self, node: TreeNode, above: Ceiling) -> Ask | None:
        ceiling = self._ceilings.at(node, above) if self._bounded[node.index] else above
        if node.is_queue:
            return self._head(node, ceiling)
        foremost = self._foremost(node, ceiling)
        return None if foremost is None else foremost[5]

    def _foremost(self, node: TreeNode, ceiling: Ceiling) -> _Place | None:
        index = node.index
        view = self._views[index].get(ceiling) or self._open(node, ceiling)
        heap, places = view.heap, view.places
        head, bounded, is_drf = self._head, self._bounded, self._policies[index] is None
        ledger = self.ledger
        missed = self._missed(node, view)
        if is_drf and ceiling is not self._ceilings.none:
            missed = self._expect(missed, view)
        while True:
            for child in missed:
                at_once = child.is_queue and not bounded[child.index]
                ask = head(child, ceiling) if at_once else self._first(child, ceiling)
                if ask is None:
                    places.pop(child, None)
                    continue
                if not is_drf:
                    order: Any = self._by_policy(child, ask)
                elif ask.kind.impatient:
                    order = ledger.shares[child.index]
                else:
                    order = ledger.share_with(child, ask.need)
                self._placed += 1
                place = places[child] = (order, ask.created, child.by_name, self._placed, child, ask)
                if heap and heap[0][4] is child:  # Nearly always: it is whoever was served.
                    heapreplace(heap, place)
                else:
                    heappush(heap, place)
            if len(heap) > 64 + 4 * len(node.children):
                heap[:] = places.values()
                heapify(heap)
            while heap and ((now := places.get(heap[0][4])) is None or now[3] != heap[0][3]):  # It stands elsewhere.
                heappop(heap)
            if not heap or heap[0][5] is not None:
                return heap[0] if heap else None
            missed = (heap[0][4],)

    def _open(self, node: TreeNode, ceiling: Ceiling) -> _View:
        views = self._views[node.index]
        if len(views) >= _MOST_VIEWS:
            del views[next(iter(views))]
        view = views[ceiling] = _View(self.changes_below(node))
        view.missed = dict.fromkeys(
            [child for child in node.children if not child.is_queue or self._asking[child.index]]
        )
        return view

    def _expect(self, children: Iterable[TreeNode], view: _View) -> Iterable[TreeNode]:
        """With what fits under a ceiling a child stands no further ahead than with the least that anybody asks for.
        What it is takes long to say, and is said when the child comes to be first: most never are. Those who are first
        already."""
        least, ledger = self._ceilings.least, self.ledger
        heap, places = view.heap, view.places
        first = heap[0][4] if heap else None
        at_once = []
        for child in children:
            if child is first:
                at_once.append(child)
            elif child.is_queue and not self._asking[child.index]:
                places.pop(child, None)
            else:
                self._placed += 1
                place = places[child] = (ledger.share_with(child, least), -NO_BOUND, 0, self._placed, child, None)
                heappush(heap, place)
        return at_once

    def _missed(self, node: TreeNode, view: _View) -> Iterable[TreeNode]:
        """The children in which something happened since a view was looked at."""
        changes, forgotten = self._changes[node.index], self._forgotten[node.index]
        seen, now = view.seen, forgotten + len(changes)
        view.seen = now
        if len(changes) > 64 + 2 * len(node.children):
            self._forget_changes(node)
        if view.missed:
            missed, view.missed = view.missed, {}
            return missed | dict.fromkeys(changes[seen - forgotten :])
        if seen == now:
            return ()
        if seen == now - 1:
            return (changes[-1],)
        return dict.fromkeys(changes[seen - forgotten :])

    def _forget_changes(self, node: TreeNode) -> None:
        """The list of changes begins anew; who has not seen all of it keeps what it missed."""
        changes, forgotten = self._changes[node.index], self._forgotten[node.index]
        now = forgotten + len(changes)
        for view in self._views[node.index].values():
            if view.seen < now:
                view.missed.update(dict.fromkeys(changes[view.seen - forgotten :]))
                view.seen = now
        self._forgotten[node.index] = now
        self._changes[node.index] = []

    def weigh(self, queue: TreeNode, ask: Ask) -> Any:
        """What comes before age when a Queue stands among its siblings with this ask."""
        assert queue.parent is not None
        if self._policies[queue.parent.index] is not None:
            return self._by_policy(queue, ask)
        return self.ledger.shares[queue.index] if ask.kind.impatient else self.ledger.share_with(queue, ask.need)

    def _by_policy(self, node: TreeNode, ask: Ask) -> tuple[Any, ...]:
        """What comes before age where a policy decides."""
        assert node.parent is not None
        now = self.ledger.shares[node.index]
        granted = self.ledger.share_with(node, ask.need)
        share = now if ask.row.kind.impatient else granted
        policy = self._policies[node.parent.index]
        # What stays inside a guarantee comes first, whatever the policy: it would be none otherwise.
        if type(policy) is Fifo:
            return (granted > 0, ask.created)
        if type(policy) is ByPriority:  # Among siblings a share can stay an integer.
            return (granted > 0, -ask.kind.priority, share)
        unit = node.parent.unit
        candidate = Candidate(
            name=node.name,
            weight=node.weight,
            share=Fraction(share, unit),
            share_now=Fraction(now, unit),
            workload=ask.name,
            priority=ask.kind.priority,
            created=ask.created,
            pods=ask.row.shape.pods,
            is_floor=ask.kind.is_floor,
        )
        return (granted > 0, policy.order(candidate))


def _policy(node: TreeNode, policies: Policies) -> Any:
    """None for drf, whose order is the share alone and can stay an integer."""
    policy = policies.get(node.rules.policy) or policies[DRF]
    return None if type(policy) is Drf else policy
