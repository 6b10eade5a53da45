"""The law of this package: what a real kube-apiserver says of a manifest, we say; what it makes of one, we make.

Every sample is sent as it is, and once for each way of making it wrong: created, updated, its status updated; all in
dry runs. Compared are the status code, the set of (reason, field) of the causes, and the object if it was accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness import Cluster, RealKube, missing_programs
from tests.local.kinds import mutants, ours, theirs
from tests.local.kinds.ours import Json, Verdict, sort_of

pytestmark = pytest.mark.kube

SAMPLES = ours.samples()
STATUSES = yaml.safe_load(Path(__file__).with_name("statuses.yaml").read_text())
KINDS = sorted({sample["kind"] for sample in SAMPLES})
_IN_ADMISSION_OR_SERVER = (403, 409, 500)


@pytest.fixture(scope="module")
def kube() -> Iterator[Cluster]:
    """A real API server alone: no controllers that would change things meanwhile."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    flags = [theirs.ADMISSION_OFF, "--allow-privileged=true", "--enable-priority-and-fairness=false"]
    with RealKube(controllers=False, apiserver_flags=flags) as cluster:
        yield cluster


def of_kind(kind: str) -> list[Json]:
    return [sample for sample in SAMPLES if sample["kind"] == kind]


def named(obj: Json) -> str:
    return f"{obj['kind']}/{obj['metadata']['name'].removeprefix('kept-')}"


def difference(theirs_: Verdict, ours_: Verdict, obj: Json) -> str:
    """In words; empty if there is none."""
    if theirs_.code in _IN_ADMISSION_OR_SERVER:
        return ""
    if theirs_.code != ours_.code or theirs_.causes != ours_.causes:
        return f"theirs {theirs_.code} {sorted(theirs_.causes)}, ours {ours_.code} {sorted(ours_.causes)}"
    if theirs_.obj is None:
        return ""
    sort = sort_of(obj)
    mine, real = (theirs.comparable(one.obj, sort, theirs_.obj) for one in (ours_, theirs_))
    return "" if mine == real else f"theirs {real}, ours {mine}"


def compare_create(kube: Cluster, obj: Json) -> str:
    real = theirs.create(kube, obj)
    metadata = (real.obj or {}).get("metadata", {})
    mine = ours.created(obj, metadata.get("uid", ours.UID), metadata.get("creationTimestamp", ours.NOW))
    return difference(real, mine, obj)


def compare_update(kube: Cluster, obj: Json, old: Json, subresource: str = "") -> str:
    return difference(theirs.update(kube, obj, subresource), ours.updated(obj, old, subresource), obj)


Case = tuple[str, Callable[[], str]]


def differences(kube: Cluster, cases: Iterable[Case]) -> list[str]:
    """What differs, of many cases; a few at a time, since most of a case is waiting for the server."""
    everything = list(cases)

    def some(start: int) -> list[str]:
        try:
            return [f"{name}: {said}" for name, compare in everything[start::4] if (said := compare())]
        finally:
            kube.close()  # This thread's own connection.

    with ThreadPoolExecutor(4) as pool:
        return [found for part in pool.map(some, range(4)) for found in part]


def updates(kube: Cluster, old: Json, under: mutants.Path = (), door: str = "") -> Iterator[Case]:
    """Each change of `old`, as a case."""
    for mutation in mutants.mutations(old, under):
        if not is_beyond_us(mutation):
            changed = mutants.mutated(old, mutation)
            yield f"{named(old)} {mutation}", partial(compare_update, kube, changed, old, door)


def is_beyond_us(mutation: mutants.Mutation) -> bool:
    """What this package cannot judge: a phase's time needs a clock, one annotation an early 400."""
    path = mutation.path
    clock = path == ("status", "phase")
    early = path[:2] == ("metadata", "annotations") and path[-1] == "deprecated.daemonset.template.generation"
    # An empty list here differs from none, which nothing else shows.
    empty = "policies" in path and "behavior" in path and (mutation.word in ("emptied", "removed"))
    return clock or early or empty


