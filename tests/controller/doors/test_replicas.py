"""Every replica answers, whoever leads; and one that is told to end does so in order."""

from __future__ import annotations

import json
import signal
import ssl
import sys
from pathlib import Path
from subprocess import Popen
from typing import Any

import aiohttp

from tests.controller.doors.replicas import forget, judged_soon, running, settings
from tests.controller.house import House
from tests.harness import Cluster, processes
from tidegate.controller.replica import Replica
from tidegate.kube import resources as r
from tidegate.kube.client import Client

Json = Any


async def test_one_that_does_not_lead_answers_with_the_same_certificate(
    client: Client, guarded: House, replica: Replica
) -> None:
    async with running(client, settings()) as second:
        assert replica.certificates is not None
        assert second.doors is not None
        assert second.is_ready
        trust = ssl.create_default_context(cadata=replica.certificates.trusted.decode())
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}
        asked = {"uid": "1", "operation": "CREATE", "object": pod, "namespace": guarded.namespace,
                 "userInfo": {"username": "ann"}}  # fmt: skip
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
        url = f"https://127.0.0.1:{second.doors.port}/doors/applications"
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session,
            session.post(url, json=review) as answer,
        ):
            response: Json = (await answer.json())["response"]
        assert (response["uid"], response["allowed"]) == ("1", True)
        assert response["patch"]


def operator(cluster: Cluster, logs: Path) -> Popen[bytes]:
    port = processes.free_port()
    command = [
        sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig),
        "--webhook-url", f"https://127.0.0.1:{port}", "--webhook-bind", f"127.0.0.1:{port}", "--log-format", "json",
    ]  # fmt: skip
    return processes.start("operator", command, logs=logs)


async def test_told_to_end_it_gives_its_lease_back_and_its_log_is_json(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    await forget(client)
    house, process = House(client), operator(cluster, tmp_path)
    try:
        await house.open()
        await house.furnish()
        await judged_soon(house)
        process.send_signal(signal.SIGTERM)

        async def ended() -> bool:
            return process.poll() is not None

        await house.until(ended)
        assert process.returncode == 0
        lease = await client.get(r.LEASES, "tidegate-operator", "kube-system")
        assert not lease["spec"].get("holderIdentity")
    finally:
        processes.stop(process)
        await forget(client)
        await house.close()
    lines = [json.loads(line) for line in lines_of(tmp_path / "operator.log")]
    assert {"time", "level", "logger", "message"} <= lines[0].keys()
    assert not [line for line in lines if line["level"] == "error"]


def lines_of(log: Path) -> list[str]:
    return log.read_text().splitlines()
