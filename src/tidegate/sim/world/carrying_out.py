"""Carries a Plan out: grants become pods, what is taken back goes, and the timeline says who needed the room."""

from __future__ import annotations

from functools import partial

from tidegate.scheduler import Cause, Eviction, Grant, Plan, Rule, Shrink, Start
from tidegate.sim.world.application import Application
from tidegate.sim.world.happenings import counted
from tidegate.sim.world.pods import Phase
from tidegate.sim.world.world import World

_ITS_OWN_WISH = {Rule.NOT_WANTED, Rule.INACTIVE}
"""What is given back because the application's owner said so. Nobody was shrunk or evicted then."""


def carry_out(plan: Plan, world: World) -> None:
    """Do all that a Plan says, at once: first what is taken, then what is given."""
    for eviction in plan.evictions:
        _evict(eviction, world)
    for shrink in plan.shrinks:
        _shrink(shrink, world)
    for grant in plan.grants:
        _grant(grant, world)
    for start in plan.starts:
        _start(start, world)


def _evict(eviction: Eviction, world: World) -> None:
    application = world.applications[eviction.workload]
    for group in application.pod_groups:
        for batch in list(group.in_phase(Phase.HELD, Phase.STARTING, Phase.RUNNING)):
            world.take_back(application, group, batch, batch.count)
    application.admitted_at = None
    application.waiting_since = world.now
    if not _wished(eviction.causes):
        application.evictions += 1
        application.requeue_at = eviction.requeue_at
    application.changed()
    world.tell("evict", application.name, _because(counted(eviction.pods), eviction.causes))


def _shrink(shrink: Shrink, world: World) -> None:
    application = world.applications[shrink.workload]
    for pod_set, by_flavor in shrink.pods.items():
        group = application.group(pod_set)
        for flavor, count in by_flavor.items():
            for batch, some in list(group.newest(flavor, count)):
                world.take_back(application, group, batch, some)
    if not _wished(shrink.causes):
        application.shrinks += 1
    application.changed()
    world.tell("shrink", application.name, _because(f"by {counted(shrink.pods)}", shrink.causes))


def _grant(grant: Grant, world: World) -> None:
    application = world.applications[grant.workload]
    if grant.admits:
        application.admitted_at = application.last_admitted_at = world.now
        if application.first_admitted_at is None:
            application.first_admitted_at = world.now
        _ends_in_time(application, world)
    for pod_set, by_flavor in grant.pods.items():
        group = application.group(pod_set)
        held = grant.held.get(pod_set, {})
        for flavor, count in by_flavor.items():
            waiting = held.get(flavor, 0)
            if waiting:
                group.enter(flavor, waiting, Phase.HELD, world.now)
            if count > waiting:
                world.start(application, group, flavor, count - waiting)
    application.changed()
    detail = counted(grant.pods)
    if any(count for by_flavor in grant.held.values() for count in by_flavor.values()):
        detail += f"; {counted(grant.held)} once others are gone"
    world.tell("admit" if grant.admits else "grow", application.name, detail)


def _start(start: Start, world: World) -> None:
    application = world.applications[start.workload]
    for pod_set, by_flavor in start.pods.items():
        group = application.group(pod_set)
        for flavor, count in by_flavor.items():
            for batch, some in list(group.held(flavor, count)):
                group.take(batch, some)
                world.start(application, group, flavor, some)
    world.tell("start", application.name, counted(start.pods))


def _ends_in_time(application: Application, world: World) -> None:
    """A workload with `maxRunSeconds` surely ends that long after it was admitted."""
    if application.max_run_seconds is not None:
        ends = world.now + application.max_run_seconds
        world.agenda.enter(ends, partial(time_is_up, application, world, world.now))


def time_is_up(application: Application, world: World, admitted_at: int) -> None:
    """It ends, if it is still the run that was admitted then."""
    if application.admitted_at == admitted_at and application.finished_at is None:
        world.finish(application)


def _wished(causes: tuple[Cause, ...]) -> bool:
    return bool(causes) and all(cause.rule in _ITS_OWN_WISH for cause in causes)


def _because(detail: str, causes: tuple[Cause, ...]) -> str:
    told = (f"{cause.rule}" + (f" for {cause.needed_by}" if cause.needed_by else "") for cause in causes)
    return f"{detail} ({', '.join(told)})"
