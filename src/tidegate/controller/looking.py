"""Looking at one Workload: the object, its application and its pods, together as the scheduler sees it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from tidegate.controller.applications.gated import GatedPods
from tidegate.controller.applications.objects import Applications
from tidegate.controller.kinds import Key, name_of
from tidegate.controller.lowered import Lowered
from tidegate.controller.seen.workloads import (
    Facts,
    being_let_go,
    ends_by,
    holds,
    is_over,
    left_over,
    seen_workload,
)
from tidegate.controller.watch.cache import Cache, Followed
from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.jobs import JobError, Outcome, outcome, podsets
from tidegate.model.kinds import Workload
from tidegate.model.kinds.workload import WorkloadStatus
from tidegate.model.problems import ManifestError
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import (
    LetGo,
    PodFacts,
    classes_of_pods,
    flavors_noted,
    let_go,
    pod_facts,
    pod_set_of,
    said_active,
)

_log = logging.getLogger(__name__)

_GRACE_S = 60
_NOTHING = LetGo(0)
_REMEMBERED = 50_000
"""Pods whose facts are kept, at least; those of pods that are gone go with the oldest."""


class Looking:
    """Reads the cache; a Workload that has not changed is decoded once."""

    def __init__(
        self,
        cache: Cache,
        applications: Applications,
        gated: GatedPods,
        clock: Callable[[], float],
        assumed: Callable[[Key], WorkloadStatus | None] = lambda key: None,
    ) -> None:
        """`assumed`: the status of a Workload that is decided and not known to be written, if there is one."""
        self._cache = cache
        self._applications = applications
        self._gated = gated
        self._clock = clock
        self._assumed = assumed
        self.going: dict[Key, SeenWorkload] = {}
        """Workloads whose applications are being let go, and with what."""
        self._decoded: dict[Key, tuple[Object, Workload]] = {}
        self._pods: dict[str, tuple[Object, PodFacts]] = {}
        """By uid."""
        self._told: dict[Key, tuple[Object, Facts]] = {}
        """What a Workload's application said when it was last looked at."""
        self._lowered = Lowered(clock)

    def workload(self, key: Key) -> Workload | None:
        """As it is when everything that was decided is written; None where there is none that can be read."""
        workload, status = self.written(key), self._assumed(key)
        return workload if workload is None or status is None else structs.replace(workload, status=status)

    def written(self, key: Key) -> Workload | None:
        """As the server has it, as far as is known."""
        raw = self._cache.workloads.get(key)
        if raw is None:
            self._decoded.pop(key, None)
            return None
        known = self._decoded.get(key)
        if known is None or (known[0] is not raw and not _is_same(known[0], raw)):
            try:
                known = self._decoded[key] = (raw, read(Workload, raw))
            except ManifestError as error:
                _log.warning("The Workload %s/%s cannot be read: %s", *key, error)
                return None
        return known[1]

    def seen(self, key: Key) -> SeenWorkload | None:
        """What there is of a Workload, for the planner; None where it neither asks nor takes room."""
        workload = self.workload(key)
        if workload is not None:
            return self._seen(workload, self.going.get(key))
        self._told.pop(key, None)
        self._lowered.forget(key)
        self.going.pop(key, None)
        pods = self._cache.pods_of(name_of(key))
        return left_over(name_of(key), [self._gated.beside.counted(pod, self._pod(pod)) for pod in pods])

    def granted(self, key: Key) -> tuple[Workload, SeenWorkload] | None:
        """A Workload as the server has it, for whoever carries out what it is granted."""
        workload = self.written(key)
        seen = self._seen(workload) if workload is not None else None
        return None if workload is None or seen is None else (workload, seen)

    def _seen(self, workload: Workload, going: SeenWorkload | None = None) -> SeenWorkload | None:
        facts = self.facts(workload)
        seen = seen_workload(workload, facts)
        if going is not None:
            seen = being_let_go(seen, going)
        if is_over(workload, facts) and not any(each.present for each in seen.pod_sets):
            return None
        return seen

    def deadline(self, key: Key) -> int | None:
        """When it is to be looked at though nothing happened: it is not let run any longer, or nothing that was let go
        before can come any more."""
        workload = self.workload(key)
        moments = () if workload is None else (self._deadline(workload), self._lowered.until(key))
        return min((at for at in moments if at is not None), default=None)

    def _deadline(self, workload: Workload) -> int | None:
        """When it is not let run any longer. A kind that keeps such a limit itself gets the time to do so."""
        at = ends_by(workload)
        if at is None or holds(workload, "Finished"):
            return None
        owner = workload.spec.owner
        entry = self._cache.kinds.find({"apiVersion": owner.api_version, "kind": owner.kind}) if owner else None
        return at + _GRACE_S if entry is not None and entry.max_run_seconds is not None else at

    def facts(self, workload: Workload) -> Facts:
        """What its application and its pods say; one that has run as long as it may has failed."""
        facts, at = self._facts(workload), self._deadline(workload)
        is_overdue = facts.outcome is None and at is not None and at <= int(self._clock())
        return replace(facts, outcome=Outcome.FAILED) if is_overdue else facts

    def _facts(self, workload: Workload) -> Facts:
        name = workload.spec.priority_class_name or ""
        ranked = self._cache.priority_classes.get(name) if name else None
        pods = self._cache.pods_of(f"{workload.metadata.namespace}/{workload.metadata.name}")
        facts = Facts(
            priority=None if ranked is None else int(ranked["value"]),
            missing_class=name if ranked is None else "",
            pods=tuple(self._pod(pod) for pod in pods),
        )
        if self._gated.is_ours(workload):
            return replace(facts, outcome=self._gated.outcome(workload, pods))
        found = self._applications.owner_of(workload)
        if found is None:
            return facts
        told = self._application(workload, *found)
        missing = (each for each in told.classes if self._cache.priority_classes.get(each) is None)
        return replace(
            told,
            priority=facts.priority,
            missing_class=facts.missing_class or next(missing, ""),
            pods=self._told_apart(*found, pods),
            active=self._lowered.beside((workload.metadata.namespace, workload.metadata.name), told.active),
        )

    def _application(self, workload: Workload, followed: Followed, obj: Object) -> Facts:
        """What its application says; read again only where that has changed."""
        key = workload.metadata.namespace, workload.metadata.name
        known, referred = self._told.get(key), followed.referred_by(obj)
        if known is None or known[0] is not obj or followed.entry.refers is not None:
            entry, kinds = followed.entry, self._cache.kinds
            said = Facts(
                ended=self._applications.ended(followed, obj),
                outcome=outcome(entry, obj),
                classes=classes_of_pods(entry, obj, referred=referred, kinds=kinds),
                let_go=let_go(entry, obj, referred=referred, kinds=kinds),
                active=said_active(entry, obj, referred=referred, kinds=kinds),
            )
            self._compare(key, followed, known, (obj, said))
            known = self._told[key] = (obj, said)
        return known[1]

    def _compare(
        self, key: Key, followed: Followed, before: tuple[Object, Facts] | None, after: tuple[Object, Facts]
    ) -> None:
        """Whether it may make less than when it was last looked at, or its controller has heard of that."""
        (obj, said), may = after, after[1].let_go
        if before is None or said.outcome is not None or before[0]["metadata"]["uid"] != obj["metadata"]["uid"]:
            self._lowered.forget(key)
            return
        if not followed.entry.through:
            self._lowered.heard(key, obj)
        was = before[1].let_go
        if any(each.count > may.get(name, _NOTHING).count for name, each in was.items()):
            pods = self._told_apart(followed, obj, self._cache.pods_of(name_of(key)))
            self._lowered.lowered(key, obj, was, Counter(pod.pod_set for pod in pods if pod.present))

    def _pod(self, pod: Object) -> PodFacts:
        uid = str(pod["metadata"].get("uid"))
        known = self._pods.get(uid)
        if known is None or known[0] is not pod:
            if len(self._pods) > 2 * _REMEMBERED:
                self._pods = dict(list(self._pods.items())[_REMEMBERED:])
            known = self._pods[uid] = (pod, pod_facts(pod))
        return known[1]

    def _told_apart(self, followed: Followed, obj: Object, pods: list[Object]) -> tuple[PodFacts, ...]:
        """Pods that could not be marked are known by their labels, and their flavor by what is noted on their maker:
        they take its room until they are gone, whatever is granted by then."""
        facts = tuple(self._pod(pod) for pod in pods)
        if followed.entry.refers is None or all(fact.pod_set for fact in facts):
            return facts
        try:
            shapes = podsets(followed.entry, obj, referred=followed.referred_by(obj), find=self._cache.kinds.find)
        except JobError:
            return facts
        flavors = flavors_noted(obj)
        sets = (fact.pod_set or pod_set_of(shapes, pod) for fact, pod in zip(facts, pods, strict=True))
        return tuple(
            replace(fact, pod_set=pod_set, flavor=fact.flavor or flavors.get(pod_set, ""))
            for fact, pod_set in zip(facts, sets, strict=True)
        )


def _is_same(one: Object, two: Object) -> bool:
    """Whether these are one object at one version."""
    return all(
        one["metadata"].get(name) == two["metadata"].get(name) is not None for name in ("resourceVersion", "uid")
    )
