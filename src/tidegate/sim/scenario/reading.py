"""Scenario documents ─► Scripts: what people wrote, checked as a whole before anything is played."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from tidegate.model.codec import decode
from tidegate.model.kinds import Scenario
from tidegate.model.kinds.scenario import ScenarioNode, Trace
from tidegate.model.problems import ManifestError, Problem
from tidegate.model.problems import Path as Field
from tidegate.scheduler import Node
from tidegate.sim.live.adopting import Live
from tidegate.sim.load.trace import Job, read_jobs
from tidegate.sim.scenario.names import Names, UnknownNameError, names_of
from tidegate.sim.scenario.objects import Thing, taint, thing
from tidegate.sim.scenario.script import Script
from tidegate.sim.scenario.source import Document, Fault, MalformedError, documents, documents_in
from tidegate.sim.scenario.steps import Steps
from tidegate.sim.world import World

_MOST_NODES = 100_000


def read_scripts(path: Path, live: Live | None = None, policies: Collection[str] | None = None) -> list[Script]:
    """The scenarios of a file, beginning with a live cluster if there is one; MalformedError with everything that is
    wrong in it. With `policies`, also where a ClusterQueue names none of them."""
    scripts: list[Script] = []
    faults: list[Fault] = []
    for document in documents(path):
        try:
            scripts.append(_Reader(document, path, live, policies).script(len(scripts)))
        except MalformedError as error:
            faults += error.faults
    if faults:
        raise MalformedError(*faults)
    if not scripts:
        raise MalformedError(Fault(str(path), 1, Problem((), "has no Scenario; begin one with kind: Scenario")))
    return scripts


def script_of_trace(path: Path, allocatable: Mapping[str, str]) -> Script:
    """A trace on its own: one node, and a Queue for every user."""
    lines = [
        "kind: Scenario",
        f"metadata: {{name: {json.dumps(path.stem)}}}",
        f"spec: {{nodes: [{{name: all, allocatable: {json.dumps(dict(allocatable))}}}]}}",
    ]
    document = next(documents_in("\n".join(lines), "--capacity"))
    return with_trace(_Reader(document, path).script(0), path)


def script_of_live(live: Live) -> Script:
    """A cluster on its own: nothing more comes."""
    document = next(documents_in("kind: Scenario\nmetadata: {name: from-cluster}\nspec: {}", "--from-cluster"))
    return _Reader(document, Path("--from-cluster"), live).script(0)


def with_trace(script: Script, path: Path) -> Script:
    """The same world with the jobs of another trace; how its columns are called is the scenario's to say."""
    spec = script.scenario.spec
    trace = msgspec.structs.replace(spec.trace, file=str(path)) if spec.trace else Trace(file=str(path))
    scenario = msgspec.structs.replace(script.scenario, spec=msgspec.structs.replace(spec, trace=trace))
    return replace(script, scenario=scenario, jobs=tuple(read_jobs(trace, path)))


def located(error: ManifestError, document: Document, field: Field = ()) -> MalformedError:
    """What is wrong with a manifest, where it stands in the document."""
    return MalformedError(*(document.fault((*field, *one.path), one.message) for one in error.problems))


