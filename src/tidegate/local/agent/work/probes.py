"""Probes: looks at a running container again and again, and says whether it has started, is ready, and is alive."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tidegate.local.agent.pod.facts import Health
from tidegate.local.agent.work.checks import Target, look

Spec = Mapping[str, Any]


class Probing:
    """All probes of one attempt. `health` is what they say now; `changed` is called when that changes."""

    def __init__(self, target: Target, attempt: int, *, known: Health | None, changed: Callable[[], None]) -> None:
        self.attempt = attempt
        self._target = target
        self._changed = changed
        container = target.container
        self.health = known or Health(
            started="startupProbe" not in container and not _post_start(container),
            ready="readinessProbe" not in container,
        )
        self._task = asyncio.create_task(self._run(adopted=known is not None))

    def stop(self) -> None:
        self._task.cancel()

    def _say(self, health: Health) -> None:
        if health != self.health:
            self.health = health
            self._changed()

    async def _run(self, *, adopted: bool) -> None:
        container = self._target.container
        if (hook := _post_start(container)) and not adopted:
            if problem := await look(hook, self._target, timeout_s=3600):
                self._say(replace(self.health, failure=f"FailedPostStartHook: {problem}"))
                return
            self._say(replace(self.health, started="startupProbe" not in container))
        if (probe := container.get("startupProbe")) and not self.health.started:
            await self._until_started(probe)
        followed = [
            (kind, container[f"{kind}Probe"]) for kind in ("liveness", "readiness") if f"{kind}Probe" in container
        ]
        await asyncio.gather(*(self._follow(kind, probe) for kind, probe in followed))

    async def _until_started(self, probe: Spec) -> None:
        failures = 0
        await asyncio.sleep(probe.get("initialDelaySeconds", 0))
        while problem := await self._look(probe):
            failures += 1
            if failures >= probe.get("failureThreshold", 3):
                self._fail(probe, f"Startup probe failed: {problem}")
                return
            await asyncio.sleep(probe.get("periodSeconds", 10))
        self._say(replace(self.health, started=True))

    async def _follow(self, kind: str, probe: Spec) -> None:
        await asyncio.sleep(probe.get("initialDelaySeconds", 0))
        failures = successes = 0
        while not self.health.failure:
            problem = await self._look(probe)
            failures, successes = (failures + 1, 0) if problem else (0, successes + 1)
            if kind == "readiness" and successes >= probe.get("successThreshold", 1):
                self._say(replace(self.health, ready=True))
            if failures >= probe.get("failureThreshold", 3):
                if kind == "readiness":
                    self._say(replace(self.health, ready=False))
                else:
                    self._fail(probe, f"Liveness probe failed: {problem}")
            await asyncio.sleep(probe.get("periodSeconds", 10))

    async def _look(self, probe: Spec) -> str:
        return await look(probe, self._target, float(probe.get("timeoutSeconds", 1)))

    def _fail(self, probe: Spec, text: str) -> None:
        self._say(replace(self.health, failure=text, grace_s=probe.get("terminationGracePeriodSeconds")))


def _post_start(container: Spec) -> Spec | None:
    hook: Spec | None = (container.get("lifecycle") or {}).get("postStart")
    return hook


def known_health(pod: Spec, container: str, identity: str) -> Health | None:
    """What the pod's status says of this very attempt: after a restart of the agent it still holds."""
    status = pod.get("status") or {}
    for each in [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]:
        with contextlib.suppress(KeyError):
            if each["name"] == container and each["containerID"] == identity and "running" in each["state"]:
                return Health(started=bool(each.get("started")), ready=bool(each.get("ready")))
    return None
