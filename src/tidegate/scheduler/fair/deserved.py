"""Deserved: what every node would hold if the whole capacity were handed out afresh to everybody who wants something.

It depends on demand, configuration and capacity, never on who happens to hold what: that is what lets room be made
without ping-pong.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.model.kinds.cluster_queue import Stop
from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler.fair.demand import same_demand, standing, wanted
from tidegate.scheduler.fair.fill import Fill
from tidegate.scheduler.fair.mending import Mending, can_be_mended
from tidegate.scheduler.fair.rewinding import Rewinding
from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.line.shapes import every_part, hosts
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Snapshot, Workload
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class Deserved:
    """What every node deserves, worked out when somebody asks and demand has changed since."""

    def __init__(self, tree: Tree, policies: Policies, snapshot: Snapshot, *, mends: bool = True) -> None:
        """`mends`: by the shorter way, where that can be gone; without it the same is found out by the longer one."""
        self.tree = tree
        self.settled = False
        """Whether what is deserved is known; it is worked out when somebody asks."""
        self._demand: dict[str, Workload] = {}
        self._requests = {name: queue.request for name, queue in snapshot.queues.items() if queue.request}
        self._totals: dict[str, Resources] = dict.fromkeys(self._requests, NOTHING)
        self._policies = policies
        self._told = [0] * tree.size
        self._beginning: Sequence[Ask] = ()
        """What handing out begins with, as far as that is known while demand is what it is."""
        self._hand_out(Mending if mends and can_be_mended(tree, policies) else Rewinding)

    def _hand_out(self, keeping: type[Mending | Rewinding]) -> None:
        """From empty, to all who want something."""
        self.settled = False
        self._fill = Fill(self.tree, self._policies, self._demand)
        self._fill.everything_moved()
        self._kept = keeping(self._fill)
        for workload in self._demand.values():
            self._fill.join(workload)

    def _join(self, workload: Workload) -> None:
        self._demand[workload.name] = workload
        if isinstance(self._kept, Mending) and self._has_a_choice(workload):
            self._hand_out(Rewinding)
        else:
            self._fill.join(workload)

    def _has_a_choice(self, workload: Workload) -> bool:
        """Whether some of its pods could be of several flavors: what it takes then depends on who came before it."""
        queue = self.tree.nodes[workload.queue]
        if len(queue.flavors) < 2:
            return False
        return any(len(tuple(hosts(part, queue, self.tree.flavors))) > 1 for part in every_part(workload))

    def want(self, workload: Workload) -> None:
        """A workload wants something, or something else than before."""
        before = self._demand.get(workload.name)
        if before is not None and same_demand(before, workload):
            return
        if before is not None:
            self.forget(before.name)
        if not (self.settled and self._fill.would_stand_behind(workload)):
            self._open(workload)
        self._count(workload, 1)
        self._join(workload)

    def forget(self, name: str) -> None:
        """It wants nothing any more."""
        workload = self._demand.get(name)
        if workload is None:
            return
        if not (self.settled and self._fill.stands_behind(name)):
            self._open(workload)
        self._fill.leave(workload)
        self._count(workload, -1)
        del self._demand[name]

    def share(self, node: TreeNode) -> int:
        """The share of a node that holds just what it deserves, in its parent's units."""
        if not self.settled:
            self._settle()
        return self._fill.ledger.shares[node.index]

    def amounts(self, node: TreeNode) -> list[int]:
        """By axis."""
        if not self.settled:
            self._settle()
        return self._fill.ledger.granted[node.index]

    def begin_with(self, asks: Sequence[Ask], *, asked_by: int) -> None:
        """What a cycle grants from empty, as long as there is room for all, is what handing out begins with, if all who
        want something stand in its line: then it is not found out twice, should somebody ask."""
        if asked_by == len(self._demand) and not self._requests:
            self._beginning = asks

    def news(self) -> list[TreeNode]:
        """The Queues of which the share they deserve is another than when this was last asked. What is mended is mostly
        taken and given again."""
        if not self.settled:
            self._settle()
        moved, self._fill.moved = self._fill.moved, set()
        shares, told = self._fill.ledger.shares, self._told
        news = [queue for queue in moved if shares[queue.index] != told[queue.index]]
        for queue in news:
            told[queue.index] = shares[queue.index]
        return news

    def moves(self) -> set[TreeNode]:
        """The same for who asks how far somebody is above what they deserve."""
        if not self.settled:
            self._settle()
        return self._fill.ledger.news()

    def _open(self, workload: Workload) -> None:
        """Demand changes."""
        self.settled = False
        self._beginning = ()
        self._kept.disturb(workload)

    def _settle(self) -> None:
        for name, request in self._requests.items():
            self._stand(name, request)
        if self._beginning and isinstance(self._kept, Mending):
            self._kept.begin_with(self._beginning)
        self._kept.run()
        self.settled = True

    def _count(self, workload: Workload, times: int) -> None:
        if workload.queue in self._totals:
            self._totals[workload.queue] += wanted(workload) * times

    def _stand(self, name: str, request: Resources) -> None:
        """A Queue's standing request, as a workload that comes last."""
        node = self.tree.nodes.get(name)
        if node is None or node.stop is not Stop.NONE:
            return
        workload = standing(name, (request - self._totals[name]).positive(), node)
        before = self._demand.get(workload.name)
        if before is not None:
            if same_demand(before, workload):
                return
            self._kept.disturb(before)
            self._fill.leave(before)
        self._kept.disturb(workload)
        self._join(workload)
