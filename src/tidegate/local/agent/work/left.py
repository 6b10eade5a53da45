"""Pods whose agent is gone: they go on without it, and whoever stops the machine stops them, too."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

from tidegate.local.agent.work.processes import Runner, RunnerError, sweep

_LOOK_S = 0.02
_GRACE_S = 30
"""As long as Kubernetes gives a pod that does not say: what this one said only the server knows."""


async def stop_left(pods: Path, *, wait_s: float) -> int:
    """Stops every pod of this folder that still runs, within the usual grace period; how many there were. What became
    of them is reported by the next agent."""
    left = _running(pods)
    for runner in left:
        await _stop(runner)
    until = time.monotonic() + wait_s
    while time.monotonic() < until and any(runner.alive() for runner in left):  # noqa: ASYNC110 - on disk
        await asyncio.sleep(_LOOK_S)
    for runner in left:
        if runner.alive():  # It had its time, or nobody holds it who could be told.
            sweep(runner.folder.name)
    return len(left)


def _running(pods: Path) -> list[Runner]:
    return [runner for runner in map(Runner, sorted(pods.glob("*"))) if runner.alive()]


async def _stop(runner: Runner) -> None:
    with contextlib.suppress(RunnerError):
        for record in runner.records():
            if record["state"] != "exited":
                await runner.ask("stop", container=record["container"], grace_s=_GRACE_S)
        await runner.ask("close")
