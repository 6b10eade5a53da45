"""One pod after the other: observe, decide, do, report. The only place that writes pods' status.

`sync` can be called at any time and any number of times; it does what is missing. Everything that must survive the
agent is in the pod's folder or in its runner, so a new agent calls `sync` for what it finds and goes on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.resources import PODS
from tidegate.local.agent.cgroups import Cgroups
from tidegate.local.agent.pod.decide import decide
from tidegate.local.agent.pod.facts import Attempt, Decision, Facts, Obstacle, Stop
from tidegate.local.agent.sandbox.problems import Unrunnable
from tidegate.local.agent.sandbox.volumes import has_changing_files
from tidegate.local.agent.settings import Settings
from tidegate.local.agent.work.checks import Target
from tidegate.local.agent.work.ending import Ending
from tidegate.local.agent.work.folder import Work, load_all
from tidegate.local.agent.work.prepare import Preparer
from tidegate.local.agent.work.probes import Probing, known_health
from tidegate.local.agent.work.processes import RunnerError, sweep
from tidegate.local.agent.work.report import overlaid, report
from tidegate.local.agent.work.starting import REFRESH_S, Starting, containers_of
from tidegate.local.agent.work.stopping import stop
from tidegate.local.agent.work.surroundings import Surroundings

Spec = Mapping[str, Any]

_log = logging.getLogger(__name__)

_RETRY_S = 3.0


class Pods:
    """All pods of this node, by uid."""

    def __init__(
        self, client: Client, settings: Settings, preparer: Preparer, around: Surroundings, *,
        cgroups: Cgroups, events: EventRecorder, wake: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._client = client
        self._settings = settings
        self._preparer = preparer
        self._around = around
        self._events = events
        self._wake = wake
        self._starting = Starting(
            client, settings.node_name, preparer, around, cgroups=cgroups, say=self._say, wake=wake
        )
        self._ending = Ending(client, self._forget, cgroups)
        self._pods: dict[str, Spec] = {}
        self.works: dict[str, Work] = {}

    def adopt(self) -> None:
        """Takes over what an earlier agent left."""
        for work in load_all(self._settings.data_dir / "pods"):
            self.works[work.uid] = work
            self._around.keep(work)
            if work.runner.alive():
                self._starting.watch(work)

    def observe(self, old: Spec | None, new: Spec | None) -> None:
        """A change from the API server."""
        if old is not None and (new is None or new["metadata"]["uid"] != old["metadata"]["uid"]):
            self._pods.pop(old["metadata"]["uid"], None)
            self._wake(old["metadata"]["uid"])
        if new is not None:
            self._pods[new["metadata"]["uid"]] = new
            self._wake(new["metadata"]["uid"])

    def uids(self) -> set[str]:
        return {*self._pods, *self.works}

    def all(self) -> Iterable[Spec]:
        return self._pods.values()

    def pod(self, uid: str) -> Spec | None:
        return self._pods.get(uid)

    def _forget(self, uid: str) -> None:
        """A pod needs nothing of the node any more."""
        self._around.release(uid)
        self._starting.forget(uid)

    async def close(self, *, stop_pods: bool) -> None:
        """Ends the agent's part; pods go on, unless they are to be stopped."""
        self._starting.close()
        for work in self.works.values():
            work.cancel()
        if stop_pods:
            await self._ending.stop_all([(work, self._pods.get(work.uid)) for work in self.works.values()])

    async def sync(self, uid: str) -> float | None:
        """One look at one pod; returns when to look again, in seconds."""
        pod = self._pods.get(uid)
        work = self.works.get(uid)
        if pod is None:
            return await self._abandon(work) if work else None
        if work is None:
            if _ended(pod):
                await self._ending.farewell(pod)
                return None
            work = self._begin(pod)
        now = time.time()
        pod = overlaid(pod, work.sent)
        decision = await self._proceed(pod, work, now)
        self._do_stops(pod, work, decision.stop)
        await report(self._client, pod, work, decision.status)
        if decision.over:
            await self._ending.close(work)
            await self._ending.farewell(pod)
            return None
        waits = [decision.wake_at - now] if decision.wake_at is not None else []
        if work.held_up:
            waits.append(_RETRY_S)
        if has_changing_files(pod):
            waits.append(max(0.0, work.filled_at + REFRESH_S - now))
        return min(waits, default=None)

    async def _abandon(self, work: Work) -> float | None:
        """The pod is gone from the API server: so must everything of it be from this machine."""
        if not await self._ending.abandon(work):
            return 0.1
        del self.works[work.uid]
        return None

    def _begin(self, pod: Spec) -> Work:
        meta = pod["metadata"]
        folder = self._settings.data_dir / "pods" / meta["uid"]
        work = Work(meta["uid"], meta["namespace"], meta["name"], folder, self._around.address_for(pod))
        work.save()
        self.works[work.uid] = work
        return work

    # Deciding.

    async def _proceed(self, pod: Spec, work: Work, now: float) -> Decision:
        """Decides, starts what is to be started, and decides again on what came of it."""
        work.obstacles, work.held_up = {}, False
        if work.lost():
            sweep(work.uid)
        obstacle = None if _ended(pod) or work.closed else await self._starting.fill(pod, work, now)
        decision = self._decide(pod, work, obstacle, now)
        for start in decision.start:
            await self._starting.start(pod, work, start)
        return self._decide(pod, work, obstacle, time.time()) if decision.start else decision

    def _decide(self, pod: Spec, work: Work, obstacle: Obstacle | None, now: float) -> Decision:
        attempts = work.attempts(pod)
        self._tend_probes(pod, work, attempts)
        facts = Facts(
            attempts=attempts,
            health={name: probing.health for name, probing in work.probes.items()},
            obstacle=obstacle,
            obstacles=work.obstacles,
            pod_ip=work.address,
            host_ip=self._around.host_ip,
            image_ids=self._image_ids(pod),
        )
        return decide(pod, facts, now=now, back_off=self._settings.back_off)

    def _image_ids(self, pod: Spec) -> dict[str, str]:
        """The catalogue entry of each container; a container of an unknown image becomes an obstacle elsewhere."""
        found = {}
        for container in containers_of(pod):
            try:
                found[container["name"]] = (
                    f"catalogue://{self._preparer.catalogue.find(container.get('image', '')).name}"
                )
            except Unrunnable:
                found[container["name"]] = ""
        return found

    def _say(self, pod: Spec, work: Work, reason: str, text: str, *, warning: bool = True) -> None:
        """An event, once for each different text: the pod is looked at far more often than something happens."""
        if (reason, text) not in work.told:
            work.told.add((reason, text))
            self._events.record(PODS, pod, reason, text, type="Warning" if warning else "Normal")

    # Watching and stopping.

    def _tend_probes(self, pod: Spec, work: Work, attempts: Mapping[str, tuple[Attempt, ...]]) -> None:
        """Every running container is looked after by exactly one Probing: before that, nobody may call it ready."""
        for name, probing in list(work.probes.items()):
            last = attempts[name][-1]
            if last.state != "running" or last.number != probing.attempt or _ended(pod):
                probing.stop()
                del work.probes[name]
        for container in containers_of(pod):
            name = container["name"]
            if name in work.probes or not attempts.get(name) or attempts[name][-1].state != "running" or _ended(pod):
                continue
            number = attempts[name][-1].number
            known = known_health(pod, name, f"tidegate://{work.uid}-{name}-{number}")
            target = Target(work.runner, container, work.address)
            work.probes[name] = Probing(target, number, known=known, changed=lambda: self._wake(work.uid))

    def _do_stops(self, pod: Spec, work: Work, stops: Iterable[Stop]) -> None:
        for each in stops:
            key, deadline = (each.container, each.attempt), time.monotonic() + each.grace_s
            running = work.stops.get(key)
            if running and deadline > running[0] - 2.0:
                continue
            if running:
                running[1].cancel()
            work.stops[key] = (deadline, asyncio.create_task(self._stop(pod, work, each)))

    async def _stop(self, pod: Spec, work: Work, each: Stop) -> None:
        container = next(found for found in containers_of(pod) if found["name"] == each.container)
        self._say(pod, work, "Killing", f"Stopping container {each.container}: {each.why}", warning=False)
        try:
            hooks = self._preparer.catalogue.find(container.get("image", "")).hooks
        except Unrunnable:
            hooks = {}
        target = Target(work.runner, container, work.address)
        try:
            await stop(target, each.grace_s, hooks, lambda: work.runs(each.container))
        except RunnerError as error:
            _log.debug("container %s of pod %s was gone before it was stopped: %s", each.container, work.uid, error)
        self._wake(work.uid)


def _ended(pod: Spec) -> bool:
    """Whether nothing of this pod is to be started again."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed") or "deletionTimestamp" in pod["metadata"]
