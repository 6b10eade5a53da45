"""A pod's folder on disk: what a later agent needs to take the pod over, and all that its containers wrote."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tidegate.local.agent.pod.facts import Attempt, Obstacle
from tidegate.local.agent.runner import records
from tidegate.local.agent.work.observe import attempts_of
from tidegate.local.agent.work.probes import Probing
from tidegate.local.agent.work.processes import Runner


@dataclass(slots=True)
class Work:
    """One pod on this node: its folder, and what the agent has under way for it."""

    uid: str
    namespace: str
    name: str
    folder: Path
    address: str = ""
    runner: Runner = field(init=False)
    watch: asyncio.Task[None] | None = None
    probes: dict[str, Probing] = field(default_factory=dict)
    stops: dict[tuple[str, int], tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    obstacles: dict[str, Obstacle] = field(default_factory=dict)
    held_up: bool = False
    sent: dict[str, Any] | None = None
    filled_at: float = 0.0
    closed: bool = False
    told: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.runner = Runner(self.folder)

    def attempts(self, pod: Mapping[str, Any] | None) -> dict[str, tuple[Attempt, ...]]:
        """Lock before records: a runner that ends in between has written its last record by then."""
        alive = self.runner.alive()
        return attempts_of(pod, self.runner.records(), self.folder, runner_alive=alive)

    def lost(self) -> bool:
        """Whether something ran whose runner is gone without a word."""
        return any(attempts[-1].state == "lost" for attempts in self.attempts(None).values())

    def runs(self, container: str) -> bool:
        last = self.attempts(None).get(container, ())
        return bool(last) and last[-1].alive

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        told = {"uid": self.uid, "namespace": self.namespace, "name": self.name, "address": self.address}
        records.write(str(self.folder / "pod.json"), told)

    def cancel(self) -> None:
        """Ends everything the agent does for the pod; the pod itself goes on."""
        for probing in self.probes.values():
            probing.stop()
        for _, task in self.stops.values():
            task.cancel()
        if self.watch is not None:
            self.watch.cancel()

    def remove(self) -> bool:
        """Whether nothing is left of it: a runner that an agent began before it was killed may come up only now."""
        shutil.rmtree(self.folder, ignore_errors=True)
        return not self.folder.exists()


def load_all(root: Path) -> list[Work]:
    """The pods that an earlier agent left, running or not. A folder without its record never ran anything."""
    found = []
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        try:
            told = msgspec.json.decode((folder / "pod.json").read_bytes())
        except (OSError, msgspec.DecodeError):
            shutil.rmtree(folder, ignore_errors=True)
            continue
        found.append(Work(told["uid"], told["namespace"], told["name"], folder, told["address"]))
    return found