class _Reader:
    """Reads one document."""

    def __init__(
        self, document: Document, path: Path, live: Live | None = None, policies: Collection[str] | None = None
    ) -> None:
        self.document = document
        self.folder = path.parent
        self.file = path
        self.live = live
        self.names = Names() if live is None else names_of(live.snapshot)
        self.names.policies = policies
        self.faults: list[Fault] = []
        """Of objects: all are told at once."""

    def script(self, number: int) -> Script:
        value = self.document.value
        if isinstance(value, dict) and value.get("kind") != "Scenario":
            raise self.document.refuse(("kind",), _no_scenario(value.get("kind")))
        try:
            scenario = decode(value)
        except ManifestError as error:
            raise located(error, self.document) from None
        assert isinstance(scenario, Scenario)
        things = tuple(self._things(scenario))
        if self.faults:
            raise MalformedError(*self.faults)
        moments = Steps(self.document, self.names).moments(scenario.spec.steps)
        self._check_queues(scenario)
        name = scenario.metadata.name or f"{self.file.stem}-{number + 1}"
        return Script(name, self.document, scenario, things, moments, self._jobs(scenario), self.live)

    def _check_queues(self, scenario: Scenario) -> None:
        """Where nobody would ever be admitted, the measures of a load would be those of nothing."""
        synthetic, trace = scenario.spec.synthetic, scenario.spec.trace
        named: list[tuple[Field, str]] = [
            (("synthetic", "mix", index, "queue"), mix.queue)
            for index, mix in enumerate(synthetic.mix if synthetic else ())
        ]
        named += [(("trace", "queues", user), queue) for user, queue in (trace.queues if trace else {}).items()]
        for field, queue in named:
            try:
                self.names.existing("Queue", queue)
            except UnknownNameError as error:
                raise self.document.refuse(("spec", *field), str(error)) from None

    def _jobs(self, scenario: Scenario) -> tuple[Job, ...]:
        trace = scenario.spec.trace
        if trace is None:
            return ()
        path = self.folder / trace.file
        if not path.is_file():
            told = f'there is no file "{trace.file}" beside this one; check its name'
            raise self.document.refuse(("spec", "trace", "file"), told)
        return tuple(read_jobs(trace, path))

    def _things(self, scenario: Scenario) -> Iterator[Thing]:
        """Everything there is at the beginning."""
        spec = scenario.spec
        if sum(group.count for group in spec.nodes) > _MOST_NODES:
            raise self.document.refuse(("spec", "nodes"), f"are more than {_MOST_NODES}; write fewer, larger ones")
        for index, group in enumerate(spec.nodes):
            yield from self._nodes(group, ("spec", "nodes", index))
        for index, name in enumerate(spec.include):
            yield from self._included(name, ("spec", "include", index))
        there: set[tuple[str, str]] = set()
        for index, manifest in enumerate(spec.objects):
            field: Field = ("spec", "objects", index)
            for found in self._thing(manifest, self.document, field):
                if (found.kind, found.name) in there:
                    told = f"{found.kind} {found.name} is there twice; remove or rename one"
                    self.faults.append(self.document.fault((*field, "metadata", "name"), told))
                there.add((found.kind, found.name))
                yield found

    def _nodes(self, group: ScenarioNode, field: Field) -> Iterator[Thing]:
        try:
            taints = tuple(taint(one, ("taints", index)) for index, one in enumerate(group.taints))
        except ManifestError as error:
            raise located(error, self.document, field) from None
        names = [group.name] if group.count == 1 else [f"{group.name}-{number}" for number in range(group.count)]
        self.names.node_groups[group.name] = names
        for name in names:
            if name in self.names.things.get("Node", ()):
                raise self.document.refuse((*field, "name"), f'the node "{name}" is there twice; rename one')
            self.names.add("Node", name)
            node = Node(name=name, allocatable=group.allocatable, labels=dict(group.labels), taints=taints)
            yield Thing("Node", name, lambda world, node=node: _put(node, world))  # type: ignore[misc]

    def _included(self, name: str, field: Field) -> Iterable[Thing]:
        path = self.folder / name
        if not path.is_file():
            raise self.document.refuse(field, f'there is no file "{name}" beside this one; check its name')
        for document in documents(path):
            for place, manifest in _manifests(document.value):
                yield from self._thing(manifest, document, place)

    def _thing(self, manifest: object, document: Document, field: Field) -> Iterator[Thing]:
        """What a manifest means, if it means anything."""
        try:
            found = thing(manifest)
            self.names.enter(found)
        except ManifestError as error:
            self.faults += located(error, document, field).faults
        else:
            yield found


def _no_scenario(kind: object) -> str:
    if not kind:
        return "is missing; write kind: Scenario"
    if isinstance(kind, str) and kind.casefold() == "scenario":
        return f'"{kind}" is not known here; write kind: Scenario'
    return f'"{kind}" is not a Scenario; name its file in spec.include instead'


def _manifests(value: object) -> Iterator[tuple[Field, object]]:
    """A manifest, or those of a List, as `kubectl get -o yaml` writes it."""
    items = value.get("items") if isinstance(value, dict) and value.get("kind") == "List" else None
    if isinstance(items, list):
        yield from ((("items", index), item) for index, item in enumerate(items))
    else:
        yield (), value


def _put(node: Node, world: World) -> None:
    world.nodes[node.name] = node
