"""What is wrong with a manifest: which field, what about it, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]

_PLAIN = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `message` says what, and after a semicolon what to do."""

    path: Path
    message: str

    @property
    def field(self) -> str:
        """As people write it: `spec.quotas[0].resources.cpu`; keys that are not plain words stand in brackets."""
        shown = "".join(f".{part}" if _PLAIN.fullmatch(str(part)) else f"[{part}]" for part in self.path)
        return shown.removeprefix(".")

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.path else self.message


class ManifestError(ValueError):
    """A manifest that cannot be taken; `problems` has all that is wrong with it, one line each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
