"""Everything that happened in a house while operators came and went, in order and with times: what a failure that
comes once in a hundred runs has to tell, since nobody sees it again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.controller.house import House
from tidegate.controller.kinds import WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object, Resource
from tidegate.workloads import pod_facts


def granted(workload: Object) -> int:
    return sum(each["granted"] for each in (workload.get("status") or {}).get("podSets") or ())


class Trace:
    """Sees every version of Workloads, Jobs, pods and the lease; adds up what was granted and how often."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.most = 0
        """So much was granted at once."""
        self.admissions: dict[str, int] = {}
        self._began = asyncio.get_running_loop().time()
        self._lines: list[str] = []
        self._workloads: dict[str, Object] = {}
        self._said: dict[str, str] = {}
        self._versions = 0
        self._heard_more = asyncio.Event()

    def note(self, what: str) -> None:
        """A line of the trace."""
        self._lines.append(f"{asyncio.get_running_loop().time() - self._began:8.3f} {what}")

    async def watch(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for resource in (WORKLOADS, r.JOBS, r.PODS):
                group.create_task(self._follow(resource, self.house.namespace))
            group.create_task(self._follow(r.LEASES, "kube-system"))

    async def _follow(self, resource: Resource[Object], namespace: str) -> None:
        async for event in self.house.client.watch(resource, namespace, initial=True):
            if event.type != "BOOKMARK":
                self._heard(event.type, event.object, resource.kind)
        self.note(f"the watch of {resource.kind} has ended")

    async def more(self, versions: int, within_s: float) -> None:
        """Until so many more versions of Workloads were heard of; no longer than this."""
        wanted = self._versions + versions
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self._versions < wanted:
                    self._heard_more.clear()
                    await self._heard_more.wait()

    def _heard(self, change: str, obj: Object, kind: str) -> None:
        name, version = obj["metadata"]["name"], obj["metadata"]["resourceVersion"]
        if kind == "Workload":
            self._count(change, obj)
            self._versions += 1
            self._heard_more.set()
        said = "is gone" if change == "DELETED" else _told(kind, obj)
        if self._said.get(f"{kind} {name}") != said:
            self._said[f"{kind} {name}"] = said
            total = sum(granted(each) for each in self._workloads.values())
            over = "  TOO MUCH" if total > self.house.cpu else ""
            self.note(f"v{version} {kind} {name}: {said}" + (f"; {total} granted{over}" if kind == "Workload" else ""))

    def _count(self, change: str, obj: Object) -> None:
        name = obj["metadata"]["name"]
        before = self._workloads.pop(name, {})
        if change != "DELETED":
            self._workloads[name] = obj
            if (obj.get("status") or {}).get("state") == "Admitted" != (before.get("status") or {}).get("state"):
                self.admissions[name] = self.admissions.get(name, 0) + 1
        self.most = max(self.most, sum(granted(each) for each in self._workloads.values()))

    @contextlib.contextmanager
    def told(self, logs: Path | None = None) -> Iterator[None]:
        """What fails inside carries the trace, and what operators logged."""
        try:
            yield
        except AssertionError as failed:
            parts = ["\n".join(self._lines)]
            for log in sorted(logs.glob("*.log")) if logs is not None else ():
                parts.append(f"── {log.name}\n{log.read_text()}")
            failed.add_note("\n\n".join(parts))
            raise


def _told(kind: str, obj: Object) -> str:
    """What matters of an object, in a few words."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if kind == "Lease":
        return f"held by {spec.get('holderIdentity')!r}, {spec.get('leaseTransitions')} times passed on"
    if kind == "Workload":
        sets = [f"{each['granted']} granted {each.get('flavors', '')}" for each in status.get("podSets") or ()]
        held = [each["type"] for each in status.get("conditions") or () if each["status"] == "True"]
        return f"asks {[each['count'] for each in spec['podSets']]}, {status.get('state')} {sets} {' '.join(held)}"
    if kind == "Job":
        counts = {
            name: value for name, value in status.items() if name in ("active", "ready", "succeeded", "startTime")
        }
        return f"suspend {spec['suspend']}, parallelism {spec['parallelism']} of {spec['completions']}, {counts}"
    leaves = " leaving" if obj["metadata"].get("deletionTimestamp") else ""
    return f"{status.get('phase')}{leaves}, {'there' if pod_facts(obj).present else 'not there'}"
