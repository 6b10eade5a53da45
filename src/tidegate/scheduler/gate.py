"""Who may ask at all: everything that keeps a workload out of line before quota is even looked at."""

from __future__ import annotations

from tidegate.model.kinds.cluster_queue import Stop
from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler.plan import Waiting
from tidegate.scheduler.snapshot import Instant, Snapshot, Workload
from tidegate.scheduler.tree import Tree, TreeNode


def kept_out(workload: Workload, tree: Tree, snapshot: Snapshot, now: Instant) -> Waiting | None:
    """Why a workload may not ask for its floor (or, once admitted, for more); None if it may."""
    reason = _reason(workload, tree, snapshot, now)
    if reason is None:
        return None
    until = workload.requeue_at if reason is WaitingReason.BACKOFF else None
    return Waiting(workload=workload.name, pod_set=None, reason=reason, at=_where(reason, workload, tree), until=until)


def _reason(workload: Workload, tree: Tree, snapshot: Snapshot, now: Instant) -> WaitingReason | None:
    queue = tree.nodes.get(workload.queue)
    if not workload.active:
        return WaitingReason.INACTIVE
    if queue is None or not queue.is_queue:
        return WaitingReason.NO_QUEUE
    if queue.stop is not Stop.NONE:
        return WaitingReason.QUEUE_STOPPED
    if workload.admitted_at is not None:
        return None
    if not allowed(workload, queue, snapshot):
        return WaitingReason.NOT_ALLOWED
    if workload.requeue_at is not None and workload.requeue_at > now:
        return WaitingReason.BACKOFF
    return None


def allowed(workload: Workload, queue: TreeNode, snapshot: Snapshot) -> bool:
    """Whether its namespace may use the ClusterQueue, and its submitter every ClusterQueue up to the root."""
    labels = snapshot.namespaces.get(workload.namespace, {})
    if not queue.rules.namespace_selector.matches(labels):
        return False
    for node in queue.path:
        submitters = node.spec.submitters if node.spec else None
        if submitters is None or not (submitters.users or submitters.groups):
            continue
        if workload.user not in submitters.users and not set(workload.groups) & set(submitters.groups):
            return False
    return True


def _where(reason: WaitingReason, workload: Workload, tree: Tree) -> str | None:
    """The node that stops it."""
    if reason is not WaitingReason.QUEUE_STOPPED:
        return None
    return next(node.name for node in tree.nodes[workload.queue].path if node.spec and node.spec.stop is not Stop.NONE)
