"""Daily commands against a machine with queues, started as its users start it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_commands import tidegate
from tidegate.cli.jobs.found import find_workload
from tidegate.cli.views.tree import tree
from tidegate.cli.views.why import explained
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.resources import JOBS, NAMESPACES

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


@pytest.mark.parametrize("killed", ["control-plane.lock", "agent/agent.lock"])
def test_what_is_said_while_half_of_the_machine_is_away_comes_when_it_is_back(tmp_path: Path, killed: str) -> None:
    """Its log ended where the control plane was killed, though the command went on and its exit status came. So it did,
    without a word, where the agent was; and `logs -f` said that it waits for the server, and gave up."""
    folder = str(tmp_path / "state")
    assert tidegate("up", "--data-dir", folder).returncode == 0
    go_on, where = tmp_path / "go-on", ["--kubeconfig", f"{folder}/kubeconfig"]
    script = f"echo one; while [ ! -e {go_on} ]; do sleep 0.05; done; echo two; printf three"
    command = ["run", *where, "--cpu", "10m", "--name", "told", "--", "sh", "-c", script]
    try:
        running, following = _speaking(*command), _speaking("logs", "-f", "told", *where)
        os.kill(int(Path(folder, killed).read_text()), signal.SIGKILL)
        go_on.touch()
        assert tidegate("up", "--data-dir", folder).returncode == 0
        (out, err), (log, log_err) = running.communicate(timeout=60), following.communicate(timeout=60)
    finally:
        tidegate("down", "--data-dir", folder)
    assert (running.returncode, out) == (0, b"two\nthree\n"), err
    assert (following.returncode, log) == (0, b"two\nthree\n"), log_err
    if killed == "control-plane.lock":
        assert err.count(b"The server does not answer; waiting for it.") == 1
        assert log_err == b"tidegate: The server does not answer; waiting for it.\n"


def test_pods_that_an_agent_left_which_was_killed_go_with_the_machine(tmp_path: Path) -> None:
    """`down` said that it had stopped the control plane, or that nothing was running, and they ran on for ever."""
    folder = str(tmp_path / "state")
    assert tidegate("up", "--data-dir", folder).returncode == 0
    lives = tmp_path / "lives"
    os.mkfifo(lives)
    command = ["run", "--kubeconfig", f"{folder}/kubeconfig", "--cpu", "10m", "--detach", "--", "sh", "-c"]
    assert tidegate(*command, f"exec sleep 1000 > {lives}").returncode == 0
    with lives.open("rb") as held:  # Its other end is open for as long as the pod lives.
        os.kill(int(Path(folder, "agent", "agent.lock").read_text()), signal.SIGKILL)
        assert tidegate("down", "--data-dir", folder).stdout == "Stopped pods and control-plane.\n"
        assert held.read() == b""
    assert tidegate("down", "--data-dir", folder).stdout == "Nothing was running.\n"


def _speaking(*arguments: str) -> subprocess.Popen[bytes]:
    """A command that follows a job which has said `one`."""
    command = [sys.executable, "-m", "tidegate.cli.main", *arguments]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"one\n"
    return running


def test_pods_that_are_refused_are_told_of(kubeconfig: str) -> None:
    """A Queue's limit is a ResourceQuota too, which refuses pods that do not say how much they need. The command hung
    without a word, and `why` said that it had all it asked for."""
    where = ["--kubeconfig", kubeconfig, "-n", "strict"]
    asyncio.run(_make_namespace(kubeconfig, "strict"))
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


def test_what_could_not_be_put_in_line_is_told_why(kubeconfig: str) -> None:
    """`why` said that there is no such workload, and named others, while the Job stood there held for ever."""
    where = ["--kubeconfig", kubeconfig]
    asyncio.run(_make_job(kubeconfig, "default", "spoilt", **{"min-count": "two"}))
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
            await client.close()

    found, looked_at = asyncio.run(ask())
    assert found["metadata"]["name"] == "job-new"
    assert looked_at["status"]["state"]


def test_a_job_that_nobody_puts_in_line_is_told_so(kubeconfig: str) -> None:
    """`why` said that there is no such workload, and named others; `run` said that it is in line, and waited."""
    where = ["--kubeconfig", kubeconfig]
    asyncio.run(_make_namespace(kubeconfig, "free", managed="false"))
    asyncio.run(_make_job(kubeconfig, "free", "early"))
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


async def _make_job(kubeconfig: str, namespace: str, name: str, **annotations: str) -> None:
    client = connect(load_access(Path(kubeconfig)))
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "host"}]}}
    meta = {"name": name, "annotations": {f"tidegate.dev/{key}": value for key, value in annotations.items()}}
    await client.create(JOBS, {"metadata": meta, "spec": {"template": template}}, namespace)
    await client.close()


async def _make_namespace(kubeconfig: str, name: str, **labels: str) -> None:
    client = connect(load_access(Path(kubeconfig)))
    labels = {f"tidegate.dev/{key}": value for key, value in labels.items()}
    await client.create(NAMESPACES, {"metadata": {"name": name, "labels": labels}})
    await client.close()


def test_who_follows_what_is_cancelled_is_told(kubeconfig: str) -> None:
    """It was told that there is no such workload, and what else there is."""
    where = ["--kubeconfig", kubeconfig]
    words = ["sh", "-c", "echo one; sleep 100"]
    assert tidegate("run", "--cpu", "10m", "--name", "soon-gone", "--detach", *where, "--", *words).returncode == 0
    follow = [sys.executable, "-m", "tidegate", "logs", "-f", "soon-gone", *where]
    with subprocess.Popen(follow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "one\n"
        assert tidegate("cancel", "soon-gone", *where).returncode == 0
        _, said = following.communicate(timeout=60)
    assert following.returncode == 1
    assert said == "tidegate: soon-gone is gone: it was cancelled, or deleted, meanwhile. Nothing follows.\n"


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


async def make_job_of_two_containers(kubeconfig: str) -> None:
    client = connect(load_access(Path(kubeconfig), None), user_agent="test")
    containers = [
        {"name": name, "image": "host", "command": ["echo", f"from {name}"], "resources": {"requests": {"cpu": "10m"}}}
        for name in ("side", "main")
    ]
    marked = {"kubectl.kubernetes.io/default-container": "main"}
    pod = {"metadata": {"annotations": marked}, "spec": {"restartPolicy": "Never", "containers": containers}}
    await client.create(JOBS, {"metadata": {"name": "pair", "namespace": "default"}, "spec": {"template": pod}})
    await client.close()


def test_of_several_containers_the_one_that_is_marked_speaks(kubeconfig: str) -> None:
    asyncio.run(make_job_of_two_containers(kubeconfig))
    for _ in range(100):
        done = tidegate("logs", "-f", "pair", "--kubeconfig", kubeconfig)
        if "no workload pair" not in done.stderr:
            break
    assert (done.stdout, done.stderr) == ("from main\n", "")


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
