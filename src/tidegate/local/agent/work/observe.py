"""From what runners recorded to the facts that `pod` judges."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidegate.local.agent.pod.facts import Attempt, Spec
from tidegate.local.agent.runner.records import Record

_MESSAGE_MOST = 4096
_LOG_MOST = 2048
_LOG_LINES = 80


def attempts_of(
    pod: Spec | None, records: list[Record], folder: Path, *, runner_alive: bool
) -> dict[str, tuple[Attempt, ...]]:
    """Every attempt by container. What runs according to its record but has no runner is lost."""
    containers = _containers(pod)
    found: dict[str, list[Attempt]] = {}
    for record in records:
        name = record["container"]
        found.setdefault(name, []).append(_attempt(record, containers.get(name, {}), folder, runner_alive))
    return {name: tuple(attempts) for name, attempts in found.items()}


def _containers(pod: Spec | None) -> dict[str, Mapping[str, Any]]:
    spec = pod["spec"] if pod else {}
    return {each["name"]: each for each in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]}


def _attempt(record: Record, container: Mapping[str, Any], folder: Path, runner_alive: bool) -> Attempt:
    state = record["state"]
    if state != "exited" and not runner_alive:
        state = "lost"
    message = record.get("message", "")
    if state == "exited" and not message:
        message = termination_message(container, record, folder)
    return Attempt(
        number=record["attempt"],
        state=state,
        begun=record["begun"],
        started=record.get("started"),
        finished=record.get("finished"),
        code=record.get("code", 0),
        reason=record.get("reason", ""),
        message=message,
        step=record.get("step", 0),
    )


def termination_path(folder: Path, container: str, attempt: int) -> Path:
    return folder / "termination" / f"{container}-{attempt}"


def log_path(folder: Path, container: str, attempt: int) -> Path:
    return folder / "logs" / container / f"{attempt}.log"


def termination_message(container: Mapping[str, Any], record: Record, folder: Path) -> str:
    """What the container left to say: its termination file, or the end of its log if that is asked for."""
    try:
        with termination_path(folder, record["container"], record["attempt"]).open("rb") as file:
            said = file.read(_MESSAGE_MOST).decode(errors="replace")
    except OSError:
        said = ""
    if said or container.get("terminationMessagePolicy") != "FallbackToLogsOnError" or record.get("code", 0) == 0:
        return said
    try:
        with log_path(folder, record["container"], record["attempt"]).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 4 * _LOG_MOST))
            lines = file.read().splitlines()[-_LOG_LINES:]
    except OSError:
        return ""
    texts = [
        b"".join(line.split(b" ", 3)[3:4]).decode(errors="replace") + "\n" for line in lines if line.count(b" ") >= 3
    ]
    return "".join(texts)[-_LOG_MOST:]
