"""The end of a pod on this machine: its processes, its runner, its folders, and last its object."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.local.agent.cgroups import Cgroups
from tidegate.local.agent.work.folder import Work
from tidegate.local.agent.work.processes import RunnerError, sweep

Spec = Mapping[str, Any]

_log = logging.getLogger(__name__)

_LEAVING_S = 10.0
"""A runner that holds nothing ends at once; one that does not is not waited for."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is done once nothing of a pod will run again. `forget` gives back what the node lent it."""

    client: Client
    forget: Callable[[str], None]
    cgroups: Cgroups

    async def close(self, work: Work) -> None:
        """Lets the runner go, and with it the pod's namespaces; logs and records stay."""
        if work.closed:
            return
        await self._dismiss_runner(work)
        self.forget(work.uid)
        self.cgroups.remove(work.uid)
        for name in ("volumes", "work", "etc", "staging"):
            shutil.rmtree(work.folder / name, ignore_errors=True)
        work.closed = True

    async def farewell(self, pod: Spec) -> None:
        """The last step of a deletion: the object goes once the API server has the final status."""
        meta = pod["metadata"]
        if "deletionTimestamp" not in meta:
            return
        try:
            await self.client.delete(PODS, meta["name"], meta["namespace"], grace_period_s=0, uid=meta["uid"])
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    async def abandon(self, work: Work) -> bool:
        """Removes all traces of a pod whose object is gone; false as long as something of it is still there."""
        await self._stop(work, grace_s=0)
        await self._dismiss_runner(work)
        if work.runner.alive():
            return False
        sweep(work.uid)
        await self.close(work)
        work.cancel()
        return work.remove()

    async def stop_all(self, pods: list[tuple[Work, Spec | None]]) -> None:
        """Stops every container within its grace period; what became of them is reported by the next agent. Over when
        their runners are gone, too: who stopped the machine takes its folder away."""
        for work, pod in pods:
            await self._stop(work, grace_s=(pod["spec"].get("terminationGracePeriodSeconds") if pod else None) or 0)
        while any(work.runs(name) for work, _ in pods for name in work.attempts(None)):  # noqa: ASYNC110 - on disk
            await asyncio.sleep(0.05)
        for work, _ in pods:
            await self._dismiss_runner(work)
        until = time.monotonic() + _LEAVING_S
        while time.monotonic() < until and any(work.runner.alive() for work, _ in pods):  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async def _stop(self, work: Work, *, grace_s: float) -> None:
        for name, attempts in work.attempts(None).items():
            if attempts[-1].alive:
                with contextlib.suppress(RunnerError):
                    await work.runner.ask("stop", container=name, grace_s=grace_s)

    async def _dismiss_runner(self, work: Work) -> None:
        try:
            await work.runner.ask("close")
        except RunnerError as error:
            _log.debug("the runner of pod %s had gone already: %s", work.uid, error)
