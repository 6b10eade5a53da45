"""What is judged when an application or a pod is created.

    application   held by its own field, or by gates of its pods, until its Workload is admitted
    single pod    gated; refused where its namespace is managed and has no Queue

Decisions only: a webhook or the embedded server's own admission carries them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.controller.doors.sight import Seen
from tidegate.controller.namespaces import DEFAULT_QUEUE, Managed
from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.jobs import (
    MAX_COUNT,
    MIN_COUNT,
    JobError,
    JobKind,
    Obj,
    inside,
    is_gated,
    merge,
    podsets,
    put,
    queue_name,
    refusal,
    with_suspend,
    without,
)
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import Submitters
from tidegate.workloads import (
    FLAVOR,
    GATE,
    SUBMITTER,
    WORKLOAD,
    Above,
    belongs,
    classes_of_pods,
    describe,
    hold_pods,
    inheriting,
    is_granted,
    is_part,
    is_run_here,
    owners_named,
    queue_of,
    unmarked,
    workload_name,
)

_MOST_LEVELS = 64
_OF_A_POD_SET = (f"{MIN_COUNT}.", f"{MAX_COUNT}.")
_NOBODY: Above = {}
_MIRROR = "kubernetes.io/config.mirror"
"""On what a node says of pods that it runs by itself: nobody's to hold."""


class RefusedError(Exception):
    """It may not be created: one sentence why, one what to do."""


class InvalidError(RefusedError):
    """Because of what it says, whoever says it and wherever."""


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

    def on_behalf(self, maker: Object, namespace: str) -> Submitter:
        """Whoever signed the maker, where a controller does its work: an account of the system or of another namespace.
        People could name any maker they like as the owner of what they create."""
        own = f"system:serviceaccount:{namespace}:"
        if not self.user.startswith("system:") or self.user.startswith(own):
            return self
        try:
            told = json.loads(inside(maker, ("metadata", "annotations")).get(SUBMITTER) or "{}")
            return Submitter(str(told["user"]), tuple(map(str, told.get("groups") or ())))
        except (ValueError, LookupError, TypeError, AttributeError):
            return self

    def may_use(self, submitters: Submitters) -> bool:
        if not (submitters.users or submitters.groups):
            return True
        return self.user in submitters.users or bool(set(self.groups) & set(submitters.groups))


