"""The steps of a scenario, each verb checked against who is there by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from tidegate.model.kinds.scenario import Delete, EndPods, Expectation, Resize, Step, Submit, SubmittedPodSet
from tidegate.model.problems import ManifestError, Problem
from tidegate.model.problems import Path as Field
from tidegate.sim.scenario.names import Names, UnknownNameError
from tidegate.sim.scenario.objects import NAMESPACED, SIMULATED, thing
from tidegate.sim.scenario.script import Action, Expected, Moment
from tidegate.sim.scenario.source import Document, Fault, MalformedError
from tidegate.sim.world import Application, PodGroup, World

Do = Callable[[World], None]

_OF_WORKLOADS = ("state", "granted", "reason", "evictions", "shrinks", "admitted_at")
_OF_PLACES = ("deserved", "allocated", "share", "pending")


class Steps:
    """Reads the steps of one document. It goes on after a fault, so that all are told at once."""

    def __init__(self, document: Document, names: Names) -> None:
        self.document = document
        self.names = names
        self.faults: list[Fault] = []

    def moments(self, steps: tuple[Step, ...]) -> tuple[Moment, ...]:
        found = []
        for index, step in enumerate(steps):
            field: Field = ("spec", "steps", index)
            if index and step.at < steps[index - 1].at:
                before = steps[index - 1].at
                self._wrong(
                    (*field, "at"), f"{step.at} is before the step above, at {before}; put them in order of time"
                )
            actions = tuple(self._actions(step, field))
            expected = tuple(self._expected(step.expect, (*field, "expect")))
            found.append(Moment(step.at.seconds, actions, expected))
        if self.faults:
            raise MalformedError(*self.faults)
        return tuple(found)

    def _wrong(self, field: Field, message: str) -> None:
        self.faults.append(self.document.fault(field, message))

    def _actions(self, step: Step, field: Field) -> Iterator[Action]:
        """Objects first, then who goes and who comes, then what applications do: all before one plan."""
        verbs = (
            ("apply", step.apply, self._apply),
            ("delete", step.delete, self._delete),
            ("submit", step.submit, self._submit),
            ("resize", step.resize, self._resize),
            ("succeed", step.succeed, partial(self._end, World.succeed)),
            ("fail", step.fail, partial(self._end, World.fail)),
        )
        read: Callable[[Any], Do]
        for verb, given, read in verbs:
            for place, item in _items(given, (*field, verb)):
                try:
                    yield Action(place, read(item))
                except UnknownNameError as error:
                    self._wrong((*place, "name"), str(error))
                except ManifestError as error:
                    for problem in error.problems:
                        self._wrong((*place, *problem.path), problem.message)

    def _apply(self, manifest: Mapping[str, Any]) -> Do:
        found = thing(manifest)
        self.names.enter(found)
        return partial(_applied, found)

    def _delete(self, item: Delete) -> Do:
        if item.kind not in SIMULATED:
            raise ManifestError([Problem(("kind",), f'"{item.kind}" is not simulated; write one of {_KINDS}')])
        if item.kind == "Workload":
            reference = f"{item.namespace}/{item.name}" if item.namespace else item.name
            name = self.names.workload(reference)
            del self.names.pod_sets[name]
            return lambda world: world.delete(name)
        if item.kind == "Node":
            nodes = self.names.nodes(item.name)
            self.names.things["Node"] -= set(nodes)
            return partial(_delete_things, "Node", nodes)
        name = f"{item.namespace or 'default'}/{item.name}" if item.kind in NAMESPACED else item.name
        self.names.existing(item.kind, name)
        self.names.things[item.kind].discard(name)
        return partial(_delete_things, item.kind, [name])

    def _submit(self, item: Submit) -> Do:
        namespace, slash, queue = item.queue.partition("/")
        if not slash or not namespace or not queue or "/" in queue:
            raise ManifestError([Problem(("queue",), f'"{item.queue}" is not a queue; write namespace/name')])
        name = f"{namespace}/{item.name}"
        if "/" in item.name or any(letter.isspace() for letter in item.name):
            raise ManifestError([Problem(("name",), f'"{item.name}" is not a name; leave out slashes and spaces')])
        if name in self.names.pod_sets:
            raise ManifestError([Problem(("name",), f'"{item.name}" was submitted already; choose another name')])
        self.names.pod_sets[name] = tuple(pod_set.name for pod_set in item.pod_sets)
        return lambda world: world.submit(application(item, name, world.now))

    def _resize(self, item: Resize) -> Do:
        name = self.names.workload(item.name)
        pod_set = self._pod_set(name, item.pod_set)
        return lambda world: world.resize(name, pod_set, item.count)

    def _end(self, verb: Any, item: EndPods) -> Do:
        name = self.names.workload(item.name)
        pod_set = self._pod_set(name, item.pod_set)
        return lambda world: verb(world, name, pod_set, item.pods)

    def _pod_set(self, workload: str, named: str | None) -> str:
        try:
            return self.names.pod_set(workload, named)
        except UnknownNameError as error:
            raise ManifestError([Problem(("podSet",), str(error))]) from None

    def _expected(self, expect: Mapping[str, Expectation], field: Field) -> Iterator[Expected]:
        for key, expectation in expect.items():
            place = (*field, key)
            try:
                yield self._about(key, expectation, place)
            except UnknownNameError as error:
                self._wrong(place, str(error))
            except ManifestError as error:
                for problem in error.problems:
                    self._wrong((*place, *problem.path), problem.message)

    def _about(self, key: str, expectation: Expectation, place: Field) -> Expected:
        word, _, name = key.partition(" ")
        name = name.strip()
        if word in ("queue", "clusterqueue") and name:
            _only(expectation, _OF_PLACES, _OF_WORKLOADS, "a workload, not of a queue")
            kind = "Queue" if word == "queue" else "ClusterQueue"
            return Expected(place, expectation, place=self.names.existing(kind, name))
        try:
            workload = self.names.workload(key)
        except UnknownNameError as error:
            meant = self.names.place(key)
            raise UnknownNameError(f'"{key}" is no workload; did you mean "{meant}"?') if meant else error from None
        _only(expectation, _OF_WORKLOADS, _OF_PLACES, "a queue, not of a workload")
        for pod_set in expectation.granted:
            if pod_set not in self.names.pod_sets[workload]:
                known = ", ".join(self.names.pod_sets[workload])
                message = f"{workload} has no such pod set; write one of {known}"
                raise ManifestError([Problem(("granted", pod_set), message)])
        return Expected(place, expectation, workload=workload)


_KINDS = ", ".join(SIMULATED)


def _only(expectation: Expectation, fine: tuple[str, ...], wrong: tuple[str, ...], whose: str) -> None:
    """Refuses what cannot be expected of this kind of thing."""
    names = dict(zip(expectation.__struct_fields__, expectation.__struct_encode_fields__, strict=True))
    for name in wrong:
        if getattr(expectation, name) not in (None, {}):
            known = ", ".join(names[one] for one in fine)
            raise ManifestError([Problem((names[name],), f"is something of {whose}; write one of {known}")])


def _items(given: Any, field: Field) -> Iterator[tuple[Field, Any]]:
    """One item or a list, with the field of each."""
    if isinstance(given, tuple | list):
        yield from (((*field, index), item) for index, item in enumerate(given))
    else:
        yield field, given


def application(item: Submit, name: str, now: int) -> Application:
    """A Workload in short form as it comes into the world."""
    return Application(
        name=name,
        queue=item.queue,
        created=now,
        pod_groups=[pod_group(pod_set) for pod_set in item.pod_sets],
        priority=item.priority,
        priority_class=item.priority_class_name,
        active=item.active,
        user=item.user,
        groups=item.groups,
        max_run_seconds=item.max_run_seconds,
    )


def pod_group(pod_set: SubmittedPodSet) -> PodGroup:
    return PodGroup(
        name=pod_set.name,
        count=pod_set.count,
        floor=pod_set.floor,
        step=pod_set.step,
        max_count=pod_set.max_count,
        requests=pod_set.requests,
        node_selector=dict(pod_set.node_selector),
        mixes=pod_set.mixes,
        runs=pod_set.runs.seconds if pod_set.runs is not None else None,
    )


def _applied(found: Any, world: World) -> None:
    found.apply(world)
    world.tell("apply", f"{found.kind} {found.name}")


def _delete_things(kind: str, names: list[str], world: World) -> None:
    there: dict[str, Any] = {
        "Node": world.nodes,
        "Namespace": world.namespaces,
        "PriorityClass": world.priority_classes,
        "ResourceFlavor": world.flavors,
        "ClusterQueue": world.cluster_queues,
        "Queue": world.queues,
    }
    for name in names:
        there[kind].pop(name, None)
        world.tell("delete", f"{kind} {name}")
    world.rank_all()
