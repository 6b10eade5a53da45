"""`tidegate run -- CMD`: a command as a queued Job; its place in line, its log, its exit status."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]
_LOOK_S = 0.2


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    options(command, output=False)
    command.add_argument("--queue", metavar="NAME", help="the Queue (default: `default`)")
    command.add_argument("--cpu", default="1", metavar="N", help="cpus of one pod (default: %(default)s)")
    command.add_argument("--memory", metavar="1Gi", help="memory of one pod")
    command.add_argument("--gpu", metavar="N", help="GPUs of one pod")
    command.add_argument("--pods", type=int, default=1, metavar="N", help="how many pods run it (default: 1)")
    command.add_argument("--min", type=int, metavar="N", help="with how many it may start (default: all)")
    command.add_argument("--image", default="host", help="image (default: host, the command as it is on this machine)")
    command.add_argument("--name", metavar="NAME", help="name of the Job (default: after the command)")
    command.add_argument("words", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.cluster import on_cluster

    words = told.words[1:] if told.words[:1] == ["--"] else told.words
    if not words:
        raise CommandError("There is no command to run. Write it after two dashes: tidegate run -- python train.py.")

    async def work(client: Client, namespace: str) -> int:
        return await _queued(client, namespace, job(told, words))

    return on_cluster(told, work, start=True)


def job(told: argparse.Namespace, words: list[str]) -> Json:
    """The Job of a command."""
    from tidegate.model.jobs import fit_name

    requests = {"cpu": told.cpu, "memory": told.memory, "nvidia.com/gpu": told.gpu}
    stated = {name: text for name, text in requests.items() if text}
    limits = {name: text for name, text in stated.items() if name == "nvidia.com/gpu"}
    container: Json = {"name": "main", "image": told.image, "command": words}
    container["resources"] = {"requests": stated} | ({"limits": limits} if limits else {})
    if told.image == "host":
        container["workingDir"] = str(Path.cwd())
    meta: Json = {"name": told.name} if told.name else {"generateName": f"{fit_name(Path(words[0]).name)[:40]}-"}
    meta["labels"] = {"tidegate.dev/queue": told.queue or "default"}
    if told.min is not None:
        meta["annotations"] = {"tidegate.dev/min-count": str(told.min)}
    spec = {
        "suspend": True,
        "parallelism": told.pods,
        "completions": told.pods,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }
    return {"metadata": meta, "spec": spec}


async def _queued(client: Client, namespace: str, body: Json) -> int:
    from tidegate.controller.kinds import QUEUES
    from tidegate.kube.resources import JOBS

    await client.list(QUEUES, namespace)  # Where nobody knows queues, a Job in line would wait for ever.
    made = await client.create(JOBS, body, namespace)
    name = str(made["metadata"]["name"])
    print(f"job/{name} is in line.", file=sys.stderr)
    follows: dict[str, asyncio.Task[None]] = {}
    said = ""
    try:
        while True:
            said = await _tell_why(client, namespace, name, said)
            await _follow(client, namespace, name, follows)
            current = await client.get(JOBS, name, namespace)
            ended = {
                each["type"]
                for each in (current.get("status") or {}).get("conditions") or ()
                if each["status"] == "True"
            }
            if ended & {"Complete", "Failed"}:
                break
            await asyncio.sleep(_LOOK_S)
        await _follow(client, namespace, name, follows)
        await asyncio.gather(*follows.values())
    finally:
        for task in follows.values():
            task.cancel()
    return 0 if "Complete" in ended else await _exit_code(client, namespace, name)


async def _tell_why(client: Client, namespace: str, name: str, said: str) -> str:
    """Says why it waits whenever that is another reason than before."""
    from tidegate.controller.kinds import WORKLOADS
    from tidegate.kube.client import StatusError
    from tidegate.workloads import workload_name

    try:
        workload = await client.get(WORKLOADS, workload_name("Job", name), namespace)
    except StatusError:
        return said
    status = workload.get("status") or {}
    waiting = status.get("waiting") or {}
    words = status.get("state", "")
    if waiting and words != "Admitted":
        words += f" ({waiting['reason']}): {waiting.get('message', '')}; {waiting.get('ahead', 0)} before it in line"
    if words and words not in (said, "Finished"):
        print(f"job/{name}: {words}", file=sys.stderr)
    return words or said


async def _follow(client: Client, namespace: str, name: str, follows: dict[str, asyncio.Task[None]]) -> None:
    """Streams the logs of pods that have begun."""
    from tidegate.kube.resources import PODS

    pods = (await client.list(PODS, namespace, labels=f"batch.kubernetes.io/job-name={name}")).items
    several = len(pods) > 1
    for pod in pods:
        pod_name = pod["metadata"]["name"]
        begun = (pod.get("status") or {}).get("phase") in ("Running", "Succeeded", "Failed")
        if begun and pod_name not in follows:
            prefix = f"[{pod_name}] " if several else ""
            follows[pod_name] = asyncio.create_task(_stream(client, namespace, pod_name, prefix))


async def _stream(client: Client, namespace: str, pod: str, prefix: str) -> None:
    from tidegate.kube.client import StatusError

    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
    rest = b""
    with contextlib.suppress(StatusError, OSError):
        async for piece in client.stream(path, query={"follow": "true"}):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                os.write(1, prefix.encode() + line + b"\n")
    if rest:
        os.write(1, prefix.encode() + rest + b"\n")


async def _exit_code(client: Client, namespace: str, name: str) -> int:
    """That of the first pod that failed; 1 where none says."""
    from tidegate.kube.resources import PODS

    pods = (await client.list(PODS, namespace, labels=f"batch.kubernetes.io/job-name={name}")).items
    for pod in sorted(pods, key=lambda each: str(each["metadata"]["name"])):
        for container in (pod.get("status") or {}).get("containerStatuses") or ():
            code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode")
            if code:
                return int(code)
    print(f"tidegate: job/{name} failed; `kubectl describe job {name}` says why.", file=sys.stderr)
    return 1
