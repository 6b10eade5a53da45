"""`tidegate operator` as people run it: several processes, one of which leads, killed as `kill -9` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from tests.controller.house import House
from tests.harness import Cluster, processes
from tests.local.controllers.stage import succeeds
from tidegate.kube import resources as r

Start = Callable[[], Popen[bytes]]
KILLS = 3


@pytest.fixture
def operators(cluster: Cluster, tmp_path: Path) -> Iterator[Start]:
    """Starts operators; those that are left in the end are stopped."""
    started: list[Popen[bytes]] = []

    def start() -> Popen[bytes]:
        command = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig)]
        command += ["--lease-seconds", "2"]
        started.append(processes.start(f"operator-{len(started)}", command, logs=tmp_path))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            processes.stop(process)


async def test_whoever_leads_may_be_killed_and_another_goes_on(house: House, operators: Start) -> None:
    """Each Job is started by another operator than the one before it, and none is started twice."""
    await house.kill()
    leader, standby = operators(), operators()
    for number in range(KILLS):
        await house.queued_job(f"job-{number}", 4)
        await house.state(f"job-job-{number}", "Admitted", granted=4)
        processes.kill(leader)
        leader, standby = standby, operators()
        await house.play(r.JOBS, f"job-{number}", succeeds, lambda job: bool(job["status"].get("completionTime")))
        finished = await house.state(f"job-job-{number}", "Finished", granted=0)
        assert "requeue" not in finished["status"]
