"""`tidegate operator` as people run it: several processes, one of which leads, killed as `kill -9` does."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import Protocol

import pytest

from tests.controller.house import House
from tests.controller.trace import Trace
from tests.harness import Cluster, processes
from tests.local.controllers.stage import succeeds
from tidegate.controller.kinds import CLUSTER_QUEUES
from tidegate.kube import resources as r
from tidegate.kube.client import StatusError
from tidegate.workloads import pod_facts


class Start(Protocol):
    """Starts an operator with a lease of so many seconds."""

    def __call__(self, lease_s: str = "2") -> Popen[bytes]: ...


KILLS = 20
HELD_UP = 8


@pytest.fixture
def operators(cluster: Cluster, tmp_path: Path) -> Iterator[Start]:
    """Starts operators; those that are left in the end are stopped."""
    started: list[Popen[bytes]] = []

    def start(lease_s: str = "2") -> Popen[bytes]:
        command = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig)]
        command += ["--lease-seconds", lease_s]
        started.append(processes.start(f"operator-{len(started)}", command, logs=tmp_path))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            processes.stop(process)


async def test_killed_twenty_times_under_load(house: House, operators: Start, tmp_path: Path) -> None:
    """Whoever leads is killed at a random moment, twenty times, while Jobs come, run and end. What is in use is always
    what runs, within the quota; nothing is admitted twice, and every Job runs to its end."""
    await house.kill()
    trace = Trace(house)
    watching = asyncio.create_task(trace.watch())
    with trace.told(tmp_path):
        await _killed_again_and_again(house, operators, trace)
        await _ends_well(house, trace, KILLS)
        watching.cancel()


async def test_held_up_for_longer_than_its_lease(house: House, operators: Start, tmp_path: Path) -> None:
    """Whoever leads is stopped among its writes, as a machine does that has no time for it, until another leads; then
    it goes on where it stood. What it was about to write is not written any more."""
    await house.kill()
    trace, chance = Trace(house), random.Random(8)
    watching = asyncio.create_task(trace.watch())
    both = {operators(), operators()}
    with trace.told(tmp_path):
        for number in range(HELD_UP):
            leader = await house.until(partial(_leader, house, both))
            await house.queued_job(f"job-{number}", chance.randint(1, 3), least=chance.choice([None, 1]))
            await trace.more(chance.randint(1, 6), within_s=10)
            leader.send_signal(signal.SIGSTOP)
            trace.note(f"stopped {leader.pid}")
            await house.until(partial(_leader, house, both - {leader}))
            await house.act(f"job-name=job-{chance.randint(0, number)}", succeeds)
            await trace.more(chance.randint(0, 6), within_s=2)
            leader.send_signal(signal.SIGCONT)
            trace.note(f"{leader.pid} goes on")
        await _ends_well(house, trace, HELD_UP)
        watching.cancel()


async def _ends_well(house: House, trace: Trace, jobs: int) -> None:
    await house.until(lambda: _all_ended(house))
    for number in range(jobs):
        await house.state(f"job-job-{number}", "Finished", granted=0)
    assert 0 < trace.most <= house.cpu
    assert trace.admissions == {f"job-job-{number}": 1 for number in range(jobs)}


async def _killed_again_and_again(house: House, operators: Start, trace: Trace) -> None:
    chance = random.Random(20)
    alive = {operators(), operators()}
    for number in range(KILLS):
        leader = await house.until(partial(_leader, house, alive))
        await house.queued_job(f"job-{number}", chance.randint(1, 3), least=chance.choice([None, 1]))
        # On a busy machine a leader has done nothing within half a second: every other one is killed among its writes.
        if number % 2:
            await asyncio.sleep(chance.random() * 0.5)
        else:
            await trace.more(chance.randint(1, 6), within_s=10)
        processes.kill(leader)
        # Those that stay are not to lose their lease, however busy the machine is: then nothing would be done any more.
        alive = {*alive - {leader}, operators("2" if number < KILLS - 2 else "15")}
        trace.note(f"killed {leader.pid}; {sorted(each.pid for each in alive)} are there")
        await house.act(f"job-name=job-{chance.randint(0, number)}", succeeds)
        pods = [pod["metadata"]["name"] for pod in await house.list(r.PODS) if pod_facts(pod).present]
        assert len(pods) <= house.cpu, pods
        if number % 5 == 4:
            await _used_is_what_runs(house)


async def _leader(house: House, alive: set[Popen[bytes]]) -> Popen[bytes] | None:
    try:
        lease = await house.client.get(r.LEASES, "tidegate-operator", "kube-system")
    except StatusError:
        return None
    holder = str(lease["spec"].get("holderIdentity"))
    return next((process for process in alive if holder.endswith(f"-{process.pid}")), None)


async def _all_ended(house: House) -> bool:
    """Whether every Job has; pods that are there end well."""
    await house.act("job-name", succeeds)
    return all(job["status"].get("completionTime") for job in await house.list(r.JOBS))


async def _used_is_what_runs(house: House) -> None:
    """A new leader has seen everything: the queue's status counts the pods that are there, and no others."""

    async def agrees() -> bool:
        status = (await house.client.get(CLUSTER_QUEUES, house.namespace)).get("status") or {}
        said = (status.get("used") or {}).get("default", {}).get("cpu", "0")
        return int(said) == sum(pod_facts(pod).present for pod in await house.list(r.PODS))

    await house.until(agrees)
