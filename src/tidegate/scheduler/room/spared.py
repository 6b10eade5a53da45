"""Spared: what was taken and is not needed after all goes back where it was, before the plan is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from itertools import chain

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.room.draft import Draft
from tidegate.scheduler.room.taken import Pods, Taken, total_of
from tidegate.scheduler.room.victims import Unit, surplus_units
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import TreeNode

_ACROSS = (Rule.FAIR_SHARE, Rule.LOWER_PRIORITY)


def give_back_what_was_not_needed(draft: Draft, of: Iterable[Taken]) -> list[Holding]:
    """Of what was taken for one, or had to go, what was taken later for another may have been enough for both. Who is
    least above what their queue deserves gets theirs back first: the order of victims, the other way round; but nobody
    before others who gave for their Queue, if it would then hold more than it deserves. Those who have theirs again."""
    found: list[Holding] = []
    newest_first = list(of)[::-1]
    takers = draft.given_across() if len(newest_first) > 1 else ()
    for taken in sorted(newest_first, key=lambda one: (_overreaches(one, draft, takers), _above(one, draft))):
        queue = taken.holding.queue
        instead = _got_instead(taken)
        for_nobody = taken.needed_by is None and taken.rule is not Rule.OVER_QUOTA
        if for_nobody or queue is None or instead is None:
            continue
        if not instead and not taken.holding.waits_to_start and _is_too_much(total_of(taken), queue, draft):
            continue
        before = draft.ledger.crowding(queue)
        given_up = draft.give_up(taken.holding, instead)
        draft.undo(taken)
        if draft.ledger.is_crowded(queue, before):
            draft.take_again(taken)
            draft.put_back(taken.holding, given_up)
        else:
            found.append(taken.holding)
            if taken.rule is Rule.OVER_QUOTA:
                draft.stays[taken] = None
    return found + [taken.holding for taken in newest_first if taken in draft.taken and _stays(taken, draft)]


def _is_too_much(need: Need, queue: TreeNode, draft: Draft) -> bool:
    """Whether more would be granted with this than there is: most often that can be told without trying."""
    granted = draft.ledger.granted
    return any(granted[node.index][axis] + amount > node.most[axis] for node in queue.path for axis, amount in need)


def give_back_rather_than_more(draft: Draft, given: Iterable[Holding]) -> list[Holding]:
    """A node for which others gave may hold more than it deserves only of what cost nobody anything. So what somebody
    below it got last goes, step by step, and what they got before that, until it holds no more; and if it still does,
    what had to go and could stay only after those others gave. If then some of them could have theirs again they have
    it. Those who lost something, the one for whom others gave before all, or got it."""
    newest_first = list(given)[::-1]
    for node, taken in list(draft.given_across().items()):
        below = [one for one in newest_first if _is_below(node, one) and one.gained]
        askers = {one.needed_by for one in taken}
        floors = ((one, None) for one in below if one.workload.name in askers)
        stays = ((one.holding, one) for one in list(draft.stays) if _is_below(node, one.holding) and _is_there(one))
        gone: list[tuple[Holding, bool, Collection[Pods]]] = []
        again: list[Taken] = []
        lasts: Iterator[tuple[Holding, Unit | Taken | None]] = chain(_last_steps(below), floors, stays)
        for holding, last in lasts:
            if draft.ledger.shares[node.index] <= draft.deserved.share(node):
                break
            was_admitted = holding.admitted
            if isinstance(last, Taken):
                again.append(draft.take_again(last))
            else:
                pods = draft.withdraw(holding, floor=True) if last is None else draft.give_up(holding, last)
                gone.append((holding, was_admitted, pods))
            if back := give_back_what_was_not_needed(draft, _taken_outside(node, draft)):
                lost = [one for one, _, some in reversed(gone) if some]
                return [*lost, *(one.holding for one in again), *back]
        for one in reversed(again):
            draft.undo(one)
            draft.stays[one] = None
        for holding, was_admitted, some in reversed(gone):
            draft.put_back(holding, some)
            holding.admitted = was_admitted
    return []


def _taken_outside(node: TreeNode, draft: Draft) -> list[Taken]:
    """What others gave, for whomsoever; but what those below the node gave each other does not make it hold more."""
    return [
        one
        for one in draft.taken
        if one.rule in _ACROSS and one.holding.queue is not None and node not in one.holding.queue.path
    ]


def _is_below(node: TreeNode, holding: Holding) -> bool:
    return holding.queue is not None and node in holding.queue.path


def _is_there(taken: Taken) -> bool:
    """Whether its holder still has what it was to give."""
    holding = taken.holding
    if not holding.admitted or any(holding.granted[one.index].get(one.flavor, 0) < one.count for one in taken.pods):
        return False
    return not taken.evicts or sum(one.count for one in taken.pods) == sum(map(sum, map(dict.values, holding.granted)))


def _last_steps(holdings: Iterable[Holding]) -> Iterator[tuple[Holding, Unit]]:
    """What this very plan gave them above their floors, as long as the one before was given up."""
    for holding in holdings:
        while unit := next((one for one in surplus_units(holding) if _is_new(holding, one)), None):
            yield holding, unit


def _is_new(holding: Holding, unit: Unit) -> bool:
    before = holding.workload.pod_sets
    return all(holding.granted[at][flavor] - before[at].granted.get(flavor, 0) >= count for at, flavor, count in unit)


def _stays(taken: Taken, draft: Draft) -> bool:
    """Who lost pods of one flavor and has new ones of another loses those instead, where its own may stay."""
    holding, stayed = taken.holding, False
    if taken.evicts or holding.queue is None or taken.needed_by is None:
        return False
    for some in taken.pods:
        given = holding.workload.pod_sets[some.index].granted
        for flavor, count in sorted(holding.granted[some.index].items()):
            if flavor == some.flavor or count - given.get(flavor, 0) < some.count:
                continue
            before = draft.ledger.crowding(holding.queue)
            instead = draft.give_up(holding, [(some.index, flavor, some.count)])
            draft.put_back(holding, [some])
            if draft.ledger.is_crowded(holding.queue, before):
                draft.give_up(holding, [(some.index, some.flavor, some.count)])
                draft.put_back(holding, instead)
            else:
                taken.pods = tuple(other for other in taken.pods if other is not some) + instead
                stayed = True
                break
    return stayed


def _overreaches(taken: Taken, draft: Draft, takers: Collection[TreeNode]) -> bool:
    """Whether a node for which others gave would hold more than it deserves with this."""
    if not takers or taken.holding.queue is None:
        return False
    own, share_with, due = total_of(taken), draft.ledger.share_with, draft.deserved.share
    return any(node in takers and share_with(node, own) > due(node) for node in taken.holding.queue.path)


def _above(taken: Taken, draft: Draft) -> Fraction:
    """How far its Queue is above what it deserves."""
    queue = taken.holding.queue
    if queue is None or queue.parent is None:
        return Fraction(0)
    return Fraction(draft.ledger.shares[queue.index] - draft.deserved.share(queue), queue.parent.unit)


def _got_instead(taken: Taken) -> Unit | None:
    """Pods its holder was given meanwhile, of other flavors, and has to give up to get these back; None if it is
    not there to get them, or has as many again."""
    holding = taken.holding
    if taken.evicts:
        return None if holding.admitted else []
    lost: dict[int, int] = {}
    for some in taken.pods:
        lost[some.index] = lost.get(some.index, 0) + some.count
    instead: Unit = []
    for at, pods in lost.items():
        pod_set = holding.workload.pod_sets[at]
        flavors = {some.flavor for some in taken.pods if some.index == at}
        too_many = max(0, holding.count(at) + pods - pod_set.wanted)
        too_many += holding.odd(at, holding.count(at) + pods - too_many)
        if not pod_set.mixes:  # All of another flavor, then.
            too_many = max(too_many, sum(n for flavor, n in holding.granted[at].items() if flavor not in flavors))
        for flavor, count in sorted(holding.granted[at].items(), key=lambda held: (held[0] in flavors, held[0])):
            new = min(too_many, count - pod_set.granted.get(flavor, 0))
            if new > 0:
                instead.append((at, flavor, new))
                too_many -= new
        if too_many:
            return None
    return instead if holding.admitted else None
