"""What must be true once faults have ended and nothing moves any more.

6  a fresh plan finds nothing to do: nobody waits who fits
7  statuses of queues and Workloads are what one counts oneself
8  applications have the form that their grants call for: no gate is stuck, no Job held or loose by mistake; who has
   nothing asks for what LimitRanges say
9  with time, everything ends that can ever fit
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from tidegate.controller.applications.form import wanted_form
from tidegate.controller.applications.gated import GatedPods
from tidegate.controller.applications.gates import Gates
from tidegate.controller.applications.objects import Applications
from tidegate.controller.applications.pods_of_job import to_do
from tidegate.controller.applications.workers import GatedApplications
from tidegate.controller.kinds import Key, key_of
from tidegate.controller.looking import Looking
from tidegate.controller.operator import Operator
from tidegate.controller.seen.config import snapshot
from tidegate.controller.seen.workloads import holds
from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.flavored import Flavored
from tidegate.model.jobs import JobKind, is_finished
from tidegate.model.kinds import ClusterQueue, Queue, QueueJob, Workload
from tidegate.model.kinds.workload import State, WaitingReason
from tidegate.scheduler import Snapshot, plan
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.sim.laws.quota import Amounts, QuotaTree, add
from tidegate.workloads import asks_as, describe, pod_facts

_NEVER = (WaitingReason.EXCEEDS_QUOTA, WaitingReason.NO_MATCHING_FLAVOR)


class Settled:
    """Reads everything afresh from the server, by the operator's own eyes."""

    def __init__(self, client: Client, clock: Callable[[], float], *, limits: bool = False) -> None:
        """`limits`: LimitRanges were changed, so pods may have other requests than those that count."""
        self._clock = clock
        self._limits = limits
        operator = Operator(client)
        self.cache, self._managed = operator.cache, operator.managed
        recorder = EventRecorder(client, "judge")
        gates = Gates(client, self.cache)
        self._applications = Applications(client, self.cache, operator.managed, recorder, gates)
        self._gated = GatedPods(client, self.cache, operator.managed, recorder, gates)
        self._workers = GatedApplications(client, self.cache, self._applications, gates)
        self._looking = Looking(self.cache, self._applications, self._gated, clock)

    async def breaches(self, *, over: bool) -> list[str]:
        """What is wrong; `over`: everything had time to end."""
        now = int(self._clock())
        following = asyncio.create_task(self.cache.run())
        await self.cache.synced()
        try:
            config, seen = self._snapshot()
            found = [
                *self._plan(config, seen, now),
                *self._queues(config),
                *self._running(),
                *self._forms(config, seen),
            ]
            return [*found, *self._ended(config, seen, now)] if over else found
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    def _snapshot(self) -> tuple[Snapshot, dict[Key, SeenWorkload]]:
        cache = self.cache
        config = snapshot(
            cache.nodes.all(), cache.flavors.all(), cache.cluster_queues.all(), cache.queues.all(),
            cache.namespaces.all(),
        )  # fmt: skip
        keys = {key_of(obj) for obj in cache.workloads.all()}
        keys |= {(key_of(pod)[0], name) for pod in cache.pods.all() if (name := asks_as(pod))}
        seen = {key: one for key in sorted(keys) if (one := self._looking.seen(key)) is not None}
        return replace(config, workloads=tuple(seen.values())), seen

    def _plan(self, config: Snapshot, seen: dict[Key, SeenWorkload], now: int) -> Iterator[str]:
        left = plan(config, now)
        if not left.is_empty:
            said = [*left.grants, *left.shrinks, *left.evictions, *left.starts]
            yield f"a fresh plan still finds something to do: {said}"

    # ── law 7 ──

    def _queues(self, config: Snapshot) -> Iterator[str]:
        tree = QuotaTree(config)
        allocated: dict[str, Amounts] = {}
        used: dict[str, Amounts] = {}
        counts: dict[tuple[str, bool], int] = {}
        for obj in self.cache.workloads.all():
            workload = read(Workload, obj)
            place = tree.places.get(f"{workload.metadata.namespace}/{workload.spec.queue}")
            state = workload.status.state
            for one in place.path if place else ():
                add(allocated.setdefault(one.name, {}), _granted(workload))
                if state is State.ADMITTED or (state in (State.PENDING, State.EVICTED) and workload.spec.active):
                    key = one.name, state is State.ADMITTED
                    counts[key] = counts.get(key, 0) + 1
        for pod in self.cache.pods.all():
            facts = pod_facts(pod)
            place = tree.places.get(f"{key_of(pod)[0]}/{facts.queue or 'default'}")
            if facts.present and facts.workload and place:
                taken = {(facts.flavor or "default", name): n for name, n in facts.requests.items()}
                for one in place.path:
                    add(used.setdefault(one.name, {}), taken)
        kinds: list[tuple[Any, Object]] = [(ClusterQueue, obj) for obj in self.cache.cluster_queues.all()]
        for kind, obj in [*kinds, *((Queue, obj) for obj in self.cache.queues.all())]:
            status, name = read(kind, obj).status, "/".join(filter(None, key_of(obj)))
            for word, said, counted in (
                ("allocated", _amounts(status.allocated), allocated.get(name, {})),
                ("used", _amounts(status.used), used.get(name, {})),
                ("pending", status.pending_workloads, counts.get((name, False), 0)),
                ("admitted", status.admitted_workloads, counts.get((name, True), 0)),
            ):
                told = {cell: n for cell, n in counted.items() if n} if isinstance(counted, dict) else counted
                if said != told and not (self._limits and word == "used"):
                    yield f"{name} says {word} {said}, and it is {told}"

    def _running(self) -> Iterator[str]:
        for obj in self.cache.workloads.all():
            said = sum(each.running for each in read(Workload, obj).status.pod_sets)
            there = sum(pod_facts(pod).present for pod in self.cache.pods_of("/".join(key_of(obj))))
            if said != there:
                yield f"{key_of(obj)} says that {said} pods run, and it is {there}"

    # ── law 8 ──

    def _forms(self, config: Snapshot, seen: dict[Key, SeenWorkload]) -> Iterator[str]:
        for key, one in seen.items():
            workload = self._looking.workload(key)
            if workload is None:
                continue  # Only pods are left of it; they are counted until they end.
            if self._gated.is_ours(workload) or self._workers.is_ours(workload):
                yield from self._gates(workload, one)
                continue
            found = self._applications.owner_of(workload)
            if found is None:
                continue
            followed, obj = found
            if followed.resource.kind == "QueueJob":
                work = to_do(read(QueueJob, obj), one, self.cache.pods_of(one.name), config.flavors)
                if work.create or work.delete:
                    yield f"{one.name}: {len(work.create)} pods are missing, {len(work.delete)} too many"
            elif wanted_form(followed.entry, obj, one, config.flavors, kinds=self.cache.kinds) != obj:
                yield f"the Job of {one.name} has not the form that its grant calls for: {obj['spec']}"
        for followed in self.cache.applications.values():
            for obj in followed.latest.all():
                if is_finished(followed.entry, obj) or not self._managed.has_default(key_of(obj)[0]):
                    continue
                known = self.cache.workloads.get(self._applications.workload_key(obj))
                if known is None:
                    yield f"{obj['kind']} {key_of(obj)} has no Workload"
                else:
                    yield from self._asks(followed.entry, obj, read(Workload, known))

    def _asks(self, entry: JobKind, obj: Object, workload: Workload) -> Iterator[str]:
        name = "/".join((workload.metadata.namespace, workload.metadata.name))
        if holds(workload, "Admitted") or any(pod_facts(pod).present for pod in self.cache.pods_of(name)):
            return
        defaults, kinds = self.cache.pod_defaults(workload.metadata.namespace), self.cache.kinds
        wanted = describe(entry, defaults.filled(entry, obj, kinds), kinds=kinds)
        asks, says = ([each.requests for each in one.spec.pod_sets] for one in (workload, wanted))
        if asks != says:
            yield f"{name} asks for {asks}, and its pods would have {says}"

    def _gates(self, workload: Workload, seen: SeenWorkload) -> Iterator[str]:
        pods = [pod for pod in self.cache.pods_of(seen.name) if not pod["metadata"].get("deletionTimestamp")]
        waiting = sum(pod_facts(pod).gated for pod in pods)
        for each in seen.pod_sets:
            may = sum(each.granted.values()) - sum(each.held.values()) - sum(each.present.values())
            if may > 0 and waiting:
                yield f"{seen.name} may start {may} more of {each.name}, and {waiting} pods are still gated"

    # ── law 9 ──

    def _ended(self, config: Snapshot, seen: dict[Key, SeenWorkload], now: int) -> Iterator[str]:
        reasons = {each.workload: each.reason for each in plan(config, now).waiting}
        for key, one in seen.items():
            if reasons.get(one.name) not in _NEVER:
                workload = self._looking.workload(key)
                status = workload.status if workload else None
                yield f"{one.name} has not ended: {reasons.get(one.name)}, {status}"


def _granted(workload: Workload) -> Amounts:
    requests = {each.name: each.requests for each in workload.spec.pod_sets}
    total: Amounts = {}
    for each in workload.status.pod_sets:
        for flavor, count in each.flavors.items():
            add(total, {(flavor, name): n * count for name, n in requests[each.name].items()} if count else {})
    return total


def _amounts(flavored: Flavored) -> Amounts:
    return {(flavor, name): n for flavor, amounts in flavored.items() for name, n in amounts.items() if n}
