"""What objects say to schedulers in the words of their own operators: it is read, or said to be lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.dialects import DialectError, Fate, Rendering, Submission, render

Json = Any
POLICY = {
    "minAvailable": 3, "queue": "nightly", "priorityClass": "high", "scheduleTimeoutSeconds": 90,
    "minResources": {"cpu": "3"},
}  # fmt: skip
AT = "spec.runPolicy.schedulingPolicy"


def _training(**policy: Json) -> Json:
    job = sample("TFJob")
    job["spec"]["runPolicy"] = {"schedulingPolicy": policy or POLICY}
    return job


def _spark(**fields: Json) -> Json:
    spark = sample("SparkApplication")
    spark["spec"] |= fields
    return spark


def _lost(done: Rendering) -> set[str]:
    return {note.about.removeprefix(f"{AT}.") for note in done.dropped if note.about.startswith("spec.")}


@pytest.mark.parametrize(
    ("scheduler", "lost"),
    [
        ("yunikorn", {"minAvailable", "minResources", "scheduleTimeoutSeconds"}),
        ("kueue", {"queue", "minAvailable", "minResources", "scheduleTimeoutSeconds"}),
        ("volcano", {"scheduleTimeoutSeconds"}),
        ("scheduler-plugins", {"queue"}),
        ("tidegate", {"queue", "minAvailable", "minResources", "scheduleTimeoutSeconds"}),
    ],
)
def test_what_a_training_job_says_of_its_gang_is_carried_over_or_said_to_be_lost(
    scheduler: str, lost: set[str]
) -> None:
    """All of it was left out without a word where the scheduler is not Volcano."""
    assert _lost(render(_training(), {}, scheduler)) == lost


def test_the_queue_that_an_object_names_itself_is_used() -> None:
    """Spark's operator labels pods with batchSchedulerOptions.queue; rendering put them into `default`."""
    assert "'yunikorn.apache.org/queue': 'root.nightly'" in str(render(_training(), {}, "yunikorn").object)
    spark = _spark(batchSchedulerOptions={"queue": "root.a.b"})
    assert "'yunikorn.apache.org/queue': 'root.a.b'" in str(render(spark, {}, "yunikorn").object)
    scheduled = sample("ScheduledSparkApplication")
    scheduled["spec"]["template"]["batchSchedulerOptions"] = {"queue": "etl", "resources": {"cpu": "9"}}
    (group,) = render(scheduled, {}, "volcano").others
    assert (group["spec"]["queue"], group["spec"]["minResources"]) == ("etl", {"cpu": "9"})
    (group,) = render(scheduled, Submission(organisation="org1"), "volcano").others
    assert group["spec"]["queue"] == "org1-spark", "a submission's word counts before the object's"


def test_scheduler_plugins_wait_as_long_as_the_object_says() -> None:
    (group,) = render(_training(), {}, "scheduler-plugins").others
    assert group["spec"] == {"minMember": 3, "minResources": {"cpu": "3"}, "scheduleTimeoutSeconds": 90}


def test_a_floor_over_all_of_a_queue_job_is_its_gang() -> None:
    job = sample("QueueJob")
    job["spec"]["schedulingSpec"] = {"minAvailable": 5}
    (group,) = render(job, {}, "volcano").others
    assert group["spec"]["minMember"] == 5
    assert "minTaskMember" not in group["spec"]
    assert "spec.schedulingSpec.minAvailable" in _lost(render(job, {}, "yunikorn"))
    assert not _lost(render(job, {}, "tidegate"))


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"minAvailable": "3"}, f'{AT}.minAvailable "3" is not a whole number; write it without quotes'),
        ({"minAvailable": True}, f'{AT}.minAvailable "True" is not a whole number'),
        ({"queue": 7}, f'{AT}.queue "7" is not a name; write it in quotes'),
        ({"minResources": ["cpu"]}, f"{AT}.minResources \"['cpu']\" is not a mapping"),
        ({"scheduleTimeoutSeconds": -1}, f'{AT}.scheduleTimeoutSeconds "-1" is not a whole number'),
    ],
)
def test_what_cannot_be_meant_is_refused(policy: Json, said: str) -> None:
    with pytest.raises(DialectError) as caught:
        render(_training(**policy), {}, "volcano")
    assert said in str(caught.value)


def test_an_object_that_names_another_scheduler_is_not_rendered_in_silence() -> None:
    """Spark's operator would give the pods to that one, whatever is written beside it."""
    spark = _spark(batchScheduler="volcano")
    about = {(note.fate, note.about) for note in render(spark, {}, "yunikorn").notes}
    assert (Fate.NEEDS, "spec.batchScheduler") in about
    assert "spec.batchScheduler" not in {note.about for note in render(spark, {}, "volcano").notes}
