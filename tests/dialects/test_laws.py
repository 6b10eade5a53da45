"""What holds for every kind and every scheduler."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import BUILTIN, DialectError, Submission, render
from tidegate.model.jobs import builtin, peek, templates
from tidegate.model.problems import ManifestError

Json = Any
FOREIGN = {("TrainJob", one) for one in ("yunikorn", "volcano", "scheduler-plugins")}
PAIRS = [(kind, scheduler) for kind in KINDS for scheduler in BUILTIN if (kind, scheduler) not in FOREIGN]
LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

_word = st.from_regex(r"[a-z][a-z0-9-]{0,10}[a-z0-9]", fullmatch=True)
submissions = st.builds(
    lambda user, groups, **rest: Submission(user=user, groups=tuple(groups) if user else (), **rest),
    user=st.one_of(st.just(""), _word),
    groups=st.lists(_word, max_size=2),
    organisation=st.one_of(st.just(""), _word),
    job_type=st.one_of(st.just(""), _word),
    resource_type=st.one_of(st.just(""), _word),
    id=st.one_of(st.just(""), _word),
)
gangs = st.sampled_from([None, "", "placeholderTimeoutInSeconds=30", "gangSchedulingStyle=Hard"])
jobs = st.lists(
    st.builds(
        lambda name, gang, allow: (
            {"type": name}
            | ({} if gang is None else {"gangscheduling": gang})
            | ({} if allow is None else {"allow-preemption": allow})
        ),
        st.sampled_from(["ray", "spark", "dask", "job", "pytorch"]),
        gangs,
        st.sampled_from([None, True, False]),
    ),
    unique_by=lambda job: job["type"],
    max_size=4,
)
configs = st.one_of(st.none(), jobs)


def _parts(value: Json) -> set[int]:
    """Which maps and lists an object is made of."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = {id(value)} if isinstance(value, dict | list) else set()
    return own.union(*(_parts(item) for item in inside))


def _config(scheduler: str, listed: Json) -> Json:
    return {"scheduler": scheduler} | ({} if listed is None else {"jobs": listed})


def _metadata(value: Json) -> list[Json]:
    """Every map of labels or annotations anywhere in an object, with its name."""
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("labels", "annotations") and isinstance(inner, dict):
                found.append((key, inner))
            found += _metadata(inner)
    elif isinstance(value, list):
        found += [one for item in value for one in _metadata(item)]
    return found


def _check_for_kubernetes(obj: Json) -> None:
    assert DNS.fullmatch(obj["metadata"]["name"])
    for which, entries in _metadata(obj):
        for key, value in entries.items():
            assert KEY.fullmatch(key)
            assert isinstance(value, str)
            assert which == "annotations" or LABEL.fullmatch(value), f"{key}: {value}"


def _check_for_yunikorn(annotations: Json) -> None:
    if "yunikorn.apache.org/user.info" in annotations:
        who = json.loads(annotations["yunikorn.apache.org/user.info"])
        assert isinstance(who["user"], str)
        assert isinstance(who["groups"], list)
    if "yunikorn.apache.org/task-groups" in annotations:
        groups = json.loads(annotations["yunikorn.apache.org/task-groups"])
        assert len({group["name"] for group in groups}) == len(groups)
        for group in groups:
            assert group["name"]
            assert 1 <= group["minMember"] < 2**31
            assert "pods" not in group["minResource"]


@pytest.mark.parametrize(("kind", "scheduler"), PAIRS)
@settings(max_examples=8)
@given(submission=submissions, listed=configs)
def test_rendering_is_new_repeatable_and_valid(kind: str, scheduler: str, submission: Submission, listed: Json) -> None:
    """The input stays as it was, rendering twice changes nothing, and the result keeps the target's rules."""
    given_obj = sample(kind)
    config = _config(scheduler, listed)
    done = render(given_obj, submission, config)
    assert given_obj == sample(kind)
    assert not _parts(given_obj) & _parts(done.object), "nothing is shared, so nobody can change the other's"
    again = render(copy.deepcopy(done.object), submission, config)
    assert (again.object, again.others) == (done.object, done.others)
    for obj in done.objects:
        _check_for_kubernetes(obj)
        for which, entries in _metadata(obj):
            if which == "annotations":
                _check_for_yunikorn(entries)


READ = {
    "yunikorn": (
        ("labels", "yunikorn.apache.org/app-id"),
        ("labels", "yunikorn.apache.org/queue"),
        ("spec", "yunikorn"),
    ),
    "volcano": (("annotations", "scheduling.k8s.io/group-name"), ("spec", "volcano")),
    "scheduler-plugins": (("labels", "scheduling.x-k8s.io/pod-group"), ("spec", "scheduler-plugins-scheduler")),
    "tidegate": (("labels", "tidegate.dev/queue"),),
}


