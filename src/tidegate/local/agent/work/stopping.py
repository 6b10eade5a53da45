"""Stopping one container: its preStop hook, SIGTERM, and SIGKILL when the grace period is over."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

from tidegate.local.agent.work.checks import Target, look

Spec = Mapping[str, Any]

_AFTER_HOOK_S = 2.0
_LOOK_S = 0.1


async def stop(target: Target, grace_s: float, hooks: Mapping[str, str], alive: Callable[[], bool]) -> None:
    """Returns once the end is on its way: the runner enforces the rest, even if this agent dies."""
    name = target.container["name"]
    deadline = time.monotonic() + grace_s
    hook = (target.container.get("lifecycle") or {}).get("preStop")
    if hook and grace_s > 0:
        command = (hook.get("exec") or {}).get("command") or [""]
        if number := hooks.get(command[0]):
            await _signal_and_wait(target, number, deadline, alive)
        else:
            await look(hook, target, grace_s)
    if not alive():
        return
    # A hook that used up the whole period still leaves the process a moment to end by itself.
    left_s = max(deadline - time.monotonic(), _AFTER_HOOK_S if hook else 0.0) if grace_s > 0 else 0.0
    await target.runner.ask("stop", container=name, grace_s=left_s)


async def _signal_and_wait(target: Target, name: str, deadline: float, alive: Callable[[], bool]) -> None:
    """Instead of a script of the image: a signal to the process, which then ends by itself, within the period."""
    number = signal.Signals[name].value
    await target.runner.ask("signal", container=target.container["name"], number=number)
    while alive() and time.monotonic() < deadline:  # noqa: ASYNC110 - its end is known by the records on disk
        await asyncio.sleep(_LOOK_S)
