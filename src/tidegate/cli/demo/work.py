"""Two tenants and what they run: pods that each take one of the machine's slots and sleep for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]

SLOTS = 8
"""Parts the machine's cpus are cut into, so that the story is the same on every machine."""


@dataclass(frozen=True, slots=True)
class Work:
    """One tenant's Job."""

    tenant: str
    name: str
    pods: int
    """That run at once."""
    floor: int
    tasks: int
    """That end well in all."""
    seconds: int
    """Each of them takes."""

    @property
    def title(self) -> str:
        return f"{self.tenant}/{self.name}"


ANA = Work("ana", "sweep", pods=SLOTS, floor=1, tasks=32, seconds=3)
BEN = Work("ben", "report", pods=SLOTS // 2, floor=SLOTS // 2, tasks=SLOTS // 2, seconds=6)
BOTH = (ANA, BEN)


async def make_tenant(client: Client, name: str) -> None:
    """A namespace with a Queue: an empty one is enough."""
    from tidegate.controller.kinds import QUEUES
    from tidegate.kube.resources import NAMESPACES

    await client.create(NAMESPACES, {"metadata": {"name": name}})
    await client.create(QUEUES, {"metadata": {"name": "default", "namespace": name}, "spec": {}})


def job(work: Work, slot_millis: int) -> Json:
    """The Job, as anybody would write it for Kubernetes; one annotation makes it elastic."""
    container = {
        "name": "main",
        "image": "host",
        "command": ["sleep", str(work.seconds)],
        "resources": {"requests": {"cpu": f"{slot_millis}m"}},
    }
    return {
        "metadata": {
            "name": work.name,
            "namespace": work.tenant,
            "annotations": {"tidegate.dev/min-count": str(work.floor)},
        },
        "spec": {
            "parallelism": work.pods,
            "completions": work.tasks,
            "template": {
                "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 2, "containers": [container]}
            },
        },
    }


async def slot_millis(client: Client) -> int:
    """Thousandths of a cpu that one slot is: an eighth of what the node has to give."""
    from tidegate.kube.resources import NODES
    from tidegate.model.quantity import NANO
    from tidegate.model.resources import Resources

    async for event in client.watch(NODES, initial=True):
        if event.type == "BOOKMARK":
            continue
        conditions = (event.object.get("status") or {}).get("conditions") or ()
        if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            there = Resources.parse(event.object["status"]["allocatable"]).of("cpu")
            return there * 1000 // NANO // SLOTS
    raise OSError("the server closed the watch on its node")
