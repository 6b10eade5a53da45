"""Which pods count: all that are there, but for what nobody could have known.

Strays are pods that come after what they were made for was taken back: a Job's controller that has not heard yet makes
what its Job does not ask for any more, or asks for of another flavor; a pod is under way as its application is deleted.
Nobody could have known, and whoever made them takes them away, or as many others of the same Job. Until then they are
left out, unless their Job comes to ask for them again. Likewise a pod that its Job still asks for and is deleted all
the same, by people, with its node, or by a controller that was behind: another is made in its place, and when it is
there, the two count as one.
"""

from __future__ import annotations

from collections.abc import Callable

from tidegate.kube.wire import Object
from tidegate.workloads import WORKLOAD, asks_as, pod_facts, workload_name


class Pods:
    """Every pod, by its Workload."""

    def __init__(self, asked: Callable[[str, str], int], is_gone: Callable[[str], bool]) -> None:
        """`asked`: how many pods of a flavor the Job of a Workload asks for as it stands; `is_gone`: whether a Workload
        was deleted so lately that something for it may be under way."""
        self._asked = asked
        self._is_gone = is_gone
        self._of: dict[str, dict[str, Object]] = {}
        self._strays: set[str] = set()
        self._leaving: set[str] = set()
        """Pods of Jobs that go although they are asked for."""
        self._replaced: set[str] = set()
        """Of those, the ones in whose place another was made."""

    def heard(self, key: str, before: Object | None, after: Object | None) -> None:
        """One commit."""
        if before is not None and (name := workload_of(before)):
            self._of.setdefault(name, {}).pop(key, None)
        if after is None:
            for some in (self._strays, self._leaving, self._replaced):
                some.discard(key)
        elif name := workload_of(after):
            self._of.setdefault(name, {})[key] = after
            if before is None and self._is_stray(name, after):
                self._strays.add(key)
            self._replace(name, key, before, after)

    def counted(self, name: str) -> list[Object]:
        """Those of a Workload that count now."""
        there = self._of.get(name, {})
        for key in self._strays.intersection(there):
            if not _is_going(there[key]) and self._surplus(name, there[key]) <= 0:
                self._strays.discard(key)
        return [pod for key, pod in there.items() if key not in self._strays and key not in self._replaced]

    def _is_stray(self, name: str, pod: Object) -> bool:
        return self._surplus(name, pod) > 0 if _is_of_a_job(pod) else self._is_gone(name)

    def _replace(self, name: str, key: str, before: Object | None, after: Object) -> None:
        """Whether a pod goes that is asked for, or one comes in its place."""
        if not _is_of_a_job(after) or key in self._strays or not pod_facts(after).present:
            return
        if _is_going(after):
            if before is None or not _is_going(before):
                self._goes(name, key, after)
        elif before is None:
            place = self._first(self._leaving, name, after)
            if place is not None:
                self._leaving.remove(place)
                self._replaced.add(place)

    def _goes(self, name: str, key: str, pod: Object) -> None:
        if self._surplus(name, pod) < 0:
            self._leaving.add(key)
            return
        there = self._of[name]
        stray = self._first({each for each in self._strays & there.keys() if not _is_going(there[each])}, name, pod)
        if stray is not None:
            # One was too many, and whoever made them took another than the last: it goes in the stray's stead.
            self._strays.remove(stray)
            self._strays.add(key)

    def _first(self, keys: set[str], name: str, like: Object) -> str | None:
        """Of these, one of the same Workload and flavor."""
        there = self._of[name]
        return next((key for key in sorted(keys) if key in there and _flavor(there[key]) == _flavor(like)), None)

    def _surplus(self, name: str, like: Object) -> int:
        """How many more than its Job asks for are there of a pod's flavor, without those that were told to go."""
        flavor = _flavor(like)
        there = (pod for pod in self._of.get(name, {}).values() if _flavor(pod) == flavor and not _is_going(pod))
        return sum(pod_facts(pod).present for pod in there) - self._asked(name, flavor)


def workload_of(pod: Object) -> str:
    """Namespace and name of its Workload. What was marked stays so: a mark is written with the grant."""
    marked = (pod["metadata"].get("annotations") or {}).get(WORKLOAD)
    name = marked or asks_as(pod)
    return f"{pod['metadata']['namespace']}/{name}" if name else ""


def _is_of_a_job(pod: Object) -> bool:
    """One that is counted as such; anybody may name a Job as the owner of his pod."""
    is_counted = workload_of(pod).partition("/")[2].startswith(workload_name("Job", ""))
    return is_counted and any(owner["kind"] == "Job" for owner in pod["metadata"].get("ownerReferences") or ())


def _is_going(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _flavor(pod: Object) -> str:
    return pod_facts(pod).flavor or "default"
