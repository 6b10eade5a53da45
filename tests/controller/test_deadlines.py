"""Nobody runs longer than maxRunSeconds says, whoever made the Workload."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.controller.house import House
from tests.local.controllers.stage import has
from tidegate.controller.kinds import WORKLOADS
from tidegate.controller.watch.deadlines import Deadlines
from tidegate.kube import resources as r


async def test_a_workload_made_by_hand_ends_after_its_seconds_and_gives_back(house: House) -> None:
    await house.workload("short", 4, maxRunSeconds=5)
    await house.state("short", "Admitted")
    await house.workload("next", 4)
    ended = await house.state("short", "Finished", granted=0)
    said = next(each for each in ended["status"]["conditions"] if each["type"] == "Finished")
    assert (said["reason"], said["message"]) == ("Failed", "it ran for 5 s, as long as its maxRunSeconds allows")
    await house.state("next", "Admitted", granted=4)


async def test_an_application_is_held_for_good_once_its_seconds_are_over(house: House) -> None:
    """Its kind keeps no such limit itself, so its Workload says it."""
    await house.deployment("web", replicas=2)
    await house.state("deployment-web", "Admitted")
    await house.patch(WORKLOADS, "deployment-web", {"spec": {"maxRunSeconds": 1}})
    await house.state("deployment-web", "Finished", granted=0)

    async def are_held() -> bool:
        pods = [pod for pod in await house.list(r.PODS) if "annotations" in pod["metadata"]]
        return bool(pods) and all(pod["spec"].get("schedulingGates") for pod in pods)

    await house.until(are_held)


async def test_a_job_that_keeps_its_own_deadline_is_left_to_do_so(house: House) -> None:
    """To suspend it at the same second would keep it from ever failing."""
    await house.queued_job("late", 1, activeDeadlineSeconds=1)
    await house.state("job-late", "Admitted")
    await house.see(r.JOBS, "late", has("Failed", "DeadlineExceeded"))
    await house.state("job-late", "Finished", granted=0)


keys = st.tuples(st.just("ns"), st.sampled_from("abc"))


@given(st.lists(st.tuples(keys, st.none() | st.integers(0, 20)), max_size=30), st.integers(0, 20))
def test_only_the_last_moment_that_was_expected_counts(
    told: list[tuple[tuple[str, str], int | None]], now: int
) -> None:
    deadlines = Deadlines()
    last: dict[tuple[str, str], int | None] = {}
    for key, at in told:
        deadlines.expect(key, at)
        last[key] = at
    moments = [at for at in last.values() if at is not None]
    assert deadlines.next() == min(moments, default=None)
    assert deadlines.due(now) == {key for key, at in last.items() if at is not None and at <= now}
    later = [at for at in moments if at > now]
    assert deadlines.next() == min(later, default=None)
