"""Policies of installed packages decide in an operator as they do in the simulator."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.controller.house import House
from tests.scheduler.world import World, pods
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.policies import known_policies, policies_at_work
from tidegate.controller.replica import Replica, Settings
from tidegate.scheduler import BUILT_IN, Candidate, plan

CODE = """
class NewestFirst:
    def order(self, candidate):
        return -candidate.created

class Silent:
    def order(self, candidate):
        raise KeyError(candidate.name)

class Mixed:
    def order(self, candidate):
        return candidate.pods if candidate.name == "b/q" else candidate.name
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder on the path that looks as pip leaves it."""
    (tmp_path / "their_policies.py").write_text(CODE)
    metadata = tmp_path / "their_policies-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: their-policies\nVersion: 1.0\n")
    points = ("newest-first = {0}:NewestFirst", "silent = {0}:Silent", "broken = {0}:Missing", "mixed = {0}:Mixed")
    lines = "\n".join(point.format("their_policies") for point in points)
    (metadata / "entry_points.txt").write_text(f"[tidegate.policies]\n{lines}\n")
    monkeypatch.syspath_prepend(str(tmp_path))


async def test_an_operator_serves_by_a_policy_that_a_package_registered(house: House, package: None) -> None:
    """It was found by the simulator alone: every operator went on by drf, and said that nobody had registered it."""
    await house.kill()
    running = asyncio.create_task(Replica(house.client, Settings(lease_s=3)).run())

    def says(reason: str) -> Any:
        return lambda queue: any(one["reason"] == reason for one in queue.get("status", {}).get("conditions", ()))

    try:
        for policy, reason in (("newest-first", "Open"), ("broken", "UnknownPolicy"), ("silent", "Open")):
            await house.client.patch(CLUSTER_QUEUES, house.namespace, {"spec": {"policy": policy}})
            await house.see(CLUSTER_QUEUES, house.namespace, says(reason))
        await house.create(QUEUES, "other", spec={"clusterQueue": house.namespace})
        await house.workload("one", 2)
        await house.workload("two", 2, queue="other")
        await house.state("one", "Admitted", granted=2)
        await house.state("two", "Admitted", granted=2)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def test_whom_a_policy_cannot_answer_for_comes_last(package: None, caplog: pytest.LogCaptureFixture) -> None:
    """An exception ended every cycle, of all queues; it is told once, with the package's name for it."""
    policies = policies_at_work()
    assert set(policies) == {*BUILT_IN, "newest-first", "silent", "mixed"}
    (broken,) = (record.getMessage() for record in caplog.records)
    assert broken.startswith('policy "broken" (their_policies:Missing) cannot be loaded: ')
    share: Any = 1
    candidate = Candidate(
        name="a/q", weight=1, share=share, share_now=share, workload="a/w", priority=0, created=5, pods=1, is_floor=True
    )
    assert (
        policies["silent"].order(candidate)
        == policies["silent"].order(candidate)
        > policies["newest-first"].order(candidate)
    )
    assert [record.getMessage() for record in caplog.records[1:]] == [
        "policy \"silent\" (their_policies:Silent) does not answer (KeyError: 'a/q'). "
        "Mend or remove the package that offers it."
    ]
    with pytest.raises(ValueError, match="broken"):
        known_policies()


def test_answers_that_cannot_be_compared_stop_no_plan(package: None, caplog: pytest.LogCaptureFixture) -> None:
    """The comparison failed in the middle of a plan, and with it every cycle, of everybody."""
    world = World(cpu="3")
    world.planned_by(partial(plan, policies=policies_at_work()))
    world.cluster_queue("odd", parent="root", policy="mixed")
    for name in "abc":
        world.queue(f"{name}/q", "odd")
        world.submit(f"{name}/w", pods(1, cpu="1"), queue=f"{name}/q")
    world.settle()
    assert all(world.admitted(f"{name}/w") for name in "abc")
    assert len([record for record in caplog.records if '"mixed"' in record.getMessage()]) == 1
