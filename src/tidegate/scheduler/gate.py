"""Who may ask at all: everything that keeps a workload out of line before quota is even looked at."""

from __future__ import annotations

from tidegate.model.kinds.cluster_queue import Stop
from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler.plan import Waiting
from tidegate.scheduler.snapshot import Instant, Snapshot, Workload
from tidegate.scheduler.tree.node import TreeNode


def kept_out(workload: Workload, queue: TreeNode | None, *, allowed: bool, now: Instant) -> Waiting | None:
    """Why a workload may not ask for its floor (or, once admitted, for more); None if it may."""
    reason = _reason(workload, queue, allowed, now)
    if reason is None:
        return None
    until = workload.requeue_at if reason is WaitingReason.BACKOFF else None
    at = _stopped_at(queue) if reason is WaitingReason.QUEUE_STOPPED else None
    missing = workload.missing_class if reason is WaitingReason.NOT_ALLOWED else ""
    return Waiting(workload=workload.name, pod_set=None, reason=reason, at=at, missing_class=missing, until=until)


def _reason(workload: Workload, queue: TreeNode | None, allowed: bool, now: Instant) -> WaitingReason | None:
    if not workload.active:
        return WaitingReason.INACTIVE
    if queue is None:
        return WaitingReason.NO_QUEUE
    if queue.stop is not Stop.NONE:
        return WaitingReason.QUEUE_STOPPED
    if workload.admitted_at is not None:
        return WaitingReason.NOT_ALLOWED if workload.missing_class else None
    if not allowed:
        return WaitingReason.NOT_ALLOWED
    if workload.requeue_at is not None and workload.requeue_at > now:
        return WaitingReason.BACKOFF
    return None


def allowed(workload: Workload, queue: TreeNode | None, snapshot: Snapshot) -> bool:
    """Whether there may be pods of it at all, its namespace may use the ClusterQueue, and its submitter every
    ClusterQueue up to the root."""
    if queue is None or workload.missing_class:
        return False
    if not queue.rules.namespace_selector.matches(snapshot.namespaces.get(workload.namespace, {})):
        return False
    for node in queue.path:
        submitters = node.spec.submitters if node.spec else None
        if submitters is None or not (submitters.users or submitters.groups):
            continue
        if workload.user not in submitters.users and not set(workload.groups) & set(submitters.groups):
            return False
    return True


def _stopped_at(queue: TreeNode | None) -> str | None:
    """The node that stops it."""
    path = queue.path if queue is not None else ()
    return next((node.name for node in path if node.spec and node.spec.stop is not Stop.NONE), None)
