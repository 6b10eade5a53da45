"""Which Workloads a Plan speaks of, and what it says to each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from tidegate.controller.kinds import Key
from tidegate.controller.told.workloads import News
from tidegate.scheduler import Plan
from tidegate.scheduler import Waiting as SeenWaiting


def key_of_name(name: str) -> Key:
    """namespace/name, apart."""
    namespace, _, rest = name.partition("/")
    return namespace, rest


def keys_of(plan: Plan) -> set[Key]:
    """Workloads whose grant a Plan changes."""
    given = {grant.workload for grant in plan.grants} | {start.workload for start in plan.starts}
    taken = {eviction.workload for eviction in plan.evictions} | {shrink.workload for shrink in plan.shrinks}
    return {key_of_name(name) for name in given | taken}


def parts_of(plan: Plan) -> dict[Key, tuple[Plan, ...]]:
    """What a Plan gives to and takes from each Workload, apart."""
    parts: dict[Key, tuple[Plan, ...]] = defaultdict(tuple)
    for grant in plan.grants:
        parts[key_of_name(grant.workload)] += (Plan(grants=(grant,)),)
    for shrink in plan.shrinks:
        parts[key_of_name(shrink.workload)] += (Plan(shrinks=(shrink,)),)
    for eviction in plan.evictions:
        parts[key_of_name(eviction.workload)] += (Plan(evictions=(eviction,)),)
    return dict(parts)


def news_of(plan: Plan, told: set[Key]) -> dict[Key, News]:
    """What a Plan says to each Workload. Reasons are there when it has a report."""
    news: dict[Key, News] = defaultdict(News)
    if plan.standings:
        reasons: dict[Key, list[SeenWaiting]] = defaultdict(list)
        for each in plan.waiting:
            reasons[key_of_name(each.workload)].append(each)
        for key in told | reasons.keys():
            news[key] = News(waiting=tuple(reasons.get(key, ())))
    for shrink in plan.shrinks:
        key = key_of_name(shrink.workload)
        news[key] = replace(news[key], shrink=shrink)
    for eviction in plan.evictions:
        key = key_of_name(eviction.workload)
        news[key] = replace(news[key], eviction=eviction)
    return dict(news)
