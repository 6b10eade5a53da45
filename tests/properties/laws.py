"""The laws, as checks of a state, or of a Plan against the state it was made from."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from tests.scheduler.world import World
from tidegate.model.resources import Resources
from tidegate.scheduler import Plan, Rule, plan
from tidegate.scheduler.tree.cells import Cell
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

Cells = Counter[Cell]


def of_pods(flavor: str, requests: Resources, count: int) -> dict[Cell, int]:
    return {(flavor, resource): amount * count for resource, amount in requests.items()}


def bound_of(node: TreeNode, cell: Cell) -> int | None:
    """How much of a cell a node may hold; None: as much as the nodes above it."""
    return node.bounds.get(cell) if node.parent else node.bounds.get(cell, 0)


def share(node: TreeNode, cells: dict[Cell, int]) -> Fraction:
    """The share of a node that holds this much, as the design defines it."""
    assert node.parent is not None
    excess: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for (flavor, resource), amount in cells.items():
        excess[resource] += max(0, amount - node.guarantees.get((flavor, resource), 0))
    for (_, resource), amount in node.parent.capacities.items():
        whole[resource] += amount
    return max((Fraction(some, whole[name] or 1) for name, some in excess.items()), default=Fraction(0)) / node.weight


def holds(world: World) -> dict[str, Cells]:
    """What is granted below every node of the tree."""
    tree = Tree(world.snapshot())
    total: dict[str, Cells] = {name: Counter() for name in tree.nodes}
    for workload in world.workloads.values():
        for pod_set in workload.pod_sets:
            for flavor, count in pod_set.granted.items():
                for node in tree.nodes[workload.queue].path:
                    total[node.name].update(of_pods(flavor, pod_set.requests, count))
    return total


def nothing_is_over_committed(world: World) -> None:
    """Law 1, the first half."""
    tree, held = Tree(world.snapshot()), holds(world)
    for name, node in tree.nodes.items():
        for cell, amount in held[name].items():
            bound = bound_of(node, cell)
            assert bound is None or amount <= bound, (name, cell, amount, bound)
        for resource, limit in node.limits.items():
            assert sum(amount for (_, one), amount in held[name].items() if one == resource) <= limit


def floors_are_whole(world: World) -> None:
    """Law 1, the second half; and growth comes in whole steps, in one flavor where pods cannot mix."""
    for workload in world.workloads.values():
        for pod_set in workload.pod_sets:
            count = sum(pod_set.granted.values())
            if workload.admitted_at is None:
                assert count == 0
            else:
                assert count >= pod_set.least
                assert count <= pod_set.wanted
                assert (count + pod_set.ended - pod_set.floor) % pod_set.step == 0 or not count
            if not pod_set.mixes:
                assert len([flavor for flavor, some in pod_set.granted.items() if some]) <= 1


def taking_has_a_reason(world: World, decided: Plan) -> None:
    """Law 2: whoever needed room is granted something in the same Plan; shrinking leaves the floor whole."""
    granted = {grant.workload for grant in decided.grants}
    for taken in (*decided.shrinks, *decided.evictions):
        assert taken.causes
        for cause in taken.causes:
            if cause.rule in (Rule.FAIR_SHARE, Rule.LOWER_PRIORITY, Rule.WITHIN_QUEUE, Rule.FLOOR_BEFORE_SURPLUS):
                assert cause.needed_by in granted, taken


def nothing_taken_was_needless(before: World, decided: Plan) -> None:
    """Law 2: giving any one victim everything back would over-commit something."""
    tree = Tree(before.snapshot())
    after = holds(before)
    changes = [(change, 1) for change in decided.grants]
    changes += [(change, -1) for change in (*decided.shrinks, *decided.evictions)]  # type: ignore[misc]
    for change, sign in changes:
        for node in tree.nodes[before.workloads[change.workload].queue].path:
            for cell, amount in _amounts(before, change.workload, change.pods).items():
                after[node.name][cell] += amount * sign
    for taken in (*decided.shrinks, *decided.evictions):
        if any(cause.needed_by is None for cause in taken.causes):
            continue
        back = _amounts(before, taken.workload, taken.pods)
        path = tree.nodes[before.workloads[taken.workload].queue].path
        assert any(
            (bound := bound_of(node, cell)) is not None and after[node.name][cell] + amount > bound
            for node in path
            for cell, amount in back.items()
        ) or any(node.limits or node.keeps for node in tree.nodes.values()), taken


def fair_reclaim_stops_at_what_is_deserved(world: World, decided: Plan) -> None:
    """Law 3: a queue from which only FairShare took still has at least the share it deserves."""
    nodes = Tree(world.snapshot()).nodes
    rules: dict[str, set[Rule]] = {}
    for taken in (*decided.shrinks, *decided.evictions):
        by_queue = rules.setdefault(world.workloads[taken.workload].queue, set())
        by_queue.update(cause.rule for cause in taken.causes)
    for queue, by in rules.items():
        if by == {Rule.FAIR_SHARE}:
            standing = decided.standings[queue]
            cells = {(flavor, name): n for flavor, some in standing.deserved.items() for name, n in some.items()}
            assert standing.share >= share(nodes[queue], cells), (queue, standing)


def _amounts(world: World, name: str, counts: object) -> Cells:
    total: Cells = Counter()
    for pod_set in world.workloads[name].pod_sets:
        for flavor, count in counts.get(pod_set.name, {}).items():  # type: ignore[attr-defined]
            total.update(of_pods(flavor, pod_set.requests, count))
    return total


def everybody_who_waits_knows_why(world: World, decided: Plan) -> None:
    """Every workload that is not admitted has a reason."""
    reasons = {waiting.workload for waiting in decided.waiting}
    for name, workload in world.workloads.items():
        if workload.admitted_at is None and not any(grant.workload == name for grant in decided.grants):
            assert name in reasons, name


def the_order_of_reading_does_not_matter(world: World) -> None:
    """Law 5."""
    turned = World()
    for mapping in ("nodes", "flavors", "cluster_queues", "queues", "workloads"):
        setattr(turned, mapping, dict(reversed(list(getattr(world, mapping).items()))))
    assert plan(turned.snapshot(), world.now) == plan(world.snapshot(), world.now)
