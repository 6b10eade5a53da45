"""Installed, run with the rights of its own service account, and taken away: on both control planes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controller.doors.replicas import forget, judged_soon
from tests.controller.house import House
from tests.harness import Cluster, processes
from tests.harness.realkube import write_kubeconfig
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUE_JOBS, QUEUES
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError

Json = Any
OWN = "tidegate-system"


def tidegate(cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidegate.cli.main", *arguments, "--kubeconfig", str(cluster.kubeconfig)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def installed(cluster: Cluster) -> Iterator[Cluster]:
    done = tidegate(cluster, "install", "--wait", "0")
    assert done.returncode == 0, done.stderr
    yield cluster
    tidegate(cluster, "uninstall")
    cluster.eventually(f"/api/v1/namespaces/{OWN}", lambda reply: reply.status == 404)


@pytest.fixture
async def operator(installed: Cluster, client: Client, tmp_path: Path) -> AsyncIterator[Path]:
    """The operator as its Deployment would run it, with the token of its service account; its log."""
    await forget(client)
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {"name": "tidegate"},
            "spec": {"expirationSeconds": 3600}}  # fmt: skip
    made = await client.create(r.SERVICEACCOUNTS, body, OWN, subresource="token")
    kubeconfig, port = tmp_path / "kubeconfig", processes.free_port()
    write_kubeconfig(kubeconfig, url=installed.url, ca=installed.ca_file, token=made["status"]["token"])
    command = [
        sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(kubeconfig), "--lease-seconds", "3",
        "--lease-namespace", OWN, "--webhook-url", f"https://127.0.0.1:{port}", "--webhook-bind", f"127.0.0.1:{port}",
        "--metrics-bind", f"127.0.0.1:{processes.free_port()}", "--log-format", "json",
    ]  # fmt: skip
    process = processes.start("operator", command, logs=tmp_path)
    yield tmp_path / "operator.log"
    processes.stop(process)
    await forget(client)


@pytest.fixture
async def house(client: Client, operator: Path) -> AsyncIterator[House]:
    house = House(client)
    await house.open()
    await house.furnish()
    await judged_soon(house)
    yield house
    await house.close()


def refusals(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if "forbidden" in line or "cannot" in line]


def test_to_install_again_changes_nothing_and_what_was_shown_is_there(installed: Cluster) -> None:
    done = tidegate(installed, "install", "--wait", "0")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if ": " in line and "namespace" not in line]
    assert {line.rpartition(": ")[2] for line in told} == {"served", "unchanged"}
    done = tidegate(installed, "install", "--dry-run")
    for obj in yaml.safe_load_all(done.stdout):
        meta, group = obj["metadata"], obj["apiVersion"]
        root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
        where = f"/namespaces/{meta['namespace']}" if meta.get("namespace") else ""
        assert installed.http("GET", f"{root}{where}/{obj['kind'].lower()}s/{meta['name']}").status == 200
    done = tidegate(installed, "uninstall", "--crds")
    assert done.returncode == 1
    assert "--crds would delete" in done.stderr
    assert "Give --yes as well" in done.stderr
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/queues.tidegate.dev"
    assert installed.http("GET", definition).status == 200


async def test_the_rights_it_is_given_are_enough(house: House, operator: Path) -> None:
    """Every kind of thing it does is done once, and the server refuses nothing."""
    await house.queued_job("job", 2)
    await house.state("job-job", "Admitted", granted=2)
    pod = {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}]}
    await house.client.create(r.PODS, {"metadata": {"name": "one"}, "spec": pod}, house.namespace)
    await house.see(r.PODS, "one", lambda there: not there["spec"].get("schedulingGates"))
    template = {"spec": {**pod, "restartPolicy": "Never"}}
    spec = {"taskSpecs": [{"name": "worker", "replicas": 1, "template": template}]}
    await house.create(QUEUE_JOBS, "gang", spec=spec)
    await house.see(QUEUE_JOBS, "gang", lambda job: (job.get("status") or {}).get("phase"))
    # A ResourceQuota holds for a whole namespace: there is one where every Queue of it has limits.
    await house.client.patch(QUEUES, "default", {"spec": {"limits": {"cpu": "9"}}}, house.namespace)
    await house.create(QUEUES, "capped", spec={"clusterQueue": house.namespace, "limits": {"cpu": "3"}})
    await house.see(r.RESOURCEQUOTAS, "tidegate-capped", lambda quota: quota["metadata"]["ownerReferences"])
    await house.client.delete(r.JOBS, "job", house.namespace)

    async def reported() -> bool:
        node = await house.client.get(CLUSTER_QUEUES, house.namespace)
        return bool((node.get("status") or {}).get("conditions"))

    await house.until(reported)

    async def event() -> bool:
        page = await house.client.list(r.EVENTS, house.namespace)
        return any(each["reason"] == "Admitted" for each in page.items)

    await house.until(event)
    assert not refusals(operator)


async def test_uninstalling_leaves_nothing_that_waits_for_nobody(house: House, installed: Cluster) -> None:
    """One Job runs, one waits, so does a pod, and a Deployment makes its pods behind a gate; then Tidegate goes."""
    await house.queued_job("runs", 4)
    await house.state("job-runs", "Admitted", granted=4)
    await house.queued_job("waits", 4)
    await house.state("job-waits", "Pending")
    pod = {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}]}
    made = await house.client.create(r.PODS, {"metadata": {"name": "one"}, "spec": pod}, house.namespace)
    assert made["spec"]["schedulingGates"]
    gated = await house.deployment("serves", replicas=1)
    assert gated["spec"]["template"]["spec"]["schedulingGates"]
    before = await house.client.get(r.JOBS, "runs", house.namespace)
    done = await asyncio.to_thread(tidegate, installed, "uninstall")
    assert done.returncode == 0, done.stderr
    waited = await house.client.get(r.JOBS, "waits", house.namespace)
    assert waited["spec"]["suspend"] is False
    assert not (await house.client.get(r.PODS, "one", house.namespace))["spec"].get("schedulingGates")
    serves = await house.client.get(r.DEPLOYMENTS, "serves", house.namespace)
    assert not serves["spec"]["template"]["spec"].get("schedulingGates")
    after = await house.client.get(r.JOBS, "runs", house.namespace)
    assert (after["spec"], after["metadata"]["uid"]) == (before["spec"], before["metadata"]["uid"])
    for resource in (r.MUTATINGWEBHOOKCONFIGURATIONS, r.VALIDATINGWEBHOOKCONFIGURATIONS, r.CLUSTERROLES):
        with pytest.raises(StatusError):
            await house.client.get(resource, "tidegate")
    await house.client.get(QUEUES, "default", house.namespace)
    await house.client.create(r.PODS, {"metadata": {"name": "two"}, "spec": pod}, house.namespace)
