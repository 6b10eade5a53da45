"""What the agent has observed of one pod, and what it is to do: the words between judging and doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Spec = Mapping[str, Any]
"""A pod or a part of one, as plain JSON data."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a container. `lost`: it was running, and nobody can say how it ended."""

    number: int
    state: Literal["starting", "running", "exited", "lost"]
    begun: float
    started: float | None = None
    finished: float | None = None
    code: int = 0
    reason: str = ""
    message: str = ""
    step: int = 0
    """How many restarts without a long run led here; the back-off grows with it."""

    @property
    def alive(self) -> bool:
        return self.state in ("starting", "running")

    @property
    def succeeded(self) -> bool:
        return self.state == "exited" and self.code == 0


@dataclass(frozen=True, slots=True)
class Health:
    """What the probes say of a running container. `failure` asks for its end."""

    started: bool = True
    ready: bool = True
    failure: str = ""
    grace_s: int | None = None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a container cannot be started now: becomes its `waiting` state."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything observed of a pod on this machine. `obstacle` holds up the whole pod, `obstacles` one container."""

    attempts: Mapping[str, tuple[Attempt, ...]] = field(default_factory=dict)
    health: Mapping[str, Health] = field(default_factory=dict)
    obstacle: Obstacle | None = None
    obstacles: Mapping[str, Obstacle] = field(default_factory=dict)
    pod_ip: str = ""
    host_ip: str = ""
    image_ids: Mapping[str, str] = field(default_factory=dict)

    def last(self, container: str) -> Attempt | None:
        attempts = self.attempts.get(container)
        return attempts[-1] if attempts else None

    def any_alive(self) -> bool:
        return any(attempts[-1].alive for attempts in self.attempts.values() if attempts)


@dataclass(frozen=True, slots=True)
class BackOff:
    """How long a container that ended waits before it is started again."""

    base_s: float = 10.0
    most_s: float = 300.0
    reset_s: float = 600.0

    def step_after(self, attempt: Attempt) -> int:
        """The step of the next attempt: a long run forgives what was before."""
        ran_s = (attempt.finished or attempt.begun) - (attempt.started or attempt.begun)
        return 1 if ran_s >= self.reset_s else attempt.step + 1

    def delay_s(self, attempt: Attempt) -> float:
        """The first restart is immediate; from the second on the wait doubles."""
        step = self.step_after(attempt)
        return 0.0 if step <= 1 else float(min(self.most_s, self.base_s * 2 ** min(step - 2, 30)))


@dataclass(frozen=True, slots=True)
class Start:
    container: str
    attempt: int
    step: int


@dataclass(frozen=True, slots=True)
class Stop:
    container: str
    attempt: int
    grace_s: float
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """`wake_at`: when to look again though nothing happened. `over`: nothing of this pod will ever run again."""

    status: dict[str, Any]
    start: tuple[Start, ...] = ()
    stop: tuple[Stop, ...] = ()
    wake_at: float | None = None
    over: bool = False
