"""How long to wait before trying again: longer each time, never exactly as long as everybody else."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """Delays that double from `base_s` to `most_s`, each stretched by up to `jitter` of itself."""

    base_s: float = 0.2
    most_s: float = 30.0
    jitter: float = 0.5
    uniform: Callable[[], float] = random.random
    """A number in [0, 1); tests and simulations bring their own."""
    _failures: int = field(default=0, init=False)

    def next_s(self) -> float:
        """The next delay."""
        # The exponent is bounded so that a server away for a week does not overflow a float.
        delay = min(self.most_s, self.base_s * 2.0 ** min(self._failures, 60))
        self._failures += 1
        return delay * (1 + self.jitter * self.uniform())

    def reset(self) -> None:
        self._failures = 0
