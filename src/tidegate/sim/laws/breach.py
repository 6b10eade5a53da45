"""A law that does not hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breach:
    """Which law, and what about the Plan breaks it."""

    law: int
    message: str

    def __str__(self) -> str:
        return f"law {self.law} is broken: {self.message}"
