"""What is judged when an application or a pod is created.

    application   held by its own field, until its Workload is admitted
    single pod    gated; refused where its namespace is managed and has no Queue

Decisions only: a webhook or the embedded server's own admission carries them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.controller.doors.sight import Seen
from tidegate.controller.namespaces import DEFAULT_QUEUE, Managed
from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.jobs import JobKind, Kinds, Obj, merge, put, queue_name, with_suspend
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import Submitters
from tidegate.workloads import GATE, SUBMITTER, WORKLOAD, is_run_here, queue_of

_MOST_LEVELS = 64


class RefusedError(Exception):
    """It may not be created: one sentence why, one what to do."""


class NoQueueError(RefusedError):
    """Because its namespace has no Queue, as far as is known."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Who creates an object."""

    user: str
    groups: tuple[str, ...] = ()

    def signature(self) -> str:
        """As it is written on what they create."""
        return json.dumps({"user": self.user, "groups": list(self.groups)}, separators=(",", ":"))

    def may_use(self, submitters: Submitters) -> bool:
        if not (submitters.users or submitters.groups):
            return True
        return self.user in submitters.users or bool(set(self.groups) & set(submitters.groups))


class Door:
    """Judges what is created, by what is seen of queues and namespaces."""

    def __init__(self, seen: Seen, managed: Managed) -> None:
        self._seen = seen
        self._managed = managed

    def judge(self, obj: Object, namespace: str, by: Submitter) -> Obj:
        """The object as it is to be created; RefusedError where it is not to be."""
        if not self._managed.is_managed(namespace):
            return obj
        entry = self._seen.kinds.find(obj)
        if entry is None or entry.makes is not None or _is_part(obj, entry, self._seen.kinds):
            return obj
        if entry.kind == "Pod" and not entry.group:
            return self._pod(entry, obj, namespace, by)
        queue = self._queue(entry, obj, namespace)
        if queue is None or not (entry.suspend is not None or is_run_here(entry)):
            return _unforged(obj, by)
        self._check(queue, namespace, by)
        signed = _signed(obj, by)
        return with_suspend(entry, signed, True) if entry.suspend is not None else signed

    def _pod(self, entry: JobKind, pod: Object, namespace: str, by: Submitter) -> Obj:
        if not self._managed.queues(namespace):
            raise NoQueueError(
                f"namespace {namespace} is managed by Tidegate and has no Queue, so no pod may run there; "
                f"create one with `tidegate queue create default -n {namespace}`"
            )
        meta, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        marked = WORKLOAD in (meta.get("annotations") or {})
        queue = self._queue(entry, pod, namespace)
        if marked or meta.get("ownerReferences") or spec.get("nodeName") or queue is None:
            return _unforged(pod, by)
        self._check(queue, namespace, by)
        gates = [*(spec.get("schedulingGates") or ())]
        if not any(gate.get("name") == GATE for gate in gates):
            gates.append({"name": GATE})
        gated: Obj = put(_signed(pod, by), ("spec", "schedulingGates"), gates)
        return gated

    def _queue(self, entry: JobKind, obj: Object, namespace: str) -> str | None:
        """The Queue it goes to; None where it names none and there is no default."""
        named = queue_of(obj) or queue_name(entry, obj)
        return named or (DEFAULT_QUEUE if self._managed.has_default(namespace) else None)

    def _check(self, queue: str, namespace: str, by: Submitter) -> None:
        for name, submitters in self._submitters(queue, namespace):
            if not by.may_use(submitters):
                raise RefusedError(
                    f"{by.user} is not among the submitters of ClusterQueue {name}; ask its owner, or use another Queue"
                )

    def _submitters(self, queue: str, namespace: str) -> Iterable[tuple[str, Submitters]]:
        """From the Queue's ClusterQueue up to the root."""
        found = self._seen.queue(queue, namespace)
        name: str | None = read(Queue, found).spec.cluster_queue if found else None
        for _ in range(_MOST_LEVELS):
            node = self._seen.cluster_queue(name) if name else None
            if name is None or node is None:
                return
            spec = read(ClusterQueue, node).spec
            yield name, spec.submitters
            name = spec.parent


def _is_part(obj: Object, entry: JobKind, kinds: Kinds) -> bool:
    """Whether it belongs to something that is queued as a whole."""
    owners: Iterable[Mapping[str, Any]] = (obj.get("metadata") or {}).get("ownerReferences") or ()
    for owner in owners:
        above = kinds.find({"apiVersion": owner.get("apiVersion"), "kind": owner.get("kind")})
        if owner.get("controller") and above is not None and above.makes is None and entry.kind != "Pod":
            return True
    return False


def _unforged(obj: Object, by: Submitter) -> Obj:
    """Of what is not queued yet, and may be when a Queue is made: nobody signs it for somebody else."""
    return _signed(obj, by) if SUBMITTER in ((obj.get("metadata") or {}).get("annotations") or {}) else obj


def _signed(obj: Object, by: Submitter) -> Obj:
    """With who created it; what somebody wrote there himself does not count."""
    signed: Obj = merge(obj, ("metadata", "annotations"), {SUBMITTER: by.signature()})
    return signed
