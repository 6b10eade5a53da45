"""A law, or what every Plan promises, that does not hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breach:
    """Which law, and what about the Plan breaks it."""

    law: int | None
    """None: not a law of its own, but that every ask has its grant or its reason."""
    message: str

    def __str__(self) -> str:
        return f"{'a promise' if self.law is None else f'law {self.law}'} is broken: {self.message}"
