"""The agent is killed at random moments: pods go on, none is lost or run twice, and every exit code is true."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.local.agent.node import Node, container, processes_with

pytestmark = pytest.mark.kube

KILLS = 20


def test_pods_survive_twenty_kills_of_the_agent(node: Node, namespace: str, tmp_path: Path) -> None:
    """Each pod writes down when it starts and when it ends; both must have happened once."""
    chance = random.Random(20)
    total = KILLS
    for number in range(total):
        code = number % 7
        file, seconds = tmp_path / str(number), chance.uniform(0.1, 3)
        script = f"echo start >> {file}; sleep {seconds:.2f}; echo end >> {file}; exit {code}"
        node.run(namespace, container(script), name=f"p{number}")
        time.sleep(chance.uniform(0.1, 1.6))
        node.kill()
        node.start()
    for number in range(total):
        pod = node.ended(namespace, f"p{number}", timeout_s=60)
        ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
        assert (number, ended["exitCode"], ended["reason"]) == (
            number,
            number % 7,
            "Error" if number % 7 else "Completed",
        )
        assert (tmp_path / str(number)).read_text() == "start\nend\n"


def test_a_running_pod_is_adopted_with_its_log(node: Node, namespace: str) -> None:
    """What it prints while there is no agent is in its log; its process stays the same."""
    node.run(namespace, container("echo $$; for n in 1 2 3 4 5 6; do sleep 0.3; echo $n; done"))
    before = node.running(namespace)
    node.kill()
    time.sleep(1)
    node.start()
    pod = node.ended(namespace)
    assert node.log(namespace).splitlines()[1:] == ["1", "2", "3", "4", "5", "6"]
    status, earlier = pod["status"]["containerStatuses"][0], before["status"]["containerStatuses"][0]
    assert status["restartCount"] == 0
    assert status["containerID"] == earlier["containerID"]
    assert status["state"]["terminated"]["startedAt"] == earlier["state"]["running"]["startedAt"]


def test_a_pod_deleted_while_there_is_no_agent_is_stopped_by_the_next(node: Node, namespace: str) -> None:
    """Also when its object is gone altogether."""
    marker = f"{time.time_ns() % 10**9 + 10**9}"
    for name in ("kept", "forced"):
        node.run(namespace, container(f"sleep {marker}"), name=name)
        node.running(namespace, name)
    node.kill()
    node.delete(namespace, "kept")
    node.delete(namespace, "forced", grace_s=0)
    assert processes_with(marker)
    node.start()
    node.gone(namespace, "kept")
    node.gone(namespace, "forced")
    node.eventually(lambda: not processes_with(marker), what="both are stopped")


def test_a_lost_runner_is_told_honestly(node: Node, namespace: str) -> None:
    """Nobody knows the exit code: the status says so, and nothing of the pod is left running."""
    marker = f"{time.time_ns() % 10**9 + 10**9}"
    made = node.run(namespace, container(f"sleep {marker}"))
    node.running(namespace)
    node.kill()
    for pid in processes_with(made["metadata"]["uid"]):
        os.kill(pid, signal.SIGKILL)
    node.start()
    node.eventually(lambda: not processes_with(marker), what="the container is gone like its runner")
    ended = node.ended(namespace)["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("ContainerStatusUnknown", 137)


def test_a_clean_stop_leaves_pods_running(node: Node, namespace: str) -> None:
    """As a kubelet does."""
    marker = f"{time.time_ns() % 10**9 + 10**9}"
    node.run(namespace, container(f"sleep {marker}"))
    node.running(namespace)
    assert node.stop() == 0
    assert processes_with(marker)
    node.start()


def test_nothing_is_left_when_pods_are_gone(node: Node, namespace: str) -> None:
    """No process, no network device, no mount, no folder."""

    def devices() -> set[str]:
        return {each.name for each in Path("/sys/class/net").iterdir() if each.name.startswith("tg")}

    mounts = Path("/proc/self/mounts").read_text()
    before = devices()
    uids = []
    for name in ("a", "b"):
        mount = [{"name": "m", "mountPath": "/dev/shm"}]
        made = node.run(
            namespace,
            container("sleep 1000", volumeMounts=mount),
            name=name,
            volumes=[{"name": "m", "emptyDir": {"medium": "Memory"}}],
        )
        uids.append(made["metadata"]["uid"])
        node.running(namespace, name)
    for name in ("a", "b"):
        node.delete(namespace, name, grace_s=1)
        node.gone(namespace, name)
    node.eventually(lambda: devices() <= before, what="network devices are gone")
    node.eventually(lambda: not any(processes_with(uid) for uid in uids), what="runners are gone")
    node.eventually(lambda: not list((node.data / "pods").iterdir()), what="folders are gone")
    assert Path("/proc/self/mounts").read_text() == mounts


def test_a_second_agent_in_the_same_folder_is_refused(node: Node) -> None:
    """Two would both think that the pods are theirs."""
    command = [sys.executable, "-m", "tidegate.local.agent", "--data-dir", str(node.data)]
    second = subprocess.run(
        [*command, "--kubeconfig", str(node.cluster.kubeconfig)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert "already" in second.stderr
