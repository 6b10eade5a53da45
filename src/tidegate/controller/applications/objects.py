"""Applications: each gets its Workload; those that a field holds back, the form that its status calls for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from tidegate.controller.applications.form import Flavors, wanted_form
from tidegate.controller.applications.gates import Gates
from tidegate.controller.kinds import WORKLOADS, Key, key_of
from tidegate.controller.namespaces import Managed
from tidegate.controller.watch.cache import Cache, Followed
from tidegate.kube.client import Client, StatusError
from tidegate.kube.events import EventRecorder
from tidegate.kube.patience import RefusedBeforeError
from tidegate.kube.wire import Object
from tidegate.model.codec import encode, read
from tidegate.model.jobs import JobError, is_at_rest, is_finished, is_gated, never_started, queue_name
from tidegate.model.kinds import Workload
from tidegate.model.kinds.workload import WorkloadSpec
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import (
    POD_DEFAULTS,
    WORKLOAD,
    PodDefaults,
    describe,
    ended_pods,
    hold_pods,
    is_part,
    is_run_here,
    pod_facts,
    queue_of,
    with_live,
    workload_name,
)

_INVALID = 422
_AGAIN_S = 1.0


class Applications:
    """Writes Workloads' specs, and what was granted into applications."""

    def __init__(self, client: Client, cache: Cache, managed: Managed, recorder: EventRecorder, gates: Gates) -> None:
        self._client = client
        self._cache = cache
        self._managed = managed
        self._recorder = recorder
        self._gates = gates

    def workload_key(self, obj: Object) -> Key:
        """The Workload of an application."""
        entry = self._cache.kinds.find(obj)
        prefix = self._cache.kinds.prefix(entry) if entry else str(obj["kind"])
        return str(obj["metadata"]["namespace"]), workload_name(prefix, str(obj["metadata"]["name"]))

    def is_ours(self, workload: Workload) -> bool:
        """Everything that others do not see to."""
        return True

    def followed(self, obj: Object) -> Followed | None:
        """The applications of its kind."""
        return self._cache.application(str(obj["apiVersion"]), str(obj["kind"]))

    def owner_of(self, workload: Workload) -> tuple[Followed, Object] | None:
        """The application a Workload stands for, if it stands for one and that is still there."""
        owner = workload.spec.owner
        followed = self._cache.application(owner.api_version, owner.kind) if owner else None
        if owner is None or followed is None:
            return None
        obj = followed.latest.get((workload.metadata.namespace, owner.name))
        if obj is None or (owner.uid and obj["metadata"].get("uid") != owner.uid):
            return None
        return followed, obj

    def ended(self, followed: Followed, obj: Object) -> dict[str, int] | None:
        """Pods that ended well, by pod set; None where only the pods can tell."""
        if is_run_here(followed.entry):
            return None
        try:
            return ended_pods(followed.entry, obj, referred=followed.referred_by(obj), kinds=self._cache.kinds)
        except JobError:
            return {}

    async def describe(self, obj: Object) -> None:
        """See to it that an application has the Workload that asks for what it wants. Whoever was faster with a write
        is heard of soon, so a conflict is raised for another try."""
        followed = self.followed(obj)
        newest = followed.latest.get(key_of(obj)) if followed else None
        if followed is None or newest is None or not self._is_ours(newest):
            return
        obj = newest
        try:
            wanted = self._with_priority(self._wanted(followed, obj))
            await self._hold_pods(followed, obj, wanted)
        except JobError as error:
            self._recorder.record(followed.resource, obj, "NotQueued", str(error), type="Warning")
            return
        known = self._cache.workloads.get(self.workload_key(obj))
        if known is not None and not known["spec"].get("owner"):
            said = f"a Workload called {wanted.metadata.name} was made by hand; delete it, or give this another name"
            self._recorder.record(followed.resource, obj, "NotQueued", said, type="Warning")
        elif known is not None:
            await self._update(known, wanted)
        elif not is_finished(followed.entry, obj):
            await self._create(wanted)

    def _wanted(self, followed: Followed, obj: Object) -> Workload:
        made = self._cache.with_maker(obj)
        defaults, about = self._pod_defaults(obj), (followed.entry, made, self._cache.kinds)
        described = describe(
            followed.entry,
            defaults.filled(*about),
            referred=followed.referred_by(obj),
            kinds=self._cache.kinds,
        )
        if note := defaults.noted(*about):
            metadata = described.metadata
            noted = msgspec.structs.replace(metadata, annotations={**metadata.annotations, POD_DEFAULTS: note})
            described = msgspec.structs.replace(described, metadata=noted)
        if not is_gated(followed.entry) or is_run_here(followed.entry):
            return described
        pods = self._cache.pods_of("/".join(self.workload_key(obj)))
        going = [pod["metadata"].get("deletionTimestamp") is not None for pod in pods]
        facts = [pod_facts(pod) for pod, is_going in zip(pods, going, strict=True) if not is_going]
        return with_live(described, Counter(fact.pod_set for fact in facts if fact.gated or fact.present))

    def _pod_defaults(self, obj: Object) -> PodDefaults:
        """What its pods are given. While it holds something, or pods of it are there, that is what they were given when
        it was asked for: a LimitRange that is changed changes nothing of what runs."""
        key = self.workload_key(obj)
        known = self._cache.workloads.get(key)
        if known is None or not (_is_admitted(known) or self._has_pods(key)):
            return self._cache.pod_defaults(key[0])
        return PodDefaults.from_note((known["metadata"].get("annotations") or {}).get(POD_DEFAULTS, ""))

    def _has_pods(self, key: Key) -> bool:
        return any(pod_facts(pod).present for pod in self._cache.pods_of("/".join(key)))

    async def _hold_pods(self, followed: Followed, obj: Object, wanted: Workload) -> None:
        """Where no field holds it: see to it that its pods are made behind a gate, before anything is asked for."""
        entry, name = followed.entry, wanted.metadata.name
        if not is_gated(entry) or is_run_here(entry) or is_finished(entry, obj):
            return
        if (obj["metadata"].get("annotations") or {}).get(WORKLOAD) != name:
            held = hold_pods(entry, obj, name, {}, kinds=self._cache.kinds)
            followed.latest.wrote(await self._client.update(followed.resource, dict(held)))

    def _is_ours(self, obj: Object) -> bool:
        """Whether it is queued itself: here, by a Queue, and not as a part of something that is queued."""
        meta = obj["metadata"]
        if meta.get("deletionTimestamp") or not self._managed.is_managed(meta["namespace"]):
            return False
        entry = self._cache.kinds.of(obj)
        if is_part(entry, obj, self._cache.kinds):
            return False
        named = queue_of(self._cache.with_maker(obj)) or queue_name(entry, obj)
        return bool(named) or self._managed.has_default(meta["namespace"])

    def _with_priority(self, wanted: Workload) -> Workload:
        name = wanted.spec.priority_class_name
        found = self._cache.priority_classes.get(name) if name else None
        if found is None:
            return wanted
        return msgspec.structs.replace(wanted, spec=msgspec.structs.replace(wanted.spec, priority=int(found["value"])))

    async def _create(self, wanted: Workload) -> None:
        self._cache.workloads.wrote(await self._client.create(WORKLOADS, encode(wanted)))

    async def _update(self, known: Object, wanted: Workload) -> None:
        before = read(Workload, known)
        if before.spec.owner is None or before.spec.owner.uid != (wanted.spec.owner and wanted.spec.owner.uid):
            # The Workload of one that had the same name; it goes with its owner, and ours can be made then.
            return
        spec = _merged(before.spec, wanted.spec)
        name = spec.priority_class_name
        if name and name == before.spec.priority_class_name and self._cache.priority_classes.get(name) is None:
            # The class is gone, and what runs is as urgent as its pods are, which were made when there was one.
            spec = msgspec.structs.replace(spec, priority=before.spec.priority)
        notes = {key: text for key, text in before.metadata.annotations.items() if key != POD_DEFAULTS}
        if (note := wanted.metadata.annotations.get(POD_DEFAULTS)) is not None:
            notes[POD_DEFAULTS] = note
        if spec == before.spec and notes == before.metadata.annotations:
            return
        content = encode(Workload(metadata=before.metadata, spec=spec))["spec"]
        changed = {**known, "metadata": {**known["metadata"], "annotations": notes}, "spec": content}
        self._cache.workloads.wrote(await self._client.update(WORKLOADS, changed))

    async def carry_out(
        self, workload: Workload, seen: SeenWorkload, flavors: Flavors, *, stands: Callable[[], bool]
    ) -> None:
        """Give its application the form that what was granted calls for."""
        found = self.owner_of(workload)
        if found is None:
            return
        followed, obj = found
        if obj["metadata"].get("deletionTimestamp"):
            return
        try:
            wanted = wanted_form(
                followed.entry, obj, seen, flavors, kinds=self._cache.kinds, referred=followed.referred_by(obj)
            )
            if wanted != obj:
                followed.latest.wrote(await self._client.update(followed.resource, wanted))
            await self._lift(seen, flavors, stands)
        except JobError as error:
            self._recorder.record(followed.resource, obj, "NotQueued", str(error), type="Warning")
        except StatusError as refused:
            if refused.code == _INVALID and await self._can_be_changed(followed, obj):
                wait_s = refused.retry_after_s or _AGAIN_S
                raise RefusedBeforeError(
                    refused.code, refused.reason, refused.message, refused.status, retry_after_s=wait_s
                ) from refused
            if refused.code not in (404, 409):
                raise

    async def _can_be_changed(self, followed: Followed, obj: Object) -> bool:
        """Whether it was only the trace of an earlier run that kept it from being changed, which is gone now."""
        cleared = never_started(followed.entry, obj)
        if cleared is obj or not is_at_rest(followed.entry, obj):
            return False
        followed.latest.wrote(await self._client.update(followed.resource, cleared, subresource="status"))
        return True

    async def _lift(self, seen: SeenWorkload, flavors: Flavors, stands: Callable[[], bool]) -> None:
        """Its pods wait one by one where it wants more of them than could be written into it."""
        facts = [pod_facts(pod) for pod in self._cache.pods_of(seen.name)]
        if any(fact.gated for fact in facts) and seen.admitted_at is not None and seen.active:
            members = {fact.name: fact.pod_set for fact in facts}
            await self._gates.settle(seen, members, flavors, stands=stands, takes=False)


def _merged(before: WorkloadSpec, wanted: WorkloadSpec) -> WorkloadSpec:
    """What the application says, beside what is the user's to say of its Workload."""
    says = wanted.priority_class_name or wanted.priority
    priority = wanted.priority if says else before.priority
    seconds = wanted.max_run_seconds or before.max_run_seconds
    return msgspec.structs.replace(wanted, active=before.active, priority=priority, max_run_seconds=seconds)


def _is_admitted(workload: Object) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Admitted" and each["status"] == "True" for each in conditions)