@pytest.mark.parametrize(("kind", "scheduler"), [pair for pair in PAIRS if pair[1] in READ])
def test_every_pod_template_of_every_kind_carries_what_the_scheduler_reads(kind: str, scheduler: str) -> None:
    obj = render(sample(kind), Submission(organisation="org", id="1"), scheduler).object
    places = templates(builtin().of(obj), obj)
    assert places or kind == "TrainJob"
    for place in places:
        for where, key in READ[scheduler]:
            if where == "spec":
                assert peek(obj, (*place.pod, "schedulerName")) == key
            else:
                assert key in peek(obj, getattr(place, where))


GROUPED = ("DaskCluster", "DaskJob", "QueueJob")


@pytest.mark.parametrize("kind", KINDS)
def test_kueue_finds_its_queue_on_the_object_or_on_every_pod(kind: str) -> None:
    obj = render(sample(kind), Submission(organisation="org"), "kueue").object
    key = "kueue.x-k8s.io/queue-name"
    if kind in GROUPED:
        assert key not in (obj["metadata"].get("labels") or {})
        for place in templates(builtin().of(obj), obj):
            labels, annotations = peek(obj, place.labels), peek(obj, place.annotations)
            assert key in labels
            assert labels["kueue.x-k8s.io/pod-group-name"] == obj["metadata"]["name"]
            assert int(annotations["kueue.x-k8s.io/pod-group-total-count"]) >= 1
    else:
        made = obj["spec"]["jobTemplate"] if kind == "CronJob" else obj
        assert made["metadata"]["labels"][key]
    for place in templates(builtin().of(obj), obj):
        assert not peek(obj, (*place.pod, "schedulerName")), "Kueue leaves the scheduler alone"


@pytest.mark.parametrize("scheduler", ["yunikorn", "volcano", "scheduler-plugins"])
def test_pods_that_another_object_describes_cannot_be_rendered_here(scheduler: str) -> None:
    with pytest.raises(DialectError, match="described by another object"):
        render(sample("TrainJob"), {}, scheduler)


def _places(value: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inside for found in _places(item, (*path, key)))]


JUNK = [None, "text", "", 0, -1, 2**40, 1.5, True, [], {}, [None], {"a": None}, ["x"], [[1]], "1Gi", "2.5"]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), kind=st.sampled_from(KINDS), scheduler=st.sampled_from(BUILTIN), value=st.sampled_from(JUNK))
def test_whatever_an_object_has_in_it_the_answer_is_a_rendering_or_a_sentence(
    data: st.DataObject, kind: str, scheduler: str, value: Json
) -> None:
    obj = sample(kind)
    places = [path for path in _places(obj) if path and path[0] not in ("apiVersion", "kind")]
    *way, last = data.draw(st.sampled_from(places))
    inside = obj
    for step in way:
        inside = inside[step]
    inside[last] = value
    try:
        render(obj, Submission(organisation="org", user="u"), scheduler)
    except ValueError as error:
        assert type(error).__name__ in ("DialectError", "JobError", "ManifestError"), repr(error)
        assert "; " in str(error), "what to do is said, too"


@pytest.mark.parametrize("obj", [None, [], "x", {}, {"kind": "Job"}, {"apiVersion": "batch/v1", "kind": "Nope"}])
def test_what_is_no_known_object_is_refused(obj: Json) -> None:
    with pytest.raises((DialectError, ValueError)):
        render(obj, {}, "kueue")


@pytest.mark.parametrize(
    "submission", [{"groups": ["g"]}, {"user": 3}, {"organisation": " x"}, {"organisaton": "x"}, {"id": None}]
)
def test_submissions_that_cannot_be_meant_are_refused(submission: Json) -> None:
    with pytest.raises(ManifestError):
        render(sample("Job"), submission, "kueue")


NAMED_AFTER = [
    ("Job", "yunikorn"), ("RayCluster", "volcano"), ("SparkApplication", "volcano"), ("Job", "scheduler-plugins"),
    ("RayJob", "scheduler-plugins"), ("DaskCluster", "kueue"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "scheduler"), NAMED_AFTER)
def test_objects_that_the_server_names_share_nothing_where_they_have_an_id(kind: str, scheduler: str) -> None:
    """Platforms make many from one manifest; without an id they would be one gang, which is said."""
    obj = sample(kind)
    obj["metadata"] = {"generateName": "run-", "namespace": "team-a"}

    def written(unique: str) -> str:
        done = render(obj, Submission(organisation="org", id=unique), scheduler)
        for one in done.others:
            assert len(one["metadata"]["name"]) <= 63
        return json.dumps(done.objects)

    uids = [f"1b4e28ba-2fa1-11d2-883f-0016d3cca42{digit}" for digit in "78"]
    assert written(uids[0]) != written(uids[1])
    notes = render(obj, Submission(organisation="org"), scheduler).notes
    assert "metadata.name" in {note.about for note in notes}
    obj["metadata"]["name"] = "own"
    assert "metadata.name" not in {note.about for note in render(obj, {}, scheduler).notes}
