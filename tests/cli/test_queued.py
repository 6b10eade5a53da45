"""Daily commands against a machine with queues, started as its users start it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.making import make_namespace
from tests.cli.test_commands import tidegate
from tidegate.cli.views.tree import tree
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect

Json = Any


def test_a_command_is_queued_its_output_comes_back_and_so_does_its_exit_status(kubeconfig: str) -> None:
    done = tidegate("run", "--kubeconfig", kubeconfig, "--cpu", "10m", "--", "sh", "-c", "echo out; exit 7")
    assert done.returncode == 7, done.stderr
    assert done.stdout == "out\n"
    assert "is in line" in done.stderr


def test_a_command_that_is_not_there_is_told_so(kubeconfig: str) -> None:
    """It never ran, so its log cannot say it."""
    done = tidegate("run", "--kubeconfig", kubeconfig, "--cpu", "10m", "--", "no-such-program")
    assert (done.returncode, done.stdout) == (128, "")
    assert "The command could not be started: " in done.stderr
    assert "no-such-program" in done.stderr.splitlines()[-1]


def test_who_ran_for_too_long_is_told(kubeconfig: str) -> None:
    """It ended with 143 and not a word, or with 1, as its pod was still there or not."""
    done = tidegate(
        "run", "--kubeconfig", kubeconfig, "--cpu", "10m", "--time", "1s", "--name", "long", "--", "sleep", "9"
    )
    assert done.returncode == 1
    assert "tidegate: job/long ran as long as --time lets it, and was ended. Give it more." in done.stderr


def test_documents_do_not_say_who_wrote_which_field(kubeconfig: str) -> None:
    """Half of what `-o yaml` printed was that."""
    for command in (["queue", "list"], ["status"]):
        shown = tidegate(*command, "--kubeconfig", kubeconfig, "-o", "yaml")
        assert "default" in shown.stdout
        assert "managedFields" not in shown.stdout


def test_pods_that_are_refused_are_told_of(kubeconfig: str) -> None:
    """A Queue's limit is a ResourceQuota too, which refuses pods that do not say how much they need. The command hung
    without a word, and `why` said that it had all it asked for."""
    where = ["--kubeconfig", kubeconfig, "-n", "strict"]
    asyncio.run(make_namespace(kubeconfig, "strict"))
    assert tidegate("queue", "create", "default", "--limit", "memory=1Gi", *where).returncode == 0
    command = ["run", *where, "--cpu", "10m", "--name", "says-nothing", "--", "true"]
    running = subprocess.Popen(
        [sys.executable, "-m", "tidegate.cli.main", *command], stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert running.stderr is not None
    said = next(line for line in running.stderr if "its pods cannot be made" in line)
    assert "(FailedCreate)" in said
    assert "must specify requests.memory" in said
    why = tidegate("why", "says-nothing", *where).stdout
    assert ", 0 there; 10m cpu each" in why
    assert "Its pods are not there. Its Job says (FailedCreate): " in why
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130


@pytest.fixture(scope="module")
def many(kubeconfig: str) -> subprocess.CompletedProcess[str]:
    """A job of several pods that has ended."""
    words = ["sh", "-c", "echo pod $JOB_COMPLETION_INDEX"]
    asked = ["--cpu", "10m", "--pods", "3", "--min", "1", "--name", "many"]
    return tidegate("run", "--kubeconfig", kubeconfig, *asked, "--", *words)


def test_several_pods_say_who_speaks(kubeconfig: str, many: subprocess.CompletedProcess[str]) -> None:
    assert many.returncode == 0, many.stderr
    assert sorted(line.split("] ")[1] for line in many.stdout.splitlines()) == ["pod 0", "pod 1", "pod 2"]
    why = tidegate("why", "many", "--kubeconfig", kubeconfig)
    assert "default/job-many: Finished" in why.stdout
    assert "(Succeeded)" in why.stdout


def test_queues_are_made_listed_stopped_and_shown_as_a_tree(kubeconfig: str) -> None:
    made = tidegate("queue", "create", "research", "--limit", "cpu=2", "--weight", "3", "--kubeconfig", kubeconfig)
    assert made.stdout == "Queue default/research is made.\n"
    listed = tidegate("queue", "list", "--kubeconfig", kubeconfig).stdout
    assert "research  root          3       2 cpu" in listed
    made = [
        "queue",
        "create",
        "default",
        "-n",
        "team-c",
        "--create-namespace",
        "-o",
        "json",
        "--kubeconfig",
        kubeconfig,
    ]
    assert json.loads(tidegate(*made).stdout)["metadata"]["namespace"] == "team-c"
    everywhere = tidegate("queue", "list", "-A", "--kubeconfig", kubeconfig).stdout
    assert "team-c/default " in everywhere
    assert "default/research " in everywhere
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
        (MISUSED, ["run", "--min", "2", "--", "true"], "--min is 2, and there are 1 --pods."),
        (MISUSED, ["run", "--time", "soon", "--", "true"], '"soon" is not a duration'),
        (MISUSED, ["run", "--cpu", "much", "--", "true"], '--cpu: "much" is not a quantity'),
        (MISUSED, ["run", "--memory", "1Xi", "--", "true"], '--memory: "1Xi" is not a quantity'),
        (MISUSED, ["run", "--cpu", "-1", "--", "true"], "--cpu: -1 is less than nothing."),
        (MISUSED, ["run", "--env", "=x", "--", "true"], '--env: "=x" has no name.'),
        (MISUSED, ["run", "--", "echo", "\udcff"], "'\\xff' is not UTF-8, and Kubernetes keeps nothing else."),
        (FAILED, ["run", "--name", "many", "--", "true"], "There is a job/many already. Choose another --name;"),
        (FAILED, ["run", "--priority-class", "urgent", "--", "true"], "There is no PriorityClass urgent. There is sys"),
        (FAILED, ["run", "-n", "nowhere", "--", "true"], "There is no namespace nowhere. `tidegate queue create"),
        (FAILED, ["status", "-n", "defalt"], "There is no namespace defalt. Did you mean default?"),
        (FAILED, ["queue", "list", "-n", "nowhere"], "There is no namespace nowhere."),
        (FAILED, ["queue", "create", "x", "-n", "nowhere"], "--create-namespace` makes it, with a Queue."),
        (FAILED, ["queue", "create", "x", "--cluster-queue", "rot"], "There is no ClusterQueue rot. Did you mean root"),
        (FAILED, ["queue", "stop", "default"], "default is a Queue, and ClusterQueues are stopped. The one behind"),
        (MISUSED, ["run", "--name", "My Job", "--", "true"], "--name: \"My Job\" cannot be a Job's name."),
        (MISUSED, ["run", "--name", "a" * 61, "--pods", "11", "--", "true"], "Use up to 60 lower-case letters"),
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
        (FAILED, ["queue", "create", "default"], "Queue default/default already exists. `kubectl edit queue default"),
        (MISUSED, ["queue", "create", "x", "--limit", "cpu"], '--limit: "cpu" is no amount.'),
        (MISUSED, ["queue", "create", "x", "--limit", "cpu=lots"], '--limit: cpu: "lots" is not a quantity'),
        (MISUSED, ["queue", "create", "x", "--limit", "cpu=-1"], "--limit: -1 cpu is less than nothing."),
        (MISUSED, ["queue", "create", "x", "--limit", "cpu=1", "--limit", "cpu=2"], "--limit: cpu is given twice."),
        (FAILED, ["queue", "stop", "rot"], "There is no ClusterQueue rot. Did you mean root?"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("many")
def test_mistakes_are_sentences(kubeconfig: str, status: int, arguments: list[str], said: str) -> None:
    at = len(arguments) if "--" not in arguments else arguments.index("--")
    done = tidegate(*arguments[:at], "--kubeconfig", kubeconfig, *arguments[at:])
    assert done.returncode == status
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_status_watch_without_a_terminal_is_one_picture_after_the_other(kubeconfig: str) -> None:
    command = [sys.executable, "-m", "tidegate.cli.main", "status", "--watch", "--all", "--kubeconfig", kubeconfig]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        lines = [watching.stdout.readline() for _ in range(3)]
        assert "QUEUE" in lines[1]
        name = "seen-while-watching"
        assert tidegate("run", "--cpu", "10m", "--name", name, "--kubeconfig", kubeconfig, "--", "true").returncode == 0
        assert any(name in line for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        watching.stdout.read()
        assert watching.wait(30) == 0


def test_the_first_ctrl_c_cancels_the_job_and_says_so(kubeconfig: str) -> None:
    words = [
        "run",
        "--cpu",
        "10m",
        "--name",
        "stopped",
        "--kubeconfig",
        kubeconfig,
        "--",
        "sh",
        "-c",
        "echo on; sleep 99",
    ]
    command = [sys.executable, "-m", "tidegate.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "on\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "job/stopped is cancelled" in said
    assert "no workload stopped" in tidegate("why", "stopped", "--kubeconfig", kubeconfig).stderr


async def let_in(kubeconfig: str, namespace: str, user: str) -> None:
    """A Role for a tenant, who may see and use what is in their namespace."""
    client = connect(load_access(Path(kubeconfig), None), user_agent="test")
    rights = [
        {"apiGroups": ["tidegate.dev"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]},
    ]
    roles = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    await client.raw("POST", f"{roles}/roles", body={"metadata": {"name": "tenant"}, "rules": rights})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"}
    who = [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]
    body = {"metadata": {"name": "tenant"}, "roleRef": role, "subjects": who}
    await client.raw("POST", f"{roles}/rolebindings", body=body)
    await client.close()


def test_a_tenant_with_rights_in_one_namespace_sees_it_and_works_there(kubeconfig: str, tmp_path: Path) -> None:
    """No right on ClusterQueues, nodes or other namespaces: what is theirs is shown, and nothing is guessed."""
    asyncio.run(let_in(kubeconfig, "default", "tenant"))
    config = yaml.safe_load(Path(kubeconfig).read_text())
    config["users"][0]["user"]["as"] = "tenant"
    own = tmp_path / "kubeconfig"
    own.write_text(yaml.safe_dump(config))
    where = ["--kubeconfig", str(own)]
    assert tidegate("run", "--cpu", "10m", *where, "--", "echo", "tenant").stdout == "tenant\n"
    told = tidegate("status", "--all", *where)
    assert "default/default" in told.stdout, told.stderr
    assert "root" not in told.stdout
    refused = tidegate("status", "-n", "kube-system", *where)
    assert (refused.returncode, "The server refused" in refused.stderr) == (1, True)


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
