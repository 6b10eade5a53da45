"""What jobs say, followed while they speak: through restarts, to their end, or until somebody cancels them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import tidegate
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.resources import JOBS


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


def test_ctrl_c_ends_who_follows_what_has_not_begun_without_a_word(kubeconfig: str) -> None:
    """It waits for news, and for nothing else."""
    where = ["--kubeconfig", kubeconfig]
    assert tidegate("queue", "create", "none", "--limit", "cpu=0", *where).returncode == 0
    asked = ["--cpu", "10m", "--name", "never", "--queue", "none", "--detach"]
    assert tidegate("run", *asked, *where, "--", "true").returncode == 0
    follow = [sys.executable, "-m", "tidegate", "logs", "-f", "never", *where]
    with subprocess.Popen(follow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        with pytest.raises(subprocess.TimeoutExpired):
            following.wait(3)
        following.send_signal(signal.SIGINT)
        said = following.communicate(timeout=60)
    assert (following.returncode, *said) == (130, "", "\n")
    assert tidegate("cancel", "never", *where).returncode == 0
