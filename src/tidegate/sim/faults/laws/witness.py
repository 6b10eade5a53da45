"""Judges every commit of the server's log, before anybody else hears of it.

    1  no quota, limit or capacity is over-committed: neither by what is granted nor by what exists
    2  nothing starts that is not granted: no pod starts and no Job is let go beyond what might start as that was sent
    3  a floor is granted whole or not at all, by the size that was seen
    4  nothing is admitted twice: an admission stands until an eviction, and no place of a QueueJob has two pods
    5  what is admitted counts what it was admitted with, whatever LimitRanges say by then

Whoever lowers a quota or takes a node away over-commits it, and the operator hears of that when it does. So an amount
is too much where it *grows* beyond what every configuration of the last while allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidegate.controller.applications.pods_of_job import INDEX
from tidegate.controller.kinds import key_of
from tidegate.controller.seen.config import snapshot
from tidegate.kube.wire import Object
from tidegate.local.apiserver.answers import decode
from tidegate.local.store import Change
from tidegate.model.codec import read
from tidegate.model.jobs import builtin
from tidegate.model.kinds import Workload
from tidegate.model.kinds.shape import MOST_PODS
from tidegate.sim.faults.laws.pods import Pods, workload_of
from tidegate.sim.faults.laws.using import Part, Using
from tidegate.sim.faults.network import LATEST_S, SLOWEST_S
from tidegate.sim.laws.commitments import over_committed
from tidegate.sim.laws.quota import Amounts, QuotaTree, add
from tidegate.workloads import let_go, pod_facts, workload_name

WORKLOADS, PODS, JOBS = "tidegate.dev/workloads/", "core/pods/", "batch/jobs/"
_CONFIG = ("core/nodes/", "tidegate.dev/resourceflavors/", "tidegate.dev/clusterqueues/", "tidegate.dev/queues/",
           "core/namespaces/")  # fmt: skip
_PATHS = {PODS: "/api/v1/namespaces/{}/pods/{}", JOBS: "/apis/batch/v1/namespaces/{}/jobs/{}"}
_UNHEARD_S = 90.0
"""So long at most an operator may not have heard of what people did."""
_UNDER_WAY_S = LATEST_S + SLOWEST_S
"""What is sent arrives within this, or never."""

Sums = dict[str, Amounts]


class Witness:
    """Sees every version of everything. `breaches` is what it found."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._objects: dict[str, dict[str, Object]] = {prefix: {} for prefix in (WORKLOADS, PODS, JOBS, *_CONFIG)}
        self._using: dict[str, Using] = {}
        self._pods = Pods(self._asked_of, self._is_gone_lately)
        self._gone_at: dict[str, float] = {}
        """Workloads that are not there any more."""
        self._held_at: dict[str, float] = {}
        """When a Workload was last granted something."""
        self._granted: dict[str, dict[str, int]] = {}
        """What was last said to be granted, by Workload and pod set."""
        self._sizes: dict[str, dict[int, dict[str, int]]] = {}
        """Floors by Workload, generation and pod set."""
        self._trees: list[tuple[float, QuotaTree]] = []
        self.hanging: Mapping[str, float] = {}
        """By path: when a write was sent that hangs in the server. It is judged by what might start then."""
        self._path = ""
        """Of what is judged."""
        self.breaches: list[str] = []
        self.commits = 0
        self.last_at = 0.0
        self.admissions: Counter[str] = Counter()

    def start(self, objects: Callable[[str], list[Object]]) -> None:
        """Take over what there is already."""
        for prefix, known in self._objects.items():
            known |= {f"{prefix}{'/'.join(filter(None, key_of(obj)))}": obj for obj in objects(prefix)}
        self._configure()

    def heard(self, change: Change) -> None:
        """One commit."""
        prefix = next((one for one in self._objects if change.row.key.startswith(one)), None)
        if prefix is None:
            return
        self.commits += 1
        self.last_at = self._clock()
        obj: Object = decode(change.row.value)
        self._path = _PATHS.get(prefix, "").format(*key_of(obj))
        known = self._objects[prefix]
        before = known.pop(change.row.key, None)
        if not change.deleted:
            known[change.row.key] = obj
        if prefix == WORKLOADS:
            if change.deleted:
                self._gone_at["/".join(key_of(obj))] = self._clock()
            self._look("/".join(key_of(obj)), obj)
            self._admitted_once(before, None if change.deleted else obj)
        elif prefix == PODS:
            self._pod(change.row.key, before, None if change.deleted else obj)
        elif prefix == JOBS:
            self._look(_workload_of_job(obj), obj)
            if before is not None and not change.deleted:
                self._let_go(_workload_of_job(obj), _loose(before), _loose(obj))
        else:
            self._configure()

    def _say(self, message: str) -> None:
        self.breaches.append(f"at {self._clock():.3f}s: {message}")

    def _configure(self) -> None:
        parts: list[Any] = [self._objects[prefix].values() for prefix in _CONFIG]
        now = self._clock()
        tree = QuotaTree(snapshot(*parts))
        self._trees.append((now, tree))
        # The one before the oldest that is young enough was still in force when that came.
        young = next(index for index, (since, _) in enumerate(self._trees) if since >= now - _UNHEARD_S)
        self._trees = self._trees[max(0, young - 1) :]

    def _pod(self, key: str, before: Object | None, after: Object | None) -> None:
        self._pods.heard(key, before, after)
        for name in {workload_of(pod) for pod in (before, after) if pod is not None}:
            if name:
                self._look(name, after or before or {})

    def _asked(self, name: str) -> dict[Part, int]:
        """What the Job of a Workload asks for, as it stands."""
        return _loose(self._objects[JOBS].get(_job_of(name)))

    def _asked_of(self, name: str, flavor: str) -> int:
        return sum(count for (_, each), count in self._asked(name).items() if each == flavor)

    def _is_gone_lately(self, name: str) -> bool:
        return self._clock() - self._gone_at.get(name, -_UNDER_WAY_S) < _UNDER_WAY_S

    # ── laws 1 to 3 ──

    def _look(self, name: str, cause: Object) -> None:
        using = self._using.setdefault(name, Using())
        grants, amounts, queue = using.grants(), using.amounts(), using.queue
        raw = self._objects[WORKLOADS].get(WORKLOADS + name)
        pods = self._pods.counted(name)
        if using.granted:
            self._held_at[name] = self._clock()
        patience_s = self._patience_s(name)
        since = self._gone_at if raw is None else self._held_at
        heard = self._clock() - since.get(name, -patience_s) >= patience_s
        stayed = using.staying
        using.look(raw, pods, self._asked(name), now=self._clock(), heard=heard)
        if queue in ("", using.queue):
            self._grown(name, "granted", grants, Using.grants, cause)
            self._grown(name, "in use", amounts, Using.amounts, cause)
        for part, count in using.staying.items():
            most = max(using.might_start(part, self._sent_at(name)), using.loose.get(part, 0))
            if count > max(stayed.get(part, 0), most):
                self._say(f"{name} has {count} pods of {part}, and {most} might start")
        if raw is not None:
            self._floors(name, raw)
        self._places(name, pods)

    def _patience_s(self, name: str) -> float:
        """What was on its way when a grant was taken back may still arrive; that people deleted a Workload may not have
        been heard of for longer."""
        return _UNHEARD_S if WORKLOADS + name not in self._objects[WORKLOADS] else _UNDER_WAY_S

    def _sent_at(self, name: str) -> float:
        """When what was committed may have been sent, at the earliest."""
        now = self._clock()
        return min(now - self._patience_s(name), self.hanging.get(self._path, now))

    def _let_go(self, name: str, before: dict[Part, int], after: dict[Part, int]) -> None:
        """A Job is let go, or made larger, with no more than might start."""
        using = self._using[name]
        for part, count in after.items():
            most = using.might_start(part, self._sent_at(name))
            if before.get(part, 0) < count and using.useful(part, count) > most:
                self._say(f"the Job of {name} may make {count} pods of {part}, and {most} might start")

    def _grown(self, name: str, what: str, before: Amounts, of: Callable[[Using], Amounts], cause: Object) -> None:
        after = of(self._using[name])
        grew = {cell for cell, amount in after.items() if amount > before.get(cell, 0)}
        if not grew:
            return
        found: list[str] = []
        for _, tree in self._recent():
            place = tree.places.get(self._using[name].queue)
            if place is None:
                return
            path = {one.name for one in place.path}
            sums = self._sums(tree, of)
            were: Sums = {one: dict(sums.get(one, {})) for one in sums}
            for one in path:
                add(were.setdefault(one, {}), after, -1)
                add(were[one], before)
            worse = set(over_committed(tree.places.values(), sums)) - set(over_committed(tree.places.values(), were))
            mine = [text for text in worse if any(one in text for one in path)]
            if not mine:
                return
            found = mine
        self._say(f"{name} ({cause.get('kind')} {key_of(cause)}), {what}: {'; '.join(sorted(found))}")

    def _recent(self) -> Iterator[tuple[float, QuotaTree]]:
        now = self._clock()
        for index, (since, tree) in enumerate(self._trees):
            ended = self._trees[index + 1][0] if index + 1 < len(self._trees) else now
            if ended >= now - _UNHEARD_S:
                yield since, tree

    def _sums(self, tree: QuotaTree, of: Callable[[Using], Amounts]) -> Sums:
        sums: Sums = {}
        for using in self._using.values():
            place = tree.places.get(using.queue)
            if place is not None and (amounts := of(using)):
                for one in place.path:
                    add(sums.setdefault(one.name, {}), amounts)
        return sums

    def _floors(self, name: str, raw: Object) -> None:
        """Judged by the size that whoever granted it says to have seen."""
        workload = read(Workload, raw)
        size = {each.name: min(each.floor, each.desired) for each in workload.spec.pod_sets}
        sizes = self._sizes.setdefault(f"{name} {workload.metadata.uid}", {})
        sizes[workload.metadata.generation] = size
        granted = {each.name: each.granted for each in workload.status.pod_sets}
        before, self._granted[name] = self._granted.get(name), granted
        if granted == before or not any(granted.values()):
            return  # A floor that is raised while it runs is asked for like growth; what was granted stays.
        ended = {each.name: each.count for each in workload.status.reclaimed_pod_set_pods}
        said = {each.type: each for each in workload.status.conditions}.get("Admitted")
        for pod_set, floor in sizes.get((said and said.observed_generation) or 0, size).items():
            least = max(0, floor - ended.get(pod_set, 0))
            if granted.get(pod_set, 0) < least:
                self._say(f"{name} is granted {granted} pods, and the floor of {pod_set} is {least}")

    # ── law 4 ──

    def _admitted_once(self, before: Object | None, after: Object | None) -> None:
        was, now = _admitted_at(before), _admitted_at(after)
        if after is not None and now is not None and now != was:
            self.admissions["/".join(key_of(after))] += 1
            if was is not None:
                self._say(f"{key_of(after)} was admitted at {was} and again at {now}, and not evicted in between")
        elif before is not None and after is not None and now is not None:
            self._counts_as_before(before, after)

    # ── law 5 ──

    def _counts_as_before(self, before: Object, after: Object) -> None:
        counted = {each["name"]: each.get("requests") for each in before["spec"]["podSets"]}
        for each in after["spec"]["podSets"]:
            if each.get("requests") != counted.get(each["name"], each.get("requests")):
                said = f"{counted[each['name']]} for a pod of {each['name']}, and {each.get('requests')} while it runs"
                self._say(f"{'/'.join(key_of(after))} counted {said}")

    def _places(self, name: str, pods: list[Object]) -> None:
        places = Counter(
            (pod_facts(pod).pod_set, marks[INDEX])
            for pod in pods
            if INDEX in (marks := pod["metadata"].get("annotations") or {}) and pod_facts(pod).present
        )
        for (pod_set, index), count in places.items():
            if count > 1:
                self._say(f"{name} has {count} pods for place {index} of {pod_set}")


def _workload_of_job(job: Object) -> str:
    return f"{job['metadata']['namespace']}/{workload_name('Job', job['metadata']['name'])}"


def _job_of(workload: str) -> str:
    """The key of the Job that a Workload of this name stands for."""
    return JOBS + workload.replace("/job-", "/", 1)


def _loose(job: Object | None) -> dict[Part, int]:
    """What a Job may make, as it stands: no more than it has left to do. One that does not say how often is done when
    one of its pods is: it makes no others then."""
    if job is None:
        return {}
    entry = builtin().of({"apiVersion": "batch/v1", "kind": "Job"})
    spec, status = job["spec"], job.get("status") or {}
    ended = status.get("succeeded", 0)
    left = spec["completions"] - ended if "completions" in spec else status.get("active", 0) if ended else MOST_PODS
    return {(name, one.flavor or "default"): min(one.count, left) for name, one in let_go(entry, job).items()}


def _admitted_at(raw: Object | None) -> str | None:
    conditions = ((raw or {}).get("status") or {}).get("conditions") or ()
    return next(
        (each["lastTransitionTime"] for each in conditions if each["type"] == "Admitted" and each["status"] == "True"),
        None,
    )
