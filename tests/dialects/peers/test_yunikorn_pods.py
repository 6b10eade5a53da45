"""Rendered pods, read by the code with which YuniKorn's own shim reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.dialects.peers.pods import pods_of
from tests.dialects.peers.programs import Ask, asked
from tests.dialects.test_laws import submissions
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import Submission, render
from tidegate.dialects.intent.gang import GangParameters, as_yunikorn_reads, parse_parameters
from tidegate.model.jobs import Form, builtin, peek

pytestmark = pytest.mark.kube
Json = Any
PREFIX = "yunikorn.apache.org"
DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
WHOLE = sorted(set(KINDS) - {"TrainJob"})
NO_FIXTURE_CHECK = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
# What is found is small enough, and asking again and again until it is smallest takes minutes.
FOUND_IS_FOUND = (Phase.explicit, Phase.reuse, Phase.generate)


@pytest.fixture(scope="module")
def shim() -> Iterator[Ask]:
    with asked("yunikorn-pods") as ask:
        yield ask


def _read(shim: Ask, pod: Json) -> Json:
    reading = json.loads(shim(pod))
    assert not reading.get("error"), reading
    return reading


amounts = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["100m", "1", "2.5", "0.1", "7m", 2]),
        "memory": st.sampled_from(["64Mi", "1Gi", "1.5Gi", "123456789", "1G", "100M"]),
        "nvidia.com/gpu": st.sampled_from(["1", 4]),
        "ephemeral-storage": st.sampled_from(["1Gi", "10G"]),
    },
)
containers = st.builds(
    lambda requests, limits: {"image": "i", "resources": {"requests": requests, "limits": {**requests, **limits}}},
    amounts,
    amounts,
)


@st.composite
def pod_specs(draw: st.DrawFn) -> Json:
    """Pods with several containers, some of which run first or beside the others, and with a runtime's overhead."""
    spec: Json = {
        "containers": [
            {"name": f"c{n}", **one} for n, one in enumerate(draw(st.lists(containers, min_size=1, max_size=3)))
        ]
    }
    before = draw(st.lists(st.tuples(containers, st.booleans()), max_size=3))
    if before:
        spec["initContainers"] = [
            {"name": f"i{n}", **one} | ({"restartPolicy": "Always"} if stays else {})
            for n, (one, stays) in enumerate(before)
        ]
    if draw(st.booleans()):
        spec["overhead"] = {"cpu": "50m", "memory": "30Mi"}
    if draw(st.booleans()):
        spec["nodeSelector"] = {"gpu": "a100"}
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    return spec


@st.composite
def objects(draw: st.DrawFn, kind: str) -> Json:
    obj = sample(kind)
    for shape, _ in pods_of(obj):
        if shape.place is not None and shape.place.form is not Form.SPARK and shape.place.absent is None:
            pod = peek(obj, shape.place.pod)
            pod |= draw(pod_specs())
    return obj


jobs = st.fixed_dictionaries({
    "gangscheduling": st.sampled_from([
        "", "placeholderTimeoutInSeconds=30", "gangSchedulingStyle=Hard",
        "placeholderTimeoutInSeconds=7 gangSchedulingStyle=Soft",
    ]),
    "allow-preemption": st.sampled_from([None, True, False]),
})  # fmt: skip


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=40, suppress_health_check=NO_FIXTURE_CHECK, phases=FOUND_IS_FOUND)
@given(data=st.data(), submission=submissions, job=jobs)
def test_every_pod_is_read_as_it_was_meant(
    shim: Ask, kind: str, data: st.DataObject, submission: Submission, job: Json
) -> None:
    """Application, queue and user; the gang with its members, their size, how long it is waited for and what then."""
    obj = data.draw(objects(kind))
    entry = builtin().of(obj)
    job = {"type": submission.job_type or entry.job_type or kind.lower(), **job}
    pods = pods_of(render(obj, submission, {"scheduler": "yunikorn", "jobs": [job]}).object)
    readings = [_read(shim, pod) for _, pod in pods]
    assert len({reading["application"] for reading in readings}) == 1
    assert len({reading["queue"] for reading in readings}) == 1
    levels = readings[0]["queue"].split(".")
    assert levels == ["root", *filter(None, [submission.organisation]), job["type"]]
    for reading in readings:
        assert not reading.get("userInfoError")
        assert reading["user"] == (submission.user or "nobody")
        assert list(reading["groups"] or ()) == list(submission.groups)
        assert reading["allowPreemption"] == {None: "", True: "true", False: "false"}[job["allow-preemption"]]
    _check_gang(pods, readings, parse_parameters(job["gangscheduling"]))


