"""Who there is at each step, so that a step cannot speak of somebody who is not there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from tidegate.model.kinds.queue import ROOT
from tidegate.model.problems import ManifestError, Problem
from tidegate.scheduler import Snapshot
from tidegate.sim.scenario.objects import Thing


class UnknownNameError(Exception):
    """A name that means nobody, or more than one: what is wrong; what to do."""


class Names:
    """The names a scenario may use, followed from step to step."""

    def __init__(self) -> None:
        self.policies: Collection[str] | None = None
        """Those that can be played; None where ClusterQueues are not asked for theirs."""
        self.pod_sets: dict[str, tuple[str, ...]] = {}
        """Of every workload, by namespace/name."""
        self.things: dict[str, set[str]] = {"ClusterQueue": {ROOT}}
        """All else by kind."""
        self.node_groups: dict[str, list[str]] = {}
        """Names of nodes that were written as one entry with a count."""

    def add(self, kind: str, name: str) -> None:
        self.things.setdefault(kind, set()).add(name)

    def enter(self, found: Thing) -> None:
        """An object comes, or is another than before. A cluster goes on by drf where nobody registered the policy; here
        that would be an answer to another question."""
        if found.policy is not None and self.policies is not None and found.policy not in self.policies:
            known = ", ".join(sorted(self.policies))
            told = f'nobody registered "{found.policy}" here; write one of {known}, or install the package that has it'
            raise ManifestError([Problem(("spec", "policy"), told)])
        if found.kind == "Workload":
            self.pod_sets[found.name] = found.pod_sets
        else:
            self.add(found.kind, found.name)

    def workload(self, reference: str) -> str:
        """The namespace/name of the workload that is meant."""
        if reference in self.pod_sets:
            return reference
        matching = [name for name in self.pod_sets if name.partition("/")[2] == reference]
        if len(matching) > 1:
            raise UnknownNameError(
                f'"{reference}" is the name of several workloads; write one of {", ".join(matching)}'
            )
        if not matching:
            known = [name.partition("/")[2] for name in self.pod_sets]
            raise UnknownNameError(f'there is no workload "{reference}" at this step; {_instead(reference, known)}')
        return matching[0]

    def pod_set(self, workload: str, named: str | None) -> str:
        """The pod set that is meant; without a name the only one, or `main`."""
        known = self.pod_sets[workload]
        if named is None and (len(known) == 1 or "main" in known):
            return known[0] if len(known) == 1 else "main"
        if named is None:
            raise UnknownNameError(f"is missing; name one of {', '.join(known)}")
        if named not in known:
            raise UnknownNameError(f'{workload} has no pod set "{named}"; {_instead(named, known)}')
        return named

    def place(self, key: str) -> str:
        """How a queue is written of which somebody speaks as if it were a workload; empty if none is meant."""
        word, _, name = key.rpartition(" ")
        for kind in ("Queue", "ClusterQueue"):
            is_meant = (
                word.replace(" ", "").casefold() == kind.casefold() if word else name in self.things.get(kind, ())
            )
            if is_meant:
                return f"{kind.lower()} {name}"
        return ""

    def existing(self, kind: str, name: str) -> str:
        """An object that is there."""
        known = self.things.get(kind, set())
        if name not in known:
            raise UnknownNameError(f'there is no {kind} "{name}" at this step; {_instead(name, sorted(known))}')
        return name

    def nodes(self, name: str) -> list[str]:
        """The nodes a name means: one, or all of an entry with a count. Alike nodes may be numbered as one likes."""
        known = self.things.get("Node", set())
        if name in known:
            return [name]
        if left := [one for one in self.node_groups.get(name, ()) if one in known]:
            return left
        numbered = re.fullmatch(r"(.+?)[-.]?\d+", name)
        left = [one for one in self.node_groups.get(numbered[1] if numbered else "", ()) if one in known]
        return [left[-1]] if left else [self.existing("Node", name)]


def names_of(snapshot: Snapshot) -> Names:
    """Who there is in a cluster."""
    names = Names()
    names.pod_sets = {one.name: tuple(each.name for each in one.pod_sets) for one in snapshot.workloads}
    for kind, there in (
        ("Node", [node.name for node in snapshot.nodes]),
        ("ResourceFlavor", snapshot.flavors),
        ("ClusterQueue", snapshot.cluster_queues),
        ("Queue", snapshot.queues),
        ("Namespace", snapshot.namespaces),
    ):
        for name in there:
            names.add(kind, name)
    return names


def _instead(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return f"write one of {', '.join(names[:8])}" if names else "add it before this"
