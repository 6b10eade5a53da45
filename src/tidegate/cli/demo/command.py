"""`tidegate demo`: the product at work, in a folder that is gone afterwards."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from tidegate.cli.errors import CommandError
from tidegate.kube.client import Client, StatusError
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.resources import JOBS, PODS
from tidegate.kube.wire import Object
from tidegate.local.machine import Machine, MachineError

_PATIENCE_S = 60.0


def demo(told: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="tidegate-demo-") as folder:
        machine = Machine(Path(folder).resolve())
        with _running(machine):
            asyncio.run(_show(machine))
    _say("Everything is stopped and removed. Your turn: `tidegate up`.")
    return 0


def _say(text: str) -> None:
    print(f"\033[1m▸ {text}\033[0m" if _is_terminal() else f"> {text}", flush=True)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


@contextmanager
def _running(machine: Machine) -> Iterator[None]:
    began = time.monotonic()
    _say("Starting a Kubernetes API server and a node on this machine, as two plain processes …")
    try:
        machine.up()
        print(f"  ready after {time.monotonic() - began:.2f} s; kubectl would use {machine.kubeconfig}")
        yield
    except MachineError as error:
        raise CommandError(str(error)) from None
    finally:
        machine.down()


def _job() -> Object:
    script = 'echo "hello from $POD_NAME, pod $JOB_COMPLETION_INDEX of 3, at $POD_IP"'
    env = [
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]
    container = {"name": "hello", "image": "host", "command": ["sh", "-c", script], "env": env}
    spec = {"restartPolicy": "Never", "containers": [container]}
    job = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "template": {"spec": spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hello"}, "spec": job}


async def _show(machine: Machine) -> None:
    client = connect(load_access(machine.kubeconfig, None), user_agent="tidegate-demo")
    try:
        _say("Creating a Job of three pods …")
        await client.create(JOBS, _job(), "default")
        job = await asyncio.wait_for(_finished(client), _PATIENCE_S)
        _say("Its log:")
        pods = (await client.list(PODS, "default", labels="job-name=hello")).items
        for pod in sorted(pods, key=lambda pod: str(pod["metadata"]["name"])):
            path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/log"
            log = b"".join([piece async for piece in client.stream(path)])
            print(f"  {log.decode().strip()}")
        _say("Its objects:")
        print(f"  job/hello: {job['status'].get('succeeded', 0)} of 3 succeeded, in {_took(job)}")
        for pod in pods:
            print(f"  pod/{pod['metadata']['name']}: {pod['status']['phase']} on node {pod['spec']['nodeName']}")
    except StatusError as error:
        raise CommandError(f"The API server refused: {error.message}. Please report this.") from None
    except TimeoutError:
        raise CommandError(
            f"The Job did not finish within {_PATIENCE_S:.0f} s. The machine may be very busy."
        ) from None
    finally:
        await client.close()


async def _finished(client: Client) -> Object:
    """The Job once it is Complete; raises if it failed."""
    async for event in client.watch(JOBS, "default", fields="metadata.name=hello"):
        status = event.object.get("status", {}) if event.type != "BOOKMARK" else {}
        for condition in status.get("conditions") or []:
            if condition["status"] == "True" and condition["type"] == "Complete":
                return event.object
            if condition["status"] == "True" and condition["type"] == "Failed":
                raise CommandError(f"The Job failed: {condition.get('message', 'no reason was given')}.")
    raise CommandError("The server closed the watch before the Job was done.")


def _took(job: Object) -> str:
    status = job["status"]
    began, ended = (datetime.fromisoformat(status[key]) for key in ("startTime", "completionTime"))
    return f"{(ended - began).total_seconds():.0f} s"
