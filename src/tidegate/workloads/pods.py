"""What a pod says of itself: whose it is, which flavor it was granted, and whether it takes room."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.model.jobs import Obj, inside
from tidegate.workloads.names import FLAVOR, GATE, POD_SET, WORKLOAD


@dataclass(frozen=True, slots=True)
class PodFacts:
    """One pod, as a queue sees it."""

    name: str
    workload: str
    """The name of its Workload, in its namespace; empty where it has none."""
    pod_set: str
    flavor: str
    gated: bool
    """It waits for its grant."""
    present: bool
    """It takes room: it may run or runs, and is not gone yet."""
    succeeded: bool


def pod_facts(pod: Obj) -> PodFacts:
    """The facts of one pod."""
    marks = inside(pod, ("metadata", "annotations"))
    phase = inside(pod, ("status",)).get("phase")
    waits = gated(pod)
    return PodFacts(
        name=str(pod["metadata"]["name"]),
        workload=str(marks.get(WORKLOAD) or ""),
        pod_set=str(marks.get(POD_SET) or ""),
        flavor=str(marks.get(FLAVOR) or ""),
        gated=waits,
        present=not waits and phase not in ("Succeeded", "Failed"),
        succeeded=phase == "Succeeded",
    )


def gated(pod: Obj) -> bool:
    """Whether Tidegate's gate holds it back."""
    return any(gate.get("name") == GATE for gate in inside(pod, ("spec",)).get("schedulingGates") or ())
