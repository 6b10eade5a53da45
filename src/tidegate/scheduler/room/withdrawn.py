"""Withdrawn: what a plan gave somebody and took again, so that it does not give and take it for ever."""

from __future__ import annotations

from collections import Counter


class Withdrawn:
    """Who had something withdrawn. The second time no more room is made for it: while somebody waits who would have it
    at once, if it was for one."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._in_vain: dict[str, str] = {}

    def note(self, name: str, asker: str = "") -> None:
        """What it was given is withdrawn, for an asker or since others had to have theirs again."""
        if self._times[name]:
            self._in_vain[name] = asker
        self._times[name] += 1

    def is_in_vain(self, name: str) -> bool:
        """Whether room would be made for it in vain."""
        return name in self._in_vain

    def served(self, asker: str) -> None:
        """It does not wait any more."""
        if self._in_vain:
            self._in_vain = {name: other for name, other in self._in_vain.items() if other != asker}
