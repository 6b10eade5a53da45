"""A kind of one's own is a YAML file: `tidegate operator --kinds` queues it like any other, without any Python."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controller.house import House
from tests.controller.kinds.serving import resource_of, stub
from tests.harness import Cluster
from tidegate.assembly import beside, kinds_in
from tidegate.controller.kinds import WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.local.control_plane import ControlPlane, Settings
from tidegate.model.jobs import parse_kinds

Json = Any

FILE = """
kinds:
- kind: Sweep                       # held by a field of its own; its counts in CEL
  group: own.example.com
  versions: [v1]
  plural: sweeps
  suspend: .spec.paused
  podSets:
  - name: trial
    template: .spec.trial
    count: {cel: "self.spec.trials * 2"}
    resize: .spec.atOnce
    floor: {cel: "self.spec.trials"}
    workers: true
  outcome: {succeeded: [{path: .status.phase, in: [Done]}], failed: [{condition: Failed}]}
- kind: Job                         # a kind of the same name as one of Kubernetes', of another group; held by gates
  group: own.example.com
  versions: [v1]
  plural: jobs
  podSets: [{name: main, template: .spec.template, count: {path: .spec.size, default: 1}}]
"""
SWEEP, JOB = (resource_of(entry) for entry in parse_kinds(yaml.safe_load(FILE)))
TEMPLATE: Json = {"spec": {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}]}}


@pytest.fixture
async def own(client: Client, cluster: Cluster, tmp_path: Path) -> AsyncIterator[House]:
    """A house whose operator is the command, with a file of kinds."""
    file = tmp_path / "kinds.yaml"
    file.write_text(FILE)
    house = House(client)
    await house.open()
    await house.furnish()
    for resource in (SWEEP, JOB):
        with contextlib.suppress(StatusError):
            await client.create(r.CRDS, stub(resource))
    command = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig)]
    running = await asyncio.create_subprocess_exec(
        *command, "--kinds", str(file), "--lease-namespace", house.namespace, stderr=asyncio.subprocess.DEVNULL
    )
    yield house
    running.terminate()
    await running.wait()
    await house.close()


async def made(house: House, resource: Any, spec: Json) -> Object:
    async def create() -> Object | None:
        with contextlib.suppress(StatusError):
            return await house.create(resource, "mine", spec=spec)
        return None

    created: Object = await house.until(create)
    return created


async def test_a_kind_from_a_file_is_held_resized_and_ends(own: House) -> None:
    made_so = await made(own, SWEEP, {"paused": True, "trials": 3, "trial": TEMPLATE})
    workload = await own.state("sweep-mine", "Admitted", granted=4)
    assert workload["spec"]["podSets"][0] | {"count": 6, "minCount": 3} == workload["spec"]["podSets"][0]
    started = await own.see(SWEEP, "mine", lambda obj: obj["spec"]["paused"] is False)
    assert started["spec"]["atOnce"] == 4, "the quota has no more"
    body = {**started, "status": {"phase": "Done"}}
    await own.client.update(SWEEP, body, subresource="status")
    await own.state("sweep-mine", "Finished", granted=0)
    assert made_so["spec"]["trial"] == TEMPLATE


async def test_a_status_that_cannot_be_read_keeps_nobody_else_waiting(own: House) -> None:
    """Conditions that were no list: every cycle failed, and nobody of any Queue was admitted any more."""
    created = await made(own, SWEEP, {"paused": True, "trials": 1, "trial": TEMPLATE})
    await own.state("sweep-mine", "Admitted", granted=2)
    started = await own.see(SWEEP, "mine", lambda obj: obj["spec"]["paused"] is False)
    await own.client.update(SWEEP, {**started, "status": {"conditions": "Failed"}}, subresource="status")
    await own.queued_job("other", 1)
    await own.state("job-other", "Admitted", granted=1)
    assert created["metadata"]["uid"] == started["metadata"]["uid"]


async def test_a_kind_of_the_same_name_in_another_group_has_workloads_of_its_own(own: House) -> None:
    await own.queued_job("mine", 1)
    await made(own, JOB, {"size": 2, "template": TEMPLATE})
    await own.state("job-mine", "Admitted", granted=1)

    async def other() -> Object | None:
        for workload in await own.list(WORKLOADS):
            if workload["spec"]["owner"]["apiVersion"] == "own.example.com/v1":
                return workload
        return None

    found = await own.until(other)
    assert found["metadata"]["name"].startswith("job.")
    held = await own.see(JOB, "mine", lambda obj: "schedulingGates" in obj["spec"]["template"]["spec"])
    assert held["spec"]["template"]["metadata"]["annotations"]["tidegate.dev/workload"] == found["metadata"]["name"]


async def test_whose_name_is_taken_is_told(house: House) -> None:
    """A Workload that somebody made by hand is theirs, whatever it is called."""
    await house.workload("job-taken", 1)
    await house.state("job-taken", "Admitted")
    await house.queued_job("taken", 1)

    async def told() -> bool:
        notes = [each.get("note") for each in await house.list(r.EVENTS_V1) if each.get("reason") == "NotQueued"]
        return any("a Workload called job-taken was made by hand" in str(note) for note in notes)

    await house.until(told)
    assert (await house.get(r.JOBS, "taken"))["spec"]["suspend"] is True


async def test_a_file_with_a_mistake_is_refused_by_its_field(tmp_path: Path) -> None:
    file = tmp_path / "kinds.yaml"
    file.write_text(FILE.replace(".spec.paused", "spec.paused"))
    command = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kinds", str(file)]
    ended = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, said = await ended.communicate()
    assert ended.returncode != 0
    assert 'kinds[0].suspend: "spec.paused" is not a path; write it like .spec.template' in said.decode()


async def test_a_machine_of_ones_own_reads_them_from_its_folder(tmp_path: Path) -> None:
    """`tidegate up` knew the table alone: what people added ran there without waiting for anybody."""
    file = tmp_path / "kinds.yaml"
    file.write_text(FILE)
    plane = ControlPlane(Settings(tmp_path), beside)
    await plane.start()
    try:
        house = House(plane.client)
        await house.open()
        await house.furnish()
        await house.client.create(r.CRDS, stub(SWEEP))
        await made(house, SWEEP, {"paused": True, "trials": 3, "trial": TEMPLATE})
        await house.state("sweep-mine", "Admitted", granted=4)
    finally:
        await plane.stop()
    file.write_text(FILE.replace(".spec.paused", "spec.paused"))
    with pytest.raises(SystemExit, match=r'kinds.yaml: kinds\[0\].suspend: "spec.paused" is not a path; .* Correct it'):
        kinds_in(file)
