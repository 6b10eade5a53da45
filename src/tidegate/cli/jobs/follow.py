"""One Job as it goes: the Job, its Workload and its pods, kept true by watches; and how it stands, in words. What the
Job was warned of is followed, too: of pods that are refused one can read nowhere else."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

    from tidegate.kube.client import Client

Json = dict[str, Any]
_UNSEEN_S = 5.0
"""After how long a Job without a Workload is told of: an operator that runs needs no second."""
_POD_NAME = re.compile(r'pods "[^"]*" is')
"""Each try has another name; what is said is the same."""


class Following:
    """`async with` begins to follow; `changed` is set whenever something is different."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        from tidegate.controller.kinds import WORKLOADS
        from tidegate.kube.informer import Informer
        from tidegate.kube.resources import EVENTS, JOBS, PODS
        from tidegate.workloads import workload_name

        self._key = (name, namespace)
        self._began = time.monotonic()
        self._workload = (workload_name("Job", name), namespace)
        self._jobs: Informer[Json] = Informer(client, JOBS, namespace, fields=f"metadata.name={name}")
        self._workloads: Informer[Json] = Informer(
            client, WORKLOADS, namespace, fields=f"metadata.name={self._workload[0]}"
        )
        self._pods: Informer[Json] = Informer(client, PODS, namespace, labels=f"batch.kubernetes.io/job-name={name}")
        of_it = f"involvedObject.kind=Job,involvedObject.name={name},type=Warning"
        self._warnings: Informer[Json] = Informer(client, EVENTS, namespace, fields=of_it)
        self.changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        every: tuple[Any, ...] = (self._jobs, self._workloads, self._pods, self._warnings)
        for informer in every:
            informer.on_change(lambda old, new: self.changed.set())
            self._tasks.append(asyncio.create_task(informer.run()))
        for informer in every[:-1]:  # Not everybody may read events.
            await informer.synced()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def job(self) -> Json | None:
        """None once it was deleted."""
        return self._jobs.get(*self._key)

    @property
    def pods(self) -> list[Json]:
        return sorted(self._pods.all(), key=lambda pod: str(pod["metadata"]["name"]))

    @property
    def outcome(self) -> str | None:
        """`Complete` or `Failed`; `Deleted` where somebody else took it away; None while it goes on."""
        if self.job is None:
            return "Deleted"
        conditions = (self.job.get("status") or {}).get("conditions") or ()
        ended = {each["type"] for each in conditions if each["status"] == "True"}
        return next((word for word in ("Complete", "Failed") if word in ended), None)

    @property
    def standing(self) -> str:
        """Where it is, in words; empty while all is well and its pods speak for themselves."""
        workload = self._workloads.get(*self._workload)
        if workload is None:
            return self._unseen
        status = workload.get("status") or {}
        if status.get("state") in ("Pending", "Evicted", "Inactive"):
            return _waiting(status)
        if not self.pods:
            return self._refused
        return "" if any(_runs(pod) for pod in self.pods) else hindrance(self.pods)

    @property
    def _unseen(self) -> str:
        """It is held and nobody will let it go, as it seems."""
        if self.job is None or not self.job["spec"].get("suspend") or time.monotonic() < self._began + _UNSEEN_S:
            return ""
        namespace = self._key[1]
        return (
            f"is seen by no operator: none runs, or namespace {namespace} is not managed. Start one, or `kubectl label "
            f"namespace {namespace} tidegate.dev/managed=true`"
        )

    async def changes(self) -> None:
        """Returns when something is different, or may be by now."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), _UNSEEN_S)

    @property
    def _refused(self) -> str:
        """Why there are no pods though they were let go, where somebody says so: a ResourceQuota, for example."""
        last = max(self._warnings.all(), key=lambda each: str(each.get("lastTimestamp") or ""), default=None)
        if last is None or last["involvedObject"].get("uid") != (self.job or {}).get("metadata", {}).get("uid"):
            return ""
        return f"its pods cannot be made ({last['reason']}): {_POD_NAME.sub('pods are', str(last['message']))}"

    @property
    def exit_code(self) -> int:
        """That of the first pod that failed; 1 where none says."""
        return int(self._failed_container.get("exitCode") or 1)

    @property
    def obstacle(self) -> str:
        """What that pod's command cannot say itself: why it never ran, or that nobody saw how it ended."""
        message = str(self._failed_container.get("message") or "").rstrip(".")
        match self._failed_container.get("reason"):
            case "Error":
                return ""
            case "ContainerStatusUnknown":
                return f"Nobody knows how the command ended: {message}"
            case _:
                return f"The command could not be started: {message}" if message else ""

    @property
    def _failed_container(self) -> Json:
        for pod in self.pods:
            for container in (pod.get("status") or {}).get("containerStatuses") or ():
                ended: Json = (container.get("state") or {}).get("terminated") or {}
                if ended.get("exitCode"):
                    return ended
        return {}

    @property
    def failure(self) -> str:
        """What the Job itself says about why it failed."""
        return str(self._failed.get("message") or self._failed.get("reason") or "nobody says why")

    @property
    def was_too_long(self) -> bool:
        """Whether it was ended because it had run for as long as it may."""
        return self._failed.get("reason") == "DeadlineExceeded"

    @property
    def _failed(self) -> Json:
        conditions = ((self.job or {}).get("status") or {}).get("conditions") or ()
        return next((each for each in conditions if each["type"] == "Failed"), {})


def _waiting(status: Json) -> str:
    waiting = status.get("waiting")
    if not waiting:
        return "Evicted; waits again" if status.get("state") == "Evicted" else ""
    ahead = waiting.get("ahead") or 0
    place = "next in line" if not ahead else f"{ahead} before it in line"
    again = "evicted, " if status.get("state") == "Evicted" else ""
    return f"{again}{place} ({waiting['reason']}): {waiting.get('message', '')}"


def _runs(pod: Json) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Running", "Succeeded", "Failed")


def hindrance(pods: list[Json]) -> str:
    """Why pods that were let go do not start."""
    for pod in pods:
        for container in (pod.get("status") or {}).get("containerStatuses") or ():
            waiting = (container.get("state") or {}).get("waiting") or {}
            if waiting.get("message"):
                return f"its pod cannot start ({waiting.get('reason')}): {waiting['message']}"
    return ""
