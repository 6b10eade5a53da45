"""Getting a pod to run: its volumes, its runner, one attempt of a container after the other; or what is in the way.

What is missing is waited for: whoever is held up by it is looked at again when it may be there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tidegate.kube.client import Client
from tidegate.local.agent.cgroups import Cgroups
from tidegate.local.agent.pod.facts import Obstacle, Start
from tidegate.local.agent.sandbox.environment import Place
from tidegate.local.agent.sandbox.names import hostname_of
from tidegate.local.agent.sandbox.objects import ApiObjects, Awaited, ServiceAccountTokens
from tidegate.local.agent.sandbox.problems import Missing, Unrunnable
from tidegate.local.agent.sandbox.volumes import fill, has_changing_files, memory_volumes
from tidegate.local.agent.work.folder import Work
from tidegate.local.agent.work.prepare import Preparer
from tidegate.local.agent.work.processes import RunnerError
from tidegate.local.agent.work.surroundings import Surroundings

Spec = Mapping[str, Any]

REFRESH_S = 60.0


class Say(Protocol):
    """Tells people of a pod."""

    def __call__(self, pod: Spec, work: Work, reason: str, text: str, *, warning: bool = True) -> None: ...


class Starting:
    """Starts what is to be started, of any pod of this node."""

    def __init__(
        self, client: Client, node_name: str, preparer: Preparer, around: Surroundings, *,
        cgroups: Cgroups, say: Say, wake: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._node_name = node_name
        self._preparer = preparer
        self._around = around
        self._cgroups = cgroups
        self._say = say
        self._wake = wake
        self._objects = ApiObjects(client)
        self._tokens = ServiceAccountTokens(client)
        self._awaited = Awaited(client)

    def forget(self, uid: str) -> None:
        """A pod needs nothing any more."""
        self._awaited.forget(uid)
        self._tokens.forget(uid)

    def close(self) -> None:
        self._awaited.close()

    def watch(self, work: Work) -> None:
        """Hear of whatever its runner has to tell."""
        if work.watch is None or work.watch.done():
            work.watch = asyncio.create_task(work.runner.watch(lambda: self._wake(work.uid)))

    async def fill(self, pod: Spec, work: Work, now: float) -> Obstacle | None:
        """Makes the pod's volumes, or brings them up to date; what stands in the way is for its status."""
        if work.filled_at and not (has_changing_files(pod) and now >= work.filled_at + REFRESH_S):
            return None
        try:
            await fill(self._place(pod, work), work.folder / "volumes", self._objects, self._tokens)
            self._around.write_names(pod, work)
        except Unrunnable as problem:
            if work.filled_at:
                return None  # It runs with what it has.
            self._hold_up(pod, work, problem, "FailedMount")
            return Obstacle("ContainerCreating", problem.message)
        work.filled_at = now
        return None

    def _hold_up(self, pod: Spec, work: Work, problem: Exception, event: str) -> None:
        """Something is in the way: tells people, and comes back when it may have gone."""
        work.held_up = True
        if isinstance(problem, Missing):
            self._awaited.wait(problem, work.uid, self._wake)
        self._say(pod, work, event, str(problem))

    def _place(self, pod: Spec, work: Work) -> Place:
        address = work.address
        return Place(pod, address, self._around.host_ip, self._node_name, self._around.allocatable)

    async def start(self, pod: Spec, work: Work, start: Start) -> None:
        """Starts one attempt, or says why it cannot be."""
        container = next(each for each in containers_of(pod) if each["name"] == start.container)
        try:
            group = self._cgroups.group_for(work.uid, container, start.attempt)
            given = self._around.variables(pod, container)
            place = self._place(pod, work)
            launch = await self._preparer.launch(
                container, start.attempt, place, work.folder, given=given, cgroup=group
            )
            await self._ensure_runner(pod, work)
            await work.runner.start(start.container, start.attempt, launch, {"step": start.step})
        except Unrunnable as problem:
            work.obstacles[start.container] = Obstacle(problem.reason, problem.message)
            self._hold_up(pod, work, problem, "Failed")
        except (RunnerError, OSError) as problem:
            work.obstacles[start.container] = Obstacle("CreateContainerError", str(problem))
            self._hold_up(pod, work, problem, "FailedCreatePodSandBox")
        else:
            self._say(pod, work, "Started", f"Started container {start.container}", warning=False)

    async def _ensure_runner(self, pod: Spec, work: Work) -> None:
        if work.runner.alive():
            return
        namespaces = self._preparer.namespaces
        volumes = memory_volumes(pod, work.folder / "volumes") if namespaces else []
        sandbox = {"namespaces": namespaces, "hostname": hostname_of(pod), "tmpfs": volumes}
        sandbox["network"] = self._around.network_for(pod, work.address)
        await work.runner.ensure(sandbox)
        self.watch(work)


def containers_of(pod: Spec) -> list[Spec]:
    """All of them, in the order in which they are started."""
    return [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]
