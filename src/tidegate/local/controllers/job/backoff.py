"""How long a failed pod's replacement waits: 10 s, doubled with each failure since the last success, at most 10 min."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidegate.local.controllers.objects import stamp
from tidegate.local.controllers.pods import ContainerStatus, Pod

FIRST_S = 10
MOST_S = 600


@dataclass(frozen=True, slots=True)
class Backoff:
    failures: int = 0
    last: datetime | None = None

    def remaining_s(self, now: datetime) -> float:
        if not self.failures or self.last is None:
            return 0.0
        wait_s = min(MOST_S, FIRST_S * 2 ** min(self.failures - 1, 10))
        return max(0.0, (self.last + timedelta(seconds=wait_s) - now).total_seconds())

    def after(self, succeeded: list[Pod], failed: list[Pod]) -> Backoff:
        """With pods that ended since: a success forgives the failures before it."""
        ends = sorted(finished_at(pod) for pod in failed)
        if not succeeded:
            return Backoff(self.failures + len(ends), ends[-1]) if ends else self
        last_success = max(finished_at(pod) for pod in succeeded)
        since = [end for end in ends if end > last_success]
        return Backoff(len(since), since[-1]) if since else Backoff()


NO_FAILURES = Backoff()


def finished_at(pod: Pod) -> datetime:
    """When its last container ended; else when it was no longer ready; else when it was deleted."""
    if ended := _last_end(pod):
        return ended
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False" and condition.last_transition_time:
            return condition.last_transition_time
    if deleted := pod.metadata.deletion_timestamp:
        return deleted - timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
    return stamp(pod.metadata.created)


def _last_end(pod: Pod) -> datetime | None:
    """None while any container, or sidecar, has not ended."""
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    statuses = [*pod.status.container_statuses, *(s for s in pod.status.init_container_statuses if s.name in sidecars)]
    ends = [_end(status) for status in statuses]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def _end(status: ContainerStatus) -> datetime | None:
    return status.state.terminated.finished_at if status.state.terminated else None
