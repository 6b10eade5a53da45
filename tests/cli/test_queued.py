"""Daily commands against a machine with queues, started as its users start it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import tidegate
from tidegate.cli.views.tree import tree
from tidegate.cli.views.why import explained

Json = Any


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("queued")
    assert tidegate("up", "--data-dir", str(folder)).returncode == 0
    yield str(folder / "kubeconfig")
    tidegate("down", "--data-dir", str(folder))


def test_a_command_is_queued_its_output_comes_back_and_so_does_its_exit_status(kubeconfig: str) -> None:
    done = tidegate("run", "--kubeconfig", kubeconfig, "--cpu", "10m", "--", "sh", "-c", "echo out; exit 7")
    assert done.returncode == 7, done.stderr
    assert done.stdout == "out\n"
    assert "is in line" in done.stderr


def test_several_pods_say_who_speaks(kubeconfig: str) -> None:
    words = ["sh", "-c", "echo pod $JOB_COMPLETION_INDEX"]
    done = tidegate(
        "run", "--kubeconfig", kubeconfig, "--cpu", "10m", "--pods", "3", "--min", "1", "--name", "many", "--", *words
    )
    assert done.returncode == 0, done.stderr
    assert sorted(line.split("] ")[1] for line in done.stdout.splitlines()) == ["pod 0", "pod 1", "pod 2"]
    why = tidegate("why", "many", "--kubeconfig", kubeconfig)
    assert "default/job-many: Finished" in why.stdout
    assert "(Succeeded)" in why.stdout


def test_queues_are_made_listed_stopped_and_shown_as_a_tree(kubeconfig: str) -> None:
    made = tidegate("queue", "create", "research", "--limit", "cpu=2", "--weight", "3", "--kubeconfig", kubeconfig)
    assert made.stdout == "Queue default/research is made.\n"
    listed = tidegate("queue", "list", "--kubeconfig", kubeconfig).stdout
    assert "research  root          2 cpu" in listed
    stopped = tidegate("queue", "stop", "root", "--kubeconfig", kubeconfig)
    assert stopped.stdout == "ClusterQueue root admits nothing new.\n"
    assert tidegate("queue", "resume", "root", "--kubeconfig", kubeconfig).returncode == 0
    shown = tidegate("status", "--kubeconfig", kubeconfig).stdout.splitlines()
    assert [line.split("  ")[0 if not line.startswith(" ") else 1] for line in shown][:2] == ["QUEUE", "root"]
    assert {
        item["kind"] for item in json.loads(tidegate("status", "-o", "json", "--kubeconfig", kubeconfig).stdout)
    } >= {"ClusterQueue", "Queue", "Workload"}


MISUSED, FAILED = 2, 1


@pytest.mark.parametrize(
    ("status", "arguments", "said"),
    [
        (MISUSED, ["run", "--"], "There is no command to run."),
        (MISUSED, ["run", "--pods", "0", "--", "true"], "--pods is 1 or more"),
        (MISUSED, ["run", "--time", "soon", "--", "true"], '"soon" is not a duration'),
        (MISUSED, ["run", "--env", "NOBODY_SET_THIS", "--", "true"], "NOBODY_SET_THIS is not set here."),
        (MISUSED, ["run", "-o", "json", "--", "true"], "Add --detach."),
        (FAILED, ["run", "--queue", "defualt", "--", "true"], "Did you mean default?"),
        (FAILED, ["run", "-n", "kube-system", "--", "true"], "`tidegate queue create default -n kube-system`"),
        (FAILED, ["why", "nobody"], "There is no workload nobody in namespace default."),
        (FAILED, ["why", "man"], "Did you mean many?"),
        (FAILED, ["logs", "mayn"], "Did you mean many?"),
        (FAILED, ["logs", "many", "--pod", "many-9"], "It has no pod many-9. Did you mean many-"),
        (FAILED, ["cancel", "many", "nobody"], "There is no workload nobody in namespace default."),
        (MISUSED, ["status", "--watch", "-o", "json"], "Leave -o out"),
        (FAILED, ["queue", "create", "default"], "already exists"),
        (MISUSED, ["queue", "create", "x", "--limit", "cpu"], '"cpu" is not a limit.'),
        (FAILED, ["queue", "create", "x", "--limit", "cpu=lots"], "spec.limits.cpu"),
        (FAILED, ["queue", "stop", "rot"], "There is no ClusterQueue rot. Did you mean root?"),
    ],
)  # fmt: skip
def test_mistakes_are_sentences(kubeconfig: str, status: int, arguments: list[str], said: str) -> None:
    at = len(arguments) if "--" not in arguments else arguments.index("--")
    done = tidegate(*arguments[:at], "--kubeconfig", kubeconfig, *arguments[at:])
    assert done.returncode == status
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_server_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = tidegate("status", "--kubeconfig", str(tmp_path / "none"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def node(kind: str, name: str, above: str | None = None, namespace: str = "") -> Json:
    spec = {} if above is None else {"parent" if kind == "ClusterQueue" else "clusterQueue": above}
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_the_tree_shows_every_node_once_also_lost_ones_and_circles() -> None:
    cluster = [node("ClusterQueue", "root"), node("ClusterQueue", "b", "root"), node("ClusterQueue", "lost", "gone")]
    queues = [node("Queue", "q", "b", "team"), node("Queue", "stray", "gone", "team")]
    shown = [(depth, each["metadata"]["name"]) for depth, each in tree(cluster, queues)]
    assert shown == [(0, "root"), (1, "b"), (2, "q"), (0, "lost"), (0, "stray")]
    circle = [node("ClusterQueue", "x", "y"), node("ClusterQueue", "y", "x")]
    assert {each["metadata"]["name"] for _, each in tree(circle, [])} <= {"x", "y"}


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


def test_where_nobody_knows_queues_nothing_is_left_waiting(tmp_path: Path) -> None:
    data = tmp_path / "data"
    try:
        assert tidegate("up", "--no-queues", "--data-dir", str(data)).returncode == 0
        done = tidegate("run", "--kubeconfig", str(data / "kubeconfig"), "--", "true")
        assert done.returncode == 1
        assert "does not know Tidegate's kinds" in done.stderr
    finally:
        tidegate("down", "--data-dir", str(data))
