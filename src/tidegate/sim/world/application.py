"""An application: a workload, its pods, and what became of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.model.kinds.workload import State
from tidegate.scheduler import Instant, Workload
from tidegate.sim.world.pods import PodGroup


@dataclass(slots=True, eq=False, kw_only=True)
class Application:
    """What one application asks for, has, and has lived through."""

    name: str
    """namespace/name."""
    queue: str
    created: Instant
    pod_groups: list[PodGroup]
    priority: int = 0
    priority_class: str | None = None
    missing_class: str = ""
    """Its priority class, where there is none."""
    active: bool = True
    user: str = ""
    groups: tuple[str, ...] = ()
    max_run_seconds: int | None = None
    admitted_at: Instant | None = None
    waiting_since: Instant | None = None
    requeue_at: Instant | None = None
    first_admitted_at: Instant | None = None
    last_admitted_at: Instant | None = None
    finished_at: Instant | None = None
    evictions: int = 0
    shrinks: int = 0
    seen_as: str = ""
    """The name the scheduler sees once it is gone and only its pods linger; its own may be taken by another by then."""
    _view: Workload | None = field(default=None, repr=False)

    def changed(self) -> None:
        """Something about it is different: it has to be looked at again."""
        self._view = None

    def view(self) -> Workload:
        """As the scheduler sees it; the same object as long as nothing changes."""
        if self._view is None:
            self._view = Workload(
                name=self.seen_as or self.name,
                queue=self.queue,
                created=self.created,
                pod_sets=tuple(group.view() for group in self.pod_groups),
                priority=self.priority,
                missing_class=self.missing_class,
                active=self.active,
                user=self.user,
                groups=self.groups,
                max_run_seconds=self.max_run_seconds,
                admitted_at=self.admitted_at,
                waiting_since=self.waiting_since,
                evictions=self.evictions,
                requeue_at=self.requeue_at,
            )
        return self._view

    def group(self, pod_set: str) -> PodGroup:
        return next(group for group in self.pod_groups if group.name == pod_set)

    @property
    def state(self) -> State:
        """In one word. An evicted workload is so until it is admitted again."""
        if self.finished_at is not None:
            return State.FINISHED
        if not self.active:
            return State.INACTIVE
        if self.admitted_at is not None:
            return State.ADMITTED
        return State.EVICTED if self.evictions else State.PENDING

    @property
    def has_succeeded(self) -> bool:
        """Whether all its pods have ended well. One that was made smaller until nothing was left has not."""
        return any(group.ended for group in self.pod_groups) and all(
            group.ended >= group.attainable for group in self.pod_groups
        )
