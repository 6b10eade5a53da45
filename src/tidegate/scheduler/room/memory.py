"""Memory: what a plan remembers of how it came about, so that it comes to an end. The next plan knows nothing of it."""

from __future__ import annotations

from collections import Counter

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.room.draft import Changes
from tidegate.scheduler.tree.node import TreeNode


class Memory:
    """What was given and taken again. The second time no more room is made for who had it: while somebody waits who
    would have it at once, if it was for one."""

    def __init__(self, begins_with: Changes) -> None:
        self.given: dict[str, Holding] = {}
        """Those who were granted something, if only for a moment, but for what had been taken from them."""
        self.asked_back: dict[TreeNode, int] = {}
        """Nodes for which others gave, and after how many moves those were last asked what could go back."""
        self.gives_what_is_left = False
        """Whether everybody had their turn, and what those leave who give way may be given to whoever is next."""
        self._withdrawn: Counter[str] = Counter()
        self._in_vain: dict[str, str] = {}
        self._seen = {begins_with}

    @property
    def has_withdrawn(self) -> bool:
        """Whether somebody lost again what others had given for it."""
        return bool(self._withdrawn)

    def withdraw(self, name: str, asker: str = "") -> None:
        """What it was given is withdrawn, for an asker or since others had to have theirs again."""
        if self._withdrawn[name]:
            self._in_vain[name] = asker
        self._withdrawn[name] += 1

    def is_in_vain(self, name: str) -> bool:
        """Whether room would be made for it in vain."""
        return name in self._in_vain

    def served(self, asker: str) -> None:
        """It does not wait any more."""
        if self._in_vain:
            self._in_vain = {name: other for name, other in self._in_vain.items() if other != asker}

    def has_seen(self, now: Changes) -> bool:
        """Whether everybody had this before."""
        before = now in self._seen
        self._seen.add(now)
        return before