class Door:
    """Judges what is created, by what is seen of queues and namespaces."""

    def __init__(self, seen: Seen, managed: Managed) -> None:
        self._seen = seen
        self._managed = managed

    def judge(
        self, obj: Object, namespace: str, by: Submitter, *, maker: Object | None = None, above: Above = _NOBODY
    ) -> Obj:
        """The object as it is to be created; RefusedError where it is not to be. `maker`: what makes such objects again
        and again, as this one's owner; its Queue and its submitter are those of what it makes. `above`: the owners that
        a pod names, as the server has them."""
        entry = self._seen.kinds.find(obj)
        if entry is None or not self._managed.is_managed(namespace):
            return obj
        if not inside(obj, ("metadata",)).get("ownerReferences"):
            obj = dict(unmarked(obj))
        if entry.kind == "Pod" and not entry.group:
            return self._pod(entry, obj, namespace, by, above)
        if is_part(entry, obj, self._seen.kinds):
            return obj
        obj = dict(unmarked(obj))
        queue = self.queue_for(entry, obj, namespace, maker=maker)
        by = by if maker is None else by.on_behalf(maker, namespace)
        if queue is None:
            return _unforged(obj, by)
        self.check(queue, namespace, by)
        obj = dict(signed(obj, by))
        return obj if is_run_here(entry) or entry.makes is not None else self._held(entry, obj)

    def warning(self, obj: Object, namespace: str) -> str | None:
        """What whoever creates an application is told though it is taken: that it will not run as meant, and why."""
        entry = self._seen.kinds.find(obj)
        if entry is None or not self._managed.is_managed(namespace):
            return None
        if not self._managed.queues(namespace):
            return _no_queue(namespace)
        queue = self.queue_for(entry, obj, namespace)
        if queue is None or inside(obj, ("metadata",)).get("ownerReferences"):
            return None  # It is not queued, or some controller creates it, and controllers heed no warnings.
        if self._seen.queue(queue, namespace) is None:
            there = ", ".join(sorted(self._managed.queues(namespace)))
            return f"there is no Queue {queue} in namespace {namespace}, so it waits; create it, or name one of {there}"
        return self._misread(entry, obj)

    def _misread(self, entry: JobKind, obj: Object) -> str | None:
        """What it says that cannot be meant."""
        if entry.refers is not None or entry.makes is not None:
            return None  # What its pods are another object says.
        try:
            priority = describe(entry, obj, kinds=self._seen.kinds).spec.priority_class_name
            sets = [each.name for each in podsets(entry, obj, find=self._seen.kinds.find)]
        except JobError as error:
            return f"it cannot be put in line: {error}"
        for key in inside(obj, ("metadata", "annotations")):
            named = next((key.removeprefix(each) for each in _OF_A_POD_SET if key.startswith(each)), "")
            if named and named not in sets:
                return f"metadata.annotations[{key}]: it has no pod set {named}; name one of {', '.join(sets)}"
        for name in (priority, *classes_of_pods(entry, obj, kinds=self._seen.kinds)):
            if name and self._seen.priority_class(name) is None:
                return f"there is no PriorityClass {name}, so it waits; create it, or name another"
        return None

    def _held(self, entry: JobKind, obj: Obj) -> Obj:
        """By its own field, or by gates of its pods; refused where its own operator would not bear that."""
        if (refused := refusal(entry, obj)) is not None:
            raise RefusedError(str(refused))
        if not is_gated(entry):
            return with_suspend(entry, obj, True)
        name, kinds = inside(obj, ("metadata",)).get("name"), self._seen.kinds
        if not name:  # It is given one later; the operator holds its pods then.
            return obj
        try:
            return hold_pods(entry, obj, workload_name(kinds.prefix(entry), str(name)), {}, kinds=kinds)
        except JobError as error:
            raise RefusedError(str(error)) from None

    def _pod(self, entry: JobKind, pod: Object, namespace: str, by: Submitter, above: Above) -> Obj:
        if not self._managed.queues(namespace):
            raise NoQueueError(_no_queue(namespace))
        owned = any(owners_named(pod, self._seen.kinds))
        if owned and not belongs(pod, above, self._seen.kinds):
            owned, pod = False, dict(unmarked(pod))  # Whatever it says, nobody of those has made it.
        meta = pod.get("metadata") or {}
        marks = meta.get("annotations") or {}
        granted = is_granted(pod, above, self._seen.kinds) if owned else FLAVOR in marks
        if meta.get("ownerReferences") and WORKLOAD in marks and not granted:
            # An application's: it says whose it is, and was not granted anything yet.
            return _gated(without(pod, ("metadata", "annotations", FLAVOR)))
        queue = self.queue_for(entry, pod, namespace)
        if queue is None or owned or _MIRROR in marks:
            return _unforged(pod, by)
        self.check(queue, namespace, by)
        return _gated(signed(pod, by))

    def rules_in(self, namespace: str) -> bool:
        return self._managed.is_managed(namespace)

    def queue_for(self, entry: JobKind, obj: Object, namespace: str, *, maker: Object | None = None) -> str | None:
        """The Queue it goes to; None where neither it nor its maker names one and there is no default."""
        said = obj if maker is None else inheriting(obj, maker)
        named = queue_of(said) or queue_name(entry, said)
        return named or (DEFAULT_QUEUE if self._managed.has_default(namespace) else None)

    def check(self, queue: str, namespace: str, by: Submitter) -> None:
        """RefusedError where somebody may not submit to a Queue."""
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


def _no_queue(namespace: str) -> str:
    return (
        f"namespace {namespace} is managed by Tidegate and has no Queue, so no pod may run there; "
        f"create one with `tidegate queue create default -n {namespace}`"
    )


def _gated(pod: Obj) -> Obj:
    """Behind the gate; refused where it cannot wait, since a gate and a node exclude each other."""
    if inside(pod, ("spec",)).get("nodeName"):
        raise RefusedError("the pod names its node, so it would run beside the queue; leave spec.nodeName out")
    gates = [*(inside(pod, ("spec",)).get("schedulingGates") or ())]
    if any(gate.get("name") == GATE for gate in gates):
        return pod
    held: Obj = put(pod, ("spec", "schedulingGates"), [*gates, {"name": GATE}])
    return held


def _unforged(obj: Object, by: Submitter) -> Obj:
    """Of what is not queued yet, and may be when a Queue is made: nobody signs it for somebody else."""
    return signed(obj, by) if SUBMITTER in ((obj.get("metadata") or {}).get("annotations") or {}) else obj


def signed(obj: Object, by: Submitter) -> Obj:
    """With who created it; what somebody wrote there himself does not count."""
    by_whom: Obj = merge(obj, ("metadata", "annotations"), {SUBMITTER: by.signature()})
    return by_whom
