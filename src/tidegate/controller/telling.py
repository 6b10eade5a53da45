"""Events: telling people on their own objects what was given and taken."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from tidegate.controller.applications.objects import Applications
from tidegate.controller.kinds import WORKLOADS, Key
from tidegate.controller.told.news import key_of_name
from tidegate.controller.told.workloads import because
from tidegate.controller.watch.latest import Latest
from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.ratelimit import Rate, RateLimited
from tidegate.kube.wire import Object
from tidegate.model.kinds import Workload
from tidegate.scheduler import Plan

_RATE = Rate(per_s=25, burst=250)
"""Statuses say the same: where thousands are admitted within minutes, an event for each is not worth the writes."""
_REMEDY = {
    403: "What Tidegate writes is not allowed; change the policy, the quota or the role that says so.",
    422: "What Tidegate writes does not fit; mend the field that is named, or delete this and create it anew.",
}
"""By the server's answer. Both are tried again, at most a minute later."""


def recorder(client: Client) -> EventRecorder:
    """Writes events in our name, and not too many."""
    return EventRecorder(client.over(partial(RateLimited, rate=_RATE)), "tidegate")


class Telling:
    """Events on the user's own objects, and on their Workloads."""

    def __init__(self, recorder: EventRecorder, applications: Applications, workloads: Latest) -> None:
        self._recorder = recorder
        self._workloads = workloads
        self._applications = applications

    def events(self, plan: Plan, find: Callable[[Key], Workload | None]) -> None:
        """Tell of everything a Plan gave and took."""
        for grant in plan.grants:
            pods = ", ".join(f"{name} {sum(counts.values())}" for name, counts in grant.pods.items()) or "no pods"
            word = "Admitted" if grant.admits else "Grown"
            self._say(find(key_of_name(grant.workload)), word, f"{word.lower()} with {pods}")
        for shrink in plan.shrinks:
            self._say(find(key_of_name(shrink.workload)), "Shrunk", because(shrink.causes))
        for eviction in plan.evictions:
            self._say(find(key_of_name(eviction.workload)), "Evicted", because(eviction.causes))

    def refused(self, workload: Workload | None, about: Object | None, refused: StatusError) -> None:
        """Tell whose it is that the server does not take what is to be written for it."""
        note = f"{_REMEDY.get(refused.code, _REMEDY[403])} The server says: {refused.message}"
        followed = self._applications.followed(about) if about is not None else None
        if followed is not None:
            self._recorder.record(followed.resource, about, "Refused", note, type="Warning")
        else:
            self._say(workload, "Refused", note, is_warning=True)

    def _say(self, workload: Workload | None, reason: str, note: str, *, is_warning: bool = False) -> None:
        raw = self._workloads.get((workload.metadata.namespace, workload.metadata.name)) if workload else None
        if workload is None or raw is None:
            return
        kind: Literal["Normal", "Warning"] = "Warning" if is_warning else "Normal"
        self._recorder.record(WORKLOADS, raw, reason, note, type=kind)
        found = self._applications.owner_of(workload)
        if found is not None:
            self._recorder.record(found[0].resource, found[1], reason, note, type=kind)
