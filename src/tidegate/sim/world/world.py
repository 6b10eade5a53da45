"""The world: what there is, and the verbs of what may happen to it from outside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.kinds.queue import QueueSpec
from tidegate.scheduler import Instant, Node, Snapshot
from tidegate.sim.agenda import Agenda
from tidegate.sim.world.application import Application
from tidegate.sim.world.happenings import Happening, counted
from tidegate.sim.world.pods import Batch, Phase, PodGroup

NAME_LABEL = "kubernetes.io/metadata.name"


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds pods take from being free to start to running, and from being taken back to being gone."""

    start: int = 0
    stop: int = 0


class CannotHappenError(Exception):
    """What a verb speaks of is not there. One sentence: what is wrong; what to do."""


class World:
    """Nodes, queues and applications at one moment, and what is due later."""

    def __init__(self, delays: Delays = Delays()) -> None:  # noqa: B008 - frozen
        self.now: Instant = 0
        self.delays = delays
        self.agenda = Agenda()
        self.nodes: dict[str, Node] = {}
        self.flavors: dict[str, ResourceFlavorSpec] = {}
        self.cluster_queues: dict[str, ClusterQueueSpec] = {}
        self.queues: dict[str, QueueSpec] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.priority_classes: dict[str, int] = {}
        self.applications: dict[str, Application] = {}
        """All that were not deleted, finished ones too."""
        self.waiting_or_running: dict[str, Application] = {}
        self.leaving: list[Application] = []
        """Deleted or finished ones that still have pods on their way out."""
        self._retired = 0
        self.timeline: list[Happening] = []
        self.work_lost: dict[str, dict[str, int]] = defaultdict(dict)
        """By Queue and resource: amount x seconds of pods that ran for nothing."""

    def snapshot(self) -> Snapshot:
        """Everything the scheduler may know."""
        there = [application.view() for application in self.waiting_or_running.values()]
        return Snapshot(
            nodes=tuple(self.nodes.values()),
            flavors=dict(self.flavors),
            cluster_queues=dict(self.cluster_queues),
            queues=dict(self.queues),
            namespaces=self._labelled_namespaces(),
            workloads=(*there, *(application.view() for application in self.leaving)),
        )

    def _labelled_namespaces(self) -> dict[str, Mapping[str, str]]:
        """Those that were written down, and those that Queues are in; each has its name as a label, as Kubernetes
        gives it."""
        names = {*self.namespaces, *(queue.partition("/")[0] for queue in self.queues)}
        return {name: {NAME_LABEL: name, **self.namespaces.get(name, {})} for name in sorted(names)}

    def tell(self, what: str, who: str, detail: str = "") -> None:
        self.timeline.append(Happening(self.now, what, who, detail))

    # What may happen from outside.

    def submit(self, application: Application) -> None:
        self.applications[application.name] = self.waiting_or_running[application.name] = application
        self.rank(application)
        wanted = ", ".join(
            f"{group.name} {group.count}" + (f" (at least {group.floor})" if group.floor != group.count else "")
            for group in application.pod_groups
        )
        self.tell("submit", application.name, wanted)

    def rank(self, application: Application) -> None:
        """By its priority class as it is now."""
        name = application.priority_class
        if name is not None:
            application.priority = self.priority_classes.get(name, application.priority)
            application.missing_class = "" if name in self.priority_classes else name
            application.changed()

    def rank_all(self) -> None:
        """Priority classes are others than before."""
        for application in self.waiting_or_running.values():
            self.rank(application)

    def resize(self, name: str, pod_set: str, count: int) -> None:
        """The application wants another number of pods, those that ended well included."""
        application = self.applications[name]
        if application.finished_at is not None:
            told = f"{name} has finished at {application.finished_at}s and cannot be resized; resize it before that"
            raise CannotHappenError(told)
        group = application.group(pod_set)
        self.tell("resize", name, f"{pod_set} {group.count} -> {count}")
        group.count = count
        application.changed()
        self.finish_if_done(application)

    def succeed(self, name: str, pod_set: str, pods: int) -> None:
        """Pods end well, the longest-running first."""
        application, group = self._with_pods(name, pod_set, pods)
        for batch, count in list(group.oldest(pods)):
            self.end_well(application, group, batch, count)

    def fail(self, name: str, pod_set: str, pods: int) -> None:
        """Pods fail. Others start in their place: what they were granted is not given back."""
        application, group = self._with_pods(name, pod_set, pods)
        for batch, count in list(group.oldest(pods)):
            self.lose_work(application, group, batch, count)
            group.take(batch, count)
            self.start(application, group, batch.flavor, count)
        self.tell("fail", name, f"{pod_set} {pods}")

    def _with_pods(self, name: str, pod_set: str, pods: int) -> tuple[Application, PodGroup]:
        application = self.applications[name]
        group = application.group(pod_set)
        there = sum(group.counts(Phase.STARTING, Phase.RUNNING).values())
        if there < pods:
            raise CannotHappenError(
                f"{name} has {there} pods of {pod_set} at {self.now}s, so {pods} of them cannot end; "
                "name fewer, or a later moment"
            )
        return application, group

    def delete(self, name: str) -> None:
        """A workload goes, and its pods with it."""
        application = self.applications.pop(name)
        self.tell("delete", name)
        self.retire(application)

    # What pods do.

    def start(self, application: Application, group: PodGroup, flavor: str, count: int) -> None:
        """Pods come into being: they run after the start delay, and end after they ran as long as they do."""
        batch = group.enter(flavor, count, Phase.STARTING, self.now)
        application.changed()
        if self.delays.start:
            self.agenda.enter(self.now + self.delays.start, partial(self._run, application, group, batch))
        else:
            self._run(application, group, batch)

    def _run(self, application: Application, group: PodGroup, batch: Batch) -> None:
        if batch.phase is not Phase.STARTING:
            return
        batch.phase, batch.since = Phase.RUNNING, self.now
        application.changed()
        if group.runs is not None:
            self.agenda.enter(self.now + group.runs, partial(self.run_out, application, group, batch))

    def run_out(self, application: Application, group: PodGroup, batch: Batch) -> None:
        """Pods have run as long as they do."""
        if batch.phase is Phase.RUNNING and batch.count:
            self.end_well(application, group, batch, batch.count)

    def end_well(self, application: Application, group: PodGroup, batch: Batch, count: int) -> None:
        """Pods have done their work; what they were granted comes back."""
        group.take(batch, count)
        group.ended += count
        application.changed()
        self.tell("end", application.name, counted({group.name: {batch.flavor: count}}))
        self.finish_if_done(application)

    def take_back(self, application: Application, group: PodGroup, batch: Batch, count: int) -> None:
        """Granted pods lose their grant; those that exist take the stop delay to be gone."""
        existed = batch.phase is not Phase.HELD
        if existed:
            self.lose_work(application, group, batch, count)
        group.take(batch, count)
        application.changed()
        if existed and self.delays.stop:
            going = group.enter(batch.flavor, count, Phase.GOING, self.now)
            self.agenda.enter(self.now + self.delays.stop, partial(self.gone, application, group, going))

    def gone(self, application: Application, group: PodGroup, batch: Batch) -> None:
        """Pods that were going are gone."""
        group.take(batch, batch.count)
        application.changed()
        if application in self.leaving and not any(one.batches for one in application.pod_groups):
            self.leaving.remove(application)

    def lose_work(self, application: Application, group: PodGroup, batch: Batch, count: int) -> None:
        if batch.phase is not Phase.RUNNING:
            return
        lost = self.work_lost[application.queue]
        for resource, amount in group.requests.items():
            lost[resource] = lost.get(resource, 0) + amount * count * (self.now - batch.since)

    # The end of an application.

    def finish_if_done(self, application: Application) -> None:
        if application.finished_at is None and application.has_succeeded:
            self.finish(application)

    def finish(self, application: Application) -> None:
        """It has ended and will not ask again."""
        self.tell("finish", application.name)
        application.finished_at = self.now
        self.retire(application)

    def retire(self, application: Application) -> None:
        """It asks for nothing any more; pods it still has go, and are counted until they are gone."""
        if self.waiting_or_running.get(application.name) is not application:
            return
        del self.waiting_or_running[application.name]
        for group in application.pod_groups:
            for batch in list(group.in_phase(Phase.HELD, Phase.STARTING, Phase.RUNNING)):
                self.take_back(application, group, batch, batch.count)
        if any(group.batches for group in application.pod_groups):
            application.active, application.admitted_at = False, None
            self._retired += 1
            application.seen_as = f"{application.name} (gone {self._retired})"
            self.leaving.append(application)
        application.changed()
