"""What became of the tenants' work, told from what their Workloads say; nothing here is made up beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tidegate.cli.demo.work import BOTH, Work

Json = dict[str, Any]


@dataclass(slots=True)
class Told:
    """What was seen of one Workload so far. Times are seconds since the story began."""

    work: Work
    asked_s: float | None = None
    admitted_s: float | None = None
    done_s: float | None = None
    granted: int = 0
    most: int = 0
    given: int = 0
    """Pods it gave up for somebody else."""
    back_s: float | None = None
    """When it had as many as ever again."""
    ended: int = 0
    evictions: int = 0


@dataclass(slots=True)
class Happenings:
    """All of it, and the sentences in their order."""

    told: dict[str, Told] = field(default_factory=lambda: {work.tenant: Told(work) for work in BOTH})
    sentences: list[tuple[float, str]] = field(default_factory=list)

    def say(self, at_s: float, sentence: str) -> None:
        self.sentences.append((at_s, sentence))

    def asked(self, work: Work, at_s: float) -> None:
        self.told[work.tenant].asked_s = at_s

    def heard(self, workload: Json, at_s: float) -> None:
        """A Workload changed."""
        one = self.told[workload["metadata"]["namespace"]]
        status = workload.get("status") or {}
        granted = sum(int(each.get("granted") or 0) for each in status.get("podSets") or ())
        ended = sum(int(each["count"]) for each in status.get("reclaimedPodSetPods") or ())
        one.evictions = int((status.get("requeue") or {}).get("count") or 0)
        if status.get("state") == "Finished":
            self._finished(one, at_s)
        elif granted != one.granted:
            self._granted(one, granted, ended, at_s)
        one.granted, one.ended = granted, ended

    def _finished(self, one: Told, at_s: float) -> None:
        if one.done_s is None:
            one.done_s = at_s
            self.say(at_s, f"{one.work.title} is done")

    def _granted(self, one: Told, granted: int, ended: int, at_s: float) -> None:
        title, pods = one.work.title, one.work.pods
        if one.admitted_s is None and granted:
            one.admitted_s = at_s
            self.say(at_s, f"{title} is let in with {granted} of {pods} pods")
        elif granted > one.granted:
            again = " back" if one.most >= granted else ""
            one.back_s = at_s if granted >= one.most and one.given else one.back_s
            self.say(at_s, f"{title} grows{again} from {one.granted} to {granted} pods")
        elif granted < one.granted and ended == one.ended:
            one.given += one.granted - granted
            self.say(at_s, f"{title} gives way: {one.granted} pods become {granted}, nothing is evicted")
        one.most = max(one.most, granted)
