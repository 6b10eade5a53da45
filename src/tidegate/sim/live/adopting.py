"""A Snapshot as a World whose clock begins at 0: now. What runs goes on, and ends when it said it would."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tidegate.scheduler import Instant, PodSet, Snapshot, Workload
from tidegate.sim.world import Application, PodGroup, World
from tidegate.sim.world.carrying_out import time_is_up
from tidegate.sim.world.pods import Batch, Phase


@dataclass(frozen=True, slots=True)
class Live:
    """A cluster at a moment."""

    snapshot: Snapshot
    now: Instant
    runs: int | None = None
    """How many seconds pods run, assumed of those whose workload does not say how long it runs at most."""

    def enter(self, world: World) -> None:
        """Put all of it into a world."""
        there = self.snapshot
        world.nodes |= {node.name: node for node in there.nodes}
        world.flavors |= there.flavors
        world.cluster_queues |= there.cluster_queues
        world.queues |= there.queues
        world.namespaces |= there.namespaces
        for workload in there.workloads:
            self._adopt(workload, world)

    def _adopt(self, seen: Workload, world: World) -> None:
        application = Application(
            name=seen.name,
            queue=seen.queue,
            created=seen.created - self.now,
            pod_groups=[self._group(pod_set, seen) for pod_set in seen.pod_sets],
            priority=seen.priority,
            priority_class=seen.missing_class or None,
            missing_class=seen.missing_class,
            active=seen.active,
            user=seen.user,
            groups=seen.groups,
            max_run_seconds=seen.max_run_seconds,
            admitted_at=self._shifted(seen.admitted_at),
            waiting_since=self._shifted(seen.waiting_since),
            requeue_at=self._shifted(seen.requeue_at),
            first_admitted_at=self._shifted(seen.admitted_at),
            last_admitted_at=self._shifted(seen.admitted_at),
            evictions=seen.evictions,
        )
        world.applications[seen.name] = world.waiting_or_running[seen.name] = application
        for group, pod_set in zip(application.pod_groups, seen.pod_sets, strict=True):
            self._place_pods(application, group, pod_set, world)
        if seen.ends_by is not None and application.admitted_at is not None:
            # One that is over its time already is about to be stopped.
            ends = max(1, seen.ends_by - self.now)
            world.agenda.enter(ends, partial(time_is_up, application, world, application.admitted_at))

    def _group(self, pod_set: PodSet, seen: Workload) -> PodGroup:
        return PodGroup(
            name=pod_set.name,
            count=pod_set.count,
            floor=pod_set.floor,
            step=pod_set.step,
            requests=pod_set.requests,
            node_selector=dict(pod_set.node_selector),
            mixes=pod_set.mixes,
            runs=self.runs if seen.max_run_seconds is None else None,
            ended=pod_set.ended,
        )

    def _place_pods(self, application: Application, group: PodGroup, pod_set: PodSet, world: World) -> None:
        """Pods under way: those that wait for others to go, those that run or may start now, those that go."""
        since = application.admitted_at or 0
        for flavor in sorted({*pod_set.granted, *pod_set.present}):
            held = pod_set.held.get(flavor, 0)
            may_run = pod_set.granted.get(flavor, 0) - held
            if held:
                group.enter(flavor, held, Phase.HELD, 0)
            if may_run:
                self._run(application, group, group.enter(flavor, may_run, Phase.RUNNING, since), world)
            if going := max(0, pod_set.present.get(flavor, 0) - may_run):
                batch = group.enter(flavor, going, Phase.GOING, 0)
                world.agenda.enter(max(1, world.delays.stop), partial(world.gone, application, group, batch))

    def _run(self, application: Application, group: PodGroup, batch: Batch, world: World) -> None:
        if group.runs is not None:
            ends = max(1, batch.since + group.runs)
            world.agenda.enter(ends, partial(world.run_out, application, group, batch))

    def _shifted(self, at: Instant | None) -> Instant | None:
        return None if at is None else at - self.now