def _check_gang(pods: list[Any], readings: list[Json], meant: GangParameters) -> None:
    """Every group has as many members as its role has to start with, each as large as YuniKorn finds the pod to be."""
    first = next(reading for reading in readings if reading["taskGroups"] or len(readings) == 1)
    groups = {group["name"]: group for group in first["taskGroups"] or ()}
    assert len(groups) == len(first["taskGroups"] or ())
    if groups:
        assert (first["timeoutSeconds"], first["style"]) == (meant.timeout_s, meant.style)
    for (shape, pod), reading in zip(pods, readings, strict=True):
        assert not reading.get("taskGroupsError")
        # Whichever pod is seen first, the gang is the same; executors come after their driver for certain.
        assert _named(reading) == _named(first) or shape.later
        group = groups.get(reading["taskGroup"])
        if pod["kind"] == "Pod" and len(readings) == 1 and not groups:
            continue
        assert (group is not None) == (shape.gang > 0)
        if group is None:
            continue
        assert group["members"] == shape.gang
        assert group["each"] == reading["pod"], "a pod larger than its placeholder loses its place"
        assert group["nodeSelector"] == pod["spec"].get("nodeSelector")
        assert len(group["placeholder"]) <= 63
        assert DNS.fullmatch(group["placeholder"])


def _named(reading: Json) -> Json:
    """Its groups, but for the names of placeholders, which end at random."""
    return [{**group, "placeholder": ""} for group in reading["taskGroups"] or ()]


words = st.sampled_from([
    "placeholderTimeoutInSeconds", "gangSchedulingStyle", "x", "", "=", " ", "  ", "Hard", "Soft", "hard", "60", "0",
    "-1", "+5", "1e3", "0x10", "1_0", "99999999999999999999", "-99999999999999999999", "oneSecond", "\\t", "٣",
])  # fmt: skip
texts = st.one_of(
    st.lists(words, max_size=8).map("".join),
    st.lists(st.tuples(words, words).map("=".join), max_size=4).map(" ".join),
)


@settings(max_examples=1500, suppress_health_check=NO_FIXTURE_CHECK)
@given(text=texts)
def test_parameters_are_read_like_the_shim_reads_them(shim: Ask, text: str) -> None:
    """What is said of parameters that an object brings along is true; and what we take, YuniKorn takes for the same."""
    pod = {"metadata": {"annotations": {f"{PREFIX}/schedulingPolicyParameters": text}}}
    reading = _read(shim, pod)
    theirs = GangParameters(reading["timeoutSeconds"], reading["style"])
    assert as_yunikorn_reads(text) == theirs
    try:
        ours = parse_parameters(text)
    except ValueError:
        return
    assert ours == as_yunikorn_reads(str(ours))
    assert ours == theirs or text != " ".join(text.split()), "but for spaces, which we mend"


BAD_GROUPS = {
    "no name": '[{"minMember":1,"minResource":{"cpu":"1"}}]',
    "no member": '[{"name":"a","minResource":{"cpu":"1"}}]',
    "less than none": '[{"name":"a","minMember":-1,"minResource":{"cpu":"1"}}]',
    "no resources": '[{"name":"a","minMember":1}]',
    "no amount": '[{"name":"a","minMember":1,"minResource":{"cpu":"lots"}}]',
    "too many": '[{"name":"a","minMember":2147483648,"minResource":{}}]',
    "no list": '{"name":"a"}',
    "no JSON": "a=1",
}


@pytest.mark.parametrize("what", BAD_GROUPS)
def test_the_shim_does_refuse_what_is_wrong(shim: Ask, what: str) -> None:
    """So that the laws above mean something."""
    pod = {"metadata": {"annotations": {f"{PREFIX}/task-groups": BAD_GROUPS[what]}}}
    assert _read(shim, pod)["taskGroupsError"]


def test_the_shim_does_refuse_the_users_that_the_seed_writes(shim: Ask) -> None:
    reading = _read(shim, {"metadata": {"annotations": {f"{PREFIX}/user.info": "org1.anna"}}})
    assert (bool(reading["userInfoError"]), reading["user"]) == (True, "nobody")


def test_pods_without_the_schedulers_name_are_strangers(shim: Ask) -> None:
    labels = {f"{PREFIX}/app-id": "a"}
    assert _read(shim, {"metadata": {"labels": labels}})["application"] == ""
    assert _read(shim, {"metadata": {"labels": labels}, "spec": {"schedulerName": "yunikorn"}})["application"] == "a"


def test_the_copy_of_a_runtime_is_read_like_any_other(shim: Ask) -> None:
    """A TrainJob's pods are described by its runtime."""
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    pod = {"spec": {"containers": [{"name": "node", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}}
    jobs = [{"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": pod}}}]
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"template": {"spec": {"replicatedJobs": jobs}}},
    }
    done = render(sample("TrainJob"), Submission(organisation="org1", id="7"), "yunikorn", referred=runtime)
    (copied,) = done.others
    template = copied["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    reading = _read(shim, template)
    assert (reading["application"], reading["queue"]) == ("trainjob-7", "root.org1.trainjob")
    assert [(group["name"], group["members"]) for group in reading["taskGroups"]] == [("node", 3)]
