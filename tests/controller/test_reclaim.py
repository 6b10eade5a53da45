"""Resources of pods that ended come back before their Job ends: the testing plan of the proposal, item by item."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.controller.house import House
from tests.local.controllers.stage import by_index, fails, finished, runs, succeeds
from tests.model.jobs.samples import sample
from tidegate.controller.kinds import CLUSTER_QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin
from tidegate.workloads import ended_pods

Json = Any


async def started(house: House, name: str, count: int, **spec: Json) -> list[Object]:
    """A Job that runs with all its pods."""
    await house.queued_job(name, count, **spec)
    active = min(count, spec.get("parallelism", count))
    await house.see(r.JOBS, name, lambda job: (job.get("status") or {}).get("active") == active)
    return await house.list(r.PODS, f"job-name={name}")


async def succeed(house: House, *pods: Object) -> None:
    for pod in pods:
        await house._set(pod, succeeds(pod))


async def settled(house: House, name: str) -> Object:
    """The Workload, once everything that happened before has been seen: what comes later is seen after it."""
    before = await house.get(WORKLOADS, f"job-{name}")
    await house.workload(f"after-{name}", 0)
    await house.state(f"after-{name}", "Admitted")
    now = await house.get(WORKLOADS, f"job-{name}")
    assert now["metadata"]["uid"] == before["metadata"]["uid"]
    return now


def granted(workload: Object) -> int:
    return sum(each["granted"] for each in workload["status"]["podSets"])


# ── pods that end well ──


async def test_job_parallelism_equal_to_1_gives_back_when_the_job_completes(house: House) -> None:
    pods = await started(house, "single", 1)
    await succeed(house, *pods)
    await house.state("job-single", "Finished", granted=0)


async def test_job_parallelism_greater_than_1_gives_back_pod_by_pod(house: House) -> None:
    pods = await started(house, "many", 4)
    for left in (3, 2, 1):
        await succeed(house, pods[left])
        now = await house.state("job-many", "Admitted", granted=left)
        assert now["status"]["reclaimedPodSetPods"] == [{"name": "main", "count": 4 - left}]
    await succeed(house, pods[0])
    await house.state("job-many", "Finished", granted=0)


async def test_pods_that_share_a_list_of_work_give_back_all_that_no_other_will_use(house: House) -> None:
    """No `completions`: once a pod has ended well no other is started, so an elastic Job that ran two of its six pods
    does not hold places for the rest, and does not grow any more."""
    taken = await started(house, "taken", 2)
    await house.queued_job("shared", 6, least=1, parallelism=6, completions=None)
    await house.state("job-shared", "Admitted", granted=2)
    await house.see(r.JOBS, "shared", lambda job: (job.get("status") or {}).get("active") == 2)
    pods = await house.list(r.PODS, "job-name=shared")
    await succeed(house, pods[0])
    await house.state("job-shared", "Admitted", granted=1)
    await succeed(house, *taken)
    await house.state("job-taken", "Finished", granted=0)
    assert granted(await settled(house, "shared")) == 1
    await succeed(house, pods[1])
    await house.state("job-shared", "Finished", granted=0)


async def test_a_pod_that_another_follows_gives_nothing_back(house: House) -> None:
    """Two at a time, four in all: only the last two are not followed by another."""
    pods = await started(house, "queue", 2, parallelism=2, completions=4)
    await succeed(house, pods[0])
    await house.see(r.JOBS, "queue", lambda job: job["status"].get("succeeded") == 1 and job["status"]["active"] == 2)
    assert granted(await settled(house, "queue")) == 2
    rest = [pod for pod in await house.list(r.PODS, "job-name=queue") if pod["status"]["phase"] != "Succeeded"]
    await succeed(house, rest[0])
    await house.see(r.JOBS, "queue", lambda job: job["status"].get("succeeded") == 2 and job["status"]["active"] == 2)
    last = [pod for pod in await house.list(r.PODS, "job-name=queue") if pod["status"]["phase"] != "Succeeded"]
    await succeed(house, last[0])
    await house.state("job-queue", "Admitted", granted=1)


async def test_indexes_of_an_indexed_job_give_back_once_each(house: House) -> None:
    await started(house, "indexed", 3, completionMode="Indexed")
    fate = by_index({0: succeeds}, default=runs)
    await house.play(r.JOBS, "indexed", fate, lambda job: job["status"].get("completedIndexes") == "0")
    await house.state("job-indexed", "Admitted", granted=2)


async def test_an_index_that_failed_for_good_gives_back_as_well(house: House) -> None:
    """With a limit per index nobody follows it; the other goes on."""
    spec = {"completionMode": "Indexed", "backoffLimitPerIndex": 0}
    await started(house, "some", 2, **spec)
    fate = by_index({0: fails()}, default=runs)
    await house.play(r.JOBS, "some", fate, lambda job: job["status"].get("failedIndexes") == "0")
    await house.state("job-some", "Admitted", granted=1)


async def test_success_by_policy_gives_back_the_rest(house: House) -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    await started(house, "policy", 3, completionMode="Indexed", successPolicy=policy)
    await house.play(r.JOBS, "policy", by_index({0: succeeds}, default=runs), finished)
    now = await house.state("job-policy", "Finished", granted=0)
    assert {each["reason"] for each in now["status"]["conditions"] if each["type"] == "Finished"} == {"Succeeded"}


# ── pods that fail ──


async def test_restart_policy_never_a_failed_pod_gives_nothing_back_until_the_job_failed(house: House) -> None:
    (first, _) = await started(house, "never", 2, backoffLimit=1)
    await house._set(first, {"phase": "Failed"})
    await house.see(r.JOBS, "never", lambda job: job["status"].get("failed") == 1)
    now = await settled(house, "never")
    assert (granted(now), now["status"]["reclaimedPodSetPods"]) == (2, [])
    await house.play(r.JOBS, "never", fails(), finished)
    now = await house.state("job-never", "Finished", granted=0)
    assert {each["reason"] for each in now["status"]["conditions"] if each["type"] == "Finished"} == {"Failed"}


async def test_restart_policy_on_failure_a_container_that_starts_again_gives_nothing_back(house: House) -> None:
    template = {
        "spec": {
            "restartPolicy": "OnFailure",
            "containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}],
        }
    }
    pods = await started(house, "again", 2, template=template, backoffLimit=6)
    ended = {"exitCode": 1, "startedAt": None, "finishedAt": None}
    again = {"name": "main", "image": "host", "imageID": "", "ready": False, "restartCount": 2}
    await house._set(
        pods[0], {"phase": "Running", "containerStatuses": [{**again, "lastState": {"terminated": ended}}]}
    )
    now = await settled(house, "again")
    assert (granted(now), now["status"]["reclaimedPodSetPods"]) == (2, [])


# ── kueue's integration tests, by their names in the plan ──


async def test_job_controller_resources_are_released_to_the_cluster_queue_when_a_pod_succeeds(house: House) -> None:
    pods = await started(house, "job", 3)
    await succeed(house, pods[0])

    async def is_told() -> bool:
        queue = await house.client.get(CLUSTER_QUEUES, house.namespace)
        return bool((queue.get("status") or {}).get("allocated") == {"default": {"cpu": "2"}})

    await house.until(is_told)


async def test_workload_controller_a_pending_workload_is_admitted_after_release(house: House) -> None:
    pods = await started(house, "running", 4)
    await house.workload("pending", 2)
    await house.waits("pending", "WaitingForQuota")
    await succeed(house, pods[0])
    await house.state("job-running", "Admitted", granted=3)
    await house.waits("pending", "WaitingForQuota")
    await succeed(house, pods[1])
    await house.state("pending", "Admitted", granted=2)


async def test_workload_controller_reclaimed_pods_are_written_when_a_pod_succeeds(house: House) -> None:
    pods = await started(house, "counted", 3)
    await succeed(house, *pods[:2])
    await house.see(
        WORKLOADS, "job-counted", lambda obj: obj["status"]["reclaimedPodSetPods"] == [{"name": "main", "count": 2}]
    )


async def test_scheduler_a_parallel_job_lets_another_in_while_it_runs(house: House) -> None:
    pods = await started(house, "parallel", 4)
    await house.queued_job("next", 1)
    await house.waits("job-next", "WaitingForQuota")
    await succeed(house, pods[0])
    await house.see(r.JOBS, "next", lambda job: job["spec"]["suspend"] is False)
    assert not finished(await house.get(r.JOBS, "parallel"))


# ── size changes ──


async def test_who_edits_the_parallelism_of_an_elastic_job_that_runs_changes_what_it_wants(house: House) -> None:
    await house.queued_job("edited", 2, least=1, completions=20)
    await house.state("job-edited", "Admitted", granted=2)
    await house.patch(r.JOBS, "edited", {"spec": {"parallelism": 9}})
    await house.state("job-edited", "Admitted", granted=4)
    await house.see(r.JOBS, "edited", lambda job: job["spec"]["parallelism"] == 4)
    workload = await house.get(WORKLOADS, "job-edited")
    assert workload["spec"]["podSets"][0]["count"] == 9
    await house.patch(r.JOBS, "edited", {"spec": {"parallelism": 1}})
    await house.state("job-edited", "Admitted", granted=1)


@given(st.integers(1, 9), st.none() | st.integers(1, 12), st.integers(0, 12), st.booleans())
def test_what_comes_back_is_what_the_rest_cannot_use(
    parallelism: int, completions: int | None, ended: int, indexed: bool
) -> None:
    """The arithmetic of reclaimable pods: so many run at once, less what is still to be done."""
    job = sample("Job")
    most = parallelism if completions is None else completions
    ended = min(ended, most)
    job["spec"] |= {"parallelism": parallelism, "completions": completions}
    if indexed and completions is not None:
        job["spec"]["completionMode"] = "Indexed"
        half = ended // 2
        spans = {"completedIndexes": f"0-{half - 1}" if half else "", "failedIndexes": f"{half}-{ended - 1}"}
        job["status"] = {**spans} if ended else {}
    else:
        job["status"] = {"succeeded": ended, "active": min(parallelism, most - ended)}
    count = min(parallelism, most)
    wanted = max(count - (most - ended), 0) if ended else 0
    assert ended_pods(builtin().of(job), job) == {"main": wanted}