@pytest.mark.parametrize("kind", KINDS)
def test_good_manifests_become_the_same_objects(kube: Cluster, kind: str) -> None:
    """Each sample is accepted by the real server, and what comes out is what our rules make of it."""
    for obj in of_kind(kind):
        assert theirs.create(kube, obj).code == 201, named(obj)
        assert compare_create(kube, obj) == "", named(obj)


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_manifests_are_judged_alike(kube: Cluster, kind: str) -> None:
    """Every single change of every sample is accepted or refused for the same fields and reasons."""
    cases = [
        (f"{named(obj)} {mutation}", partial(compare_create, kube, mutants.mutated(obj, mutation)))
        for obj in of_kind(kind)
        for mutation in mutants.mutations(obj)
        if not is_beyond_us(mutation)
    ]
    assert differences(kube, cases) == []


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_stored_objects_are_judged_alike(kube: Cluster, kind: str) -> None:
    """The same for updates: what may change, what may not, and what the server puts back."""
    for sample in of_kind(kind):
        assert differences(kube, updates(kube, theirs.store(kube, sample))) == []


@pytest.mark.parametrize("name", sorted(STATUSES))
def test_changes_of_status_are_judged_alike(kube: Cluster, name: str) -> None:
    """A status that adds up is stored; then each change of it is judged as the real server judges it."""
    kind, own = name.split("/")
    stored = theirs.store(kube, ours.sample(kind, own))
    assert compare_update(kube, stored | {"status": STATUSES[name]}, stored, "status") == "", name
    old = theirs.store_status(kube, stored | {"status": STATUSES[name]})
    assert differences(kube, updates(kube, old, ("status",), "status")) == []


_POOLS = {
    (sample["kind"], sample["metadata"]["name"]): [m for m in mutants.mutations(sample) if not is_beyond_us(m)]
    for sample in SAMPLES
}


@st.composite
def spoilt(draw: st.DrawFn, kinds: tuple[str, ...]) -> Any:
    # A Service with node ports is left out: the server hands out those that are missing, which the rules alone do not.
    chosen = [sample for sample in SAMPLES if sample["kind"] in kinds and sample["metadata"]["name"] != "node-port"]
    obj = draw(st.sampled_from(chosen))
    pool = _POOLS[obj["kind"], obj["metadata"]["name"]]
    return obj, draw(st.lists(st.sampled_from(pool), min_size=2, max_size=4))


@given(spoilt(("Pod", "Job", "CronJob", "Service", "Deployment", "StatefulSet")))
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_several_faults_at_once_are_all_told(kube: Cluster, spoilt: Any) -> None:
    """Faults do not hide one another, or hide one another as they do in Kubernetes."""
    obj, faults = spoilt
    assert compare_create(kube, mutants.mutated(obj, *faults)) == "", [str(fault) for fault in faults]


_DEBUGGER = {"name": "debugger", "image": "busybox", "command": ["sh"], "env": [{"name": "A", "value": "b"}]}


@pytest.mark.parametrize("name", ["small", "host-pod", "rich"])
@pytest.mark.parametrize("door", ["resize", "ephemeralcontainers"])
def test_the_other_doors_of_a_pod_let_through_the_same(kube: Cluster, name: str, door: str) -> None:
    """Resizing changes amounts, debugging adds containers; each refuses and forgets the rest as the real one does."""
    old = theirs.store(kube, ours.sample("Pod", name))
    asked = mutants.mutated(old)
    if door == "ephemeralcontainers":
        asked["spec"]["ephemeralContainers"] = [_DEBUGGER]
    near = {"resources", "resizePolicy", "ephemeralContainers"}
    cases = [
        (str(mutation), partial(compare_update, kube, mutants.mutated(asked, mutation), old, door))
        for mutation in mutants.mutations(asked, ("spec",))
        if len(mutation.path) < 4 or near & set(mutation.path)
    ]
    assert differences(kube, cases) == []
