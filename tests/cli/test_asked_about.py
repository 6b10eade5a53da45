"""One workload asked about: why it waits or cannot start, when it may, and what if."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.making import make_job, make_namespace
from tests.cli.test_commands import tidegate
from tests.local.controllers.stage import close
from tidegate.cli.errors import CommandError
from tidegate.cli.jobs.found import find_workload
from tidegate.cli.views.why import explained
from tidegate.kube.client import Client
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.resources import JOBS

Json = Any


def test_what_could_not_be_put_in_line_is_told_why(kubeconfig: str) -> None:
    """`why` said that there is no such workload, and named others, while the Job stood there held for ever."""
    where = ["--kubeconfig", kubeconfig]
    asyncio.run(make_job(kubeconfig, "default", "spoilt", **{"min-count": "two"}))
    told = tidegate("why", "job/spoilt", *where)
    field = "metadata.annotations[tidegate.dev/min-count]"
    assert told.stderr.startswith(f'tidegate: Job spoilt is not in line: {field}: "two" is not a count of pods;')
    assert told.returncode == 1


def test_who_was_just_put_in_line_can_be_asked_about_at_once(kubeconfig: str) -> None:
    """`why` said that there is no such workload, or that no operator may be running, if it was faster than the one that
    runs."""

    async def ask() -> tuple[Json, Json]:
        client = connect(load_access(Path(kubeconfig)))
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "host"}]}}
        try:
            await client.create(JOBS, {"metadata": {"name": "new"}, "spec": {"template": template}}, "default")
            found = await find_workload(client, "default", "new")
            return found, await find_workload(client, "default", "job/new", looked_at=True)
        finally:
            await close(client)

    found, looked_at = asyncio.run(ask())
    assert found["metadata"]["name"] == "job-new"
    assert looked_at["status"]["state"]


def test_who_is_waited_for_is_not_asked_for_again_and_again(kubeconfig: str) -> None:
    """All workloads were listed five times a second, while nothing at all happened."""
    asyncio.run(make_namespace(kubeconfig, "quiet", managed="false"))
    asyncio.run(make_job(kubeconfig, "quiet", "early"))

    async def ask() -> int:
        client = connect(load_access(Path(kubeconfig)))
        asked = Counted(client)
        try:
            with pytest.raises(CommandError, match="early is a Job, and not in line"):
                await find_workload(asked, "quiet", "early")  # type: ignore[arg-type]
        finally:
            await close(client)
        return asked.lists

    # Once before it listens, once as it begins to, and once when that has told what was there already.
    assert asyncio.run(ask()) <= 3


class Counted:
    """A client that counts how often all Workloads are asked for."""

    def __init__(self, client: Client) -> None:
        self._client, self.lists = client, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def list(self, resource: Any, *where: Any, **which: Any) -> Any:
        self.lists += resource.plural == "workloads"
        return await self._client.list(resource, *where, **which)


def test_a_job_that_nobody_puts_in_line_is_told_so(kubeconfig: str) -> None:
    """`why` said that there is no such workload, and named others; `run` said that it is in line, and waited."""
    where = ["--kubeconfig", kubeconfig]
    asyncio.run(make_namespace(kubeconfig, "free", managed="false"))
    asyncio.run(make_job(kubeconfig, "free", "early"))
    told = tidegate("why", "early", *where, "-n", "free")
    assert told.stderr == (
        "tidegate: early is a Job, and not in line: namespace free has no Queue. "
        "`tidegate queue create default -n free` makes one.\n"
    )
    assert tidegate("queue", "create", "default", *where, "-n", "free").returncode == 0
    assert tidegate("run", "--detach", "--name", "alone", *where, "-n", "free", "--", "true").returncode == 0
    told = tidegate("why", "alone", *where, "-n", "free")
    assert told.returncode == 1
    assert "alone is a Job, and not in line: no operator has seen it, or namespace free is not managed." in told.stderr
    command = [sys.executable, "-m", "tidegate.cli.main", "run", "--name", "hangs", *where, "-n", "free", "--", "true"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        said = next(line for line in running.stderr if "is in line" not in line)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert said.startswith("job/hangs is seen by no operator: none runs, or namespace free is not managed.")
    assert running.returncode == 130


def test_why_tells_of_a_pod_that_cannot_start(kubeconfig: str) -> None:
    """It holds its room and does nothing; `why` said that it had all it asked for, and no more."""
    where = ["--kubeconfig", kubeconfig]
    asked = ["--image", "nobody/knows:this", "--cpu", "10m", "--name", "stuck", "--detach"]
    assert tidegate("run", *asked, *where, "--", "true").returncode == 0
    for _ in range(100):
        told = tidegate("why", "stuck", *where).stdout
        if "Its pod cannot start" in told:
            break
    assert "Its pod cannot start (ErrImageNeverPull): " in told or "Its pod cannot start (ImagePullBackOff): " in told
    assert tidegate("cancel", "stuck", *where).returncode == 0


@pytest.fixture(scope="module")
def line(kubeconfig: str) -> Iterator[list[str]]:
    """A Queue for one pod: `holds` has the room for at most half an hour, `waits` comes after it. How to ask there."""
    where = ["--kubeconfig", kubeconfig]
    assert tidegate("queue", "create", "narrow", "--limit", "cpu=100m", *where).returncode == 0
    for name, words in (("holds", ["sleep", "1000"]), ("waits", ["echo", "at last"])):
        asked = ["run", "--detach", "--queue", "narrow", "--cpu", "100m", "--time", "30m", "--name", name]
        done = tidegate(*asked, *where, "--", *words)
        assert done.stdout.startswith(f"job/{name} is in line. See `tidegate logs -f {name}`"), done.stderr
    yield where
    tidegate("cancel", "holds", *where)


def shown(where: list[str], *words: str) -> str:
    """Once both are where they are to be."""
    for _ in range(100):
        done = tidegate("status", *where)
        if "default/waits" in done.stdout and "WaitingForQuota" in done.stdout:
            break
    return tidegate(*words, *where).stdout


def test_why_says_when_a_workload_starts_that_waits_for_one_with_an_end(line: list[str]) -> None:
    told = shown(line, "why", "waits")
    assert "default/job-waits: Pending, in Queue narrow" in told
    assert "It would come in with this much more: 100m cpu." in told
    assert re.search(r"It starts in (30m|29m \d+s) \(at \d\d:\d\d:\d\d\) or before, if nobody else comes.", told), told
    start = json.loads(shown(line, "why", "job/waits", "-o", "json"))["start"]
    assert 1700 <= start["inSeconds"] <= 1800


def test_the_live_cluster_is_played_on_and_may_be_asked_what_if(line: list[str], tmp_path: Path) -> None:
    told = shown(line, "simulate", "--from-cluster")
    assert re.search(r"default/job-waits +default/narrow +in (30m|29m \d+s)", told), told
    (found,) = json.loads(shown(line, "simulate", "--from-cluster", "-o", "json"))[0]["starts"]
    assert (found["name"], found["queue"]) == ("default/job-waits", "default/narrow")
    path = tmp_path / "what-if.yaml"
    path.write_text(
        "kind: Scenario\nmetadata: {name: what-if}\nspec:\n  steps:\n  - at: 10s\n"
        "    apply: {kind: Queue, metadata: {namespace: default, name: narrow}, spec: {limits: {cpu: 200m}}}\n"
        "    expect: {job-waits: {state: Admitted, admittedAt: 10s}}\n"
    )
    done = tidegate("simulate", "--from-cluster", str(path), *line)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "in 10s" in done.stdout


def test_a_trace_that_is_not_there_is_told_of_a_live_cluster_too(line: list[str], tmp_path: Path) -> None:
    """It was called a mistake of our own, with exit status 1."""
    done = tidegate("simulate", "--from-cluster", "--trace", str(tmp_path / "no.csv"), *line)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path / 'no.csv'}:1: cannot be read (no such file or directory); check its name\n"


def test_logs_of_one_that_has_not_begun_come_when_it_begins(line: list[str]) -> None:
    """`holds` is cancelled while its follower waits; what follows it speaks."""
    waiting = tidegate("logs", "waits", *line)
    assert (waiting.returncode, waiting.stdout) == (1, "")
    assert "`tidegate why waits`" in waiting.stderr
    assert tidegate("cancel", "holds", *line).stdout == "job/holds is cancelled.\n"
    followed = tidegate("logs", "-f", "waits", *line)
    assert (followed.returncode, followed.stdout) == (0, "at last\n")


def test_why_says_what_would_let_it_in() -> None:
    waiting = {
        "reason": "WaitingForQuota",
        "message": "needs 2 cpu more",
        "ahead": 3,
        "shortBy": {"default": {"cpu": "2"}},
    }
    pods = {"name": "main", "count": 4, "minCount": 2, "requests": {"cpu": "1"}}
    workload = {
        "metadata": {"name": "w", "namespace": "a"},
        "spec": {"queue": "default", "podSets": [pods]},
        "status": {"state": "Evicted", "waiting": waiting, "requeue": {"count": 2}},
    }
    text = "\n".join(explained(workload))
    assert "main: 0 of 4 pods granted (starts with 2), 0 there; 1 cpu each" in text
    assert "It waits (WaitingForQuota): needs 2 cpu more; 3 before it in line." in text
    assert "with this much more: 2 cpu." in text
    assert "Evicted 2 times so far." in text
    workload["status"]["requeue"]["count"] = 1  # type: ignore[index]
    assert "Evicted once so far." in explained(workload)
    workload["status"]["state"] = "Admitted"  # type: ignore[index]
    assert "It waits for more pods (WaitingForQuota): needs 2 cpu more; 3 before it in line." in explained(workload)
