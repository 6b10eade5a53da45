"""`queueconfig`, strictly: what a scheduler would silently take for something else is an error here."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.model.jobs.samples import sample
from tidegate.dialects import DialectError, Submission, parse_queueconfig, render
from tidegate.dialects.intent.gang import GangParameters
from tidegate.model.problems import ManifestError

Json = Any
SEED = """
queueconfig:
  scheduler: yunikorn
  jobs:
    - type: "ray"
      gangscheduling: "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard"
      allow-preemption: false
    - type: "spark"
      gangscheduling: "placeholderTimeoutInSeconds=30 gangSchedulingStyle=Hard"
      allow-preemption: true
"""


def _config(**job: Json) -> Json:
    return {"queueconfig": {"scheduler": "yunikorn", "jobs": [{"type": "ray"} | job]}}


def test_a_configuration_is_read() -> None:
    config = parse_queueconfig(yaml.safe_load(SEED))
    ray = config.job("ray")
    assert ray is not None
    assert (ray.gang, ray.allow_preemption) == (GangParameters(60, "Hard"), False)
    assert [config.queue(name) for name in ("ray", "spark", "dask")] == ["ray", "spark", "default"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            _config(gangscheduling="gangSchedulingStyle=hard"),
            "would silently be taken for Soft by YuniKorn; write Hard",
        ),
        (_config(gangscheduling="gangSchedulingStyle=strict"), "write Soft or Hard"),
        (_config(gangscheduling="placeholderTimeoutInSeconds=oneMinute"), '"oneMinute" is not a number of seconds'),
        (_config(gangscheduling="placeholderTimeoutInSeconds=-1"), '"-1" is not a number of seconds'),
        (_config(gangscheduling="timeout=5"), '"timeout" is not a parameter of gang scheduling'),
        (_config(gangscheduling="gangSchedulingStyle=Hard=Soft"), "is not key=value"),
        (_config(gangscheduling="gangSchedulingStyle"), "is not key=value"),
        (_config(gangscheduling="gangSchedulingStyle=Hard gangSchedulingStyle=Soft"), "is there twice"),
        (_config(gangscheduling=True), "is not text"),
        (_config(**{"allow-preemption": "yes"}), '"yes" is neither true nor false'),
        (_config(allow_preemption=True), "queueconfig.jobs[0].allow_preemption: is not known here; did you mean"),
        (_config(type="Ray"), '"Ray" is not a job type'),
        (_config(type="r" * 64), "at most 63"),
        (_config(type=None), "is not a job type"),
        ({"queueconfig": {"jobs": []}}, "queueconfig.scheduler: is missing"),
        (
            {"queueconfig": {"scheduler": "yunikorn", "job": []}},
            "queueconfig.job: is not known here; did you mean jobs?",
        ),
        ({"queueconfig": {"scheduler": "yunikorn", "jobs": {}}}, "queueconfig.jobs: is not a list"),
        ({"queueconfig": {"scheduler": "yunikorn", "jobs": ["ray"]}}, "queueconfig.jobs[0]: is not a mapping"),
        ({"queueconfig": {"scheduler": "yunikorn", "jobs": [{"type": "a"}, {"type": "a"}]}}, "is there twice"),
        ([], "is not a mapping"),
    ],
)
def test_each_mistake_has_its_error(content: Json, said: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_queueconfig(content)
    assert said in str(caught.value)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(ManifestError) as caught:
        parse_queueconfig({"scheduler": "", "x": 1, "jobs": [{"type": "A"}, {"type": "b", "gangscheduling": "x=1"}]})
    assert len(caught.value.problems) == 4


def test_a_file_for_another_scheduler_is_refused() -> None:
    with pytest.raises(ManifestError, match="is yunikorn, but kueue was asked for"):
        parse_queueconfig(yaml.safe_load(SEED), scheduler="kueue")


@pytest.mark.parametrize(
    ("submission", "said"),
    [
        (Submission(organisation="o" * 60), "has 69 characters and is written as a label; shorten it to at most 63"),
        (Submission(organisation="a/b"), 'the organisation "a/b" cannot be a queue'),
        (Submission(id="x" * 70), "has 81 characters"),
        (Submission(id="a b"), "cannot be the value of a label"),
    ],
)
def test_names_that_cannot_be_written_are_refused_not_cut(submission: Submission, said: str) -> None:
    with pytest.raises(DialectError) as caught:
        render(sample("RayCluster"), submission, "yunikorn")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "listed", "queue"),
    [
        ("RayCluster", True, "root.org1.ray"),
        ("SparkApplication", True, "root.org1.spark"),
        ("Job", True, "root.org1.default"),
    ],
)
def test_queues_are_named_after_organisation_and_type(kind: str, listed: bool, queue: str) -> None:
    done = render(sample(kind), Submission(organisation="org1"), yaml.safe_load(SEED))
    assert f"yunikorn.apache.org/queue': '{queue}'" in str(done.object)


def test_organisations_with_dots_stay_one_level() -> None:
    done = render(sample("RayCluster"), Submission(organisation="org.example"), "yunikorn")
    assert "'root.org_dot_example.ray'" in str(done.object)


def test_an_unknown_scheduler_is_named_with_those_there_are() -> None:
    with pytest.raises(
        DialectError, match='"slurm" is not a scheduler known here; use one of kueue, yunikorn, volcano'
    ):
        render(sample("Job"), {}, "slurm")
