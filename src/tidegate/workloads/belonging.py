"""Whether a pod is the application's that it names as its owner. Anybody can name any owner.

An application that is let go says in its pod templates whose its pods are, and is held before that. So what it made is
told from what only says so by what both say, whoever asks: a pod that is an application's says what the template says
that it was made from, and one of an application that says nothing must not be held. Where the owner is a pod itself, as
with a Spark driver, both say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.model.jobs import JobError, JobKind, Kinds, Obj, PodPlace, is_suspended, peek, templates
from tidegate.model.problems import Path
from tidegate.workloads.describe import is_run_here
from tidegate.workloads.family import owners_named
from tidegate.workloads.names import FLAVOR, WORKLOAD, workload_name
from tidegate.workloads.pods import gated

Above = Mapping[str, Obj]
"""By uid: the owners that are there, and theirs."""


def belongs(pod: Obj, above: Above, kinds: Kinds) -> bool:
    """Whether one of the owners that a pod names has made it."""
    return any(
        (owner := above.get(str(named.get("uid")))) is not None and _made(pod, entry, owner, above, kinds)
        for entry, named in owners_named(pod, kinds)
    )


def _made(pod: Obj, entry: JobKind, owner: Obj, above: Above, kinds: Kinds) -> bool:
    mark, name = _mark(pod), str(owner["metadata"].get("name"))
    if entry.makes is not None:
        return False  # It makes applications, and these make pods.
    if entry.kind == "Pod" and not entry.group:
        return _is_of_pod(mark, owner, kinds)
    if is_run_here(entry):
        return mark == workload_name(kinds.prefix(entry), name)
    places = _places(entry, owner, kinds)
    if any(_said(owner, place, WORKLOAD) for place in places):
        return any(_is_from(pod, owner, place) for place in places)
    alike = not places or any(_is_like(pod, owner, place) for place in places)
    return not mark and alike and _runs_unmarked(entry, owner, above, kinds)


def is_granted(pod: Obj, above: Above, kinds: Kinds) -> bool:
    """Whether a pod that belongs to an application may run as it comes: its template says of which flavor it is. Where
    that does not, its pods wait at the gate, whatever they say."""
    if FLAVOR not in _map(pod, ("metadata", "annotations")):
        return False
    for entry, named in owners_named(pod, kinds):
        owner = above.get(str(named.get("uid")))
        places = () if owner is None else _places(entry, owner, kinds)
        if owner is not None and not is_run_here(entry) and (entry.kind != "Pod" or entry.group):
            return any(_is_from(pod, owner, place) and _said(owner, place, FLAVOR) for place in places)
    return True


def _is_from(pod: Obj, owner: Obj, place: PodPlace) -> bool:
    """Whether it says what a template says. One that was let go has to look like its template as well; who waits at the
    gate is not asked for that, since not every operator copies every label."""
    if not _mark(pod) or _said(owner, place, WORKLOAD) != _mark(pod):
        return False
    return not _said(owner, place, FLAVOR) or _is_like(pod, owner, place)


def _is_of_pod(mark: str, owner: Obj, kinds: Kinds) -> bool:
    """Whether a pod that says this was made by another one: by a Spark driver, of an application that asks for its
    executors too, or by one that nobody queues. Whatever any other pod makes nobody has asked for."""
    own = _mark(owner)
    if not own:
        return not mark and not gated(owner)
    drivers = (entry for entry in kinds.entries if any(rule.spark is not None for rule in entry.pod_sets))
    return mark == own and any(own.startswith(workload_name(kinds.prefix(entry), "")) for entry in drivers)


def _runs_unmarked(entry: JobKind, obj: Obj, above: Above, kinds: Kinds) -> bool:
    """Whether it may make pods that say nothing: nobody queues it, it ran before anybody could hold it, or its pods are
    described elsewhere. What was made for another application may, if that may."""
    if is_suspended(entry, obj) or any(_said(obj, place, WORKLOAD) for place in _places(entry, obj, kinds)):
        return False
    for kind, named in owners_named(obj, kinds):
        if named.get("controller") and kind.makes is None:
            owner = above.get(str(named.get("uid")))
            return owner is not None and _runs_unmarked(kind, owner, above, kinds)
    return True


def _places(entry: JobKind, obj: Obj, kinds: Kinds) -> tuple[PodPlace, ...]:
    try:
        return templates(entry, obj, kinds)
    except JobError:
        return ()


def _is_like(pod: Obj, owner: Obj, place: PodPlace) -> bool:
    """Whether it has the labels of this template, by which controllers know their own and take away what is too much:
    servers put the uid of a Job among those of its template."""
    return _map(owner, place.labels).items() <= _map(pod, ("metadata", "labels")).items()


def _mark(obj: Obj) -> str:
    return str(_map(obj, ("metadata", "annotations")).get(WORKLOAD) or "")


def _said(owner: Obj, place: PodPlace, key: str) -> str:
    return str(_map(owner, place.for_grant.annotations).get(key) or "")


def _map(obj: Obj, path: Path) -> Mapping[str, Any]:
    """Not all definitions say what may stand there; what cannot be read says nothing."""
    found = peek(obj, path)
    return found if isinstance(found, Mapping) else {}
