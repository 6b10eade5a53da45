"""Logs and exec through the API server, as kubectl asks for them."""

from __future__ import annotations

import subprocess
import threading

import pytest

from tests.harness import Cluster
from tests.harness.cluster import PATIENCE_S
from tests.local.agent.node import Node, container

pytestmark = pytest.mark.kube


def test_logs_by_tail_bytes_time_and_stamps(node: Node, namespace: str) -> None:
    """Each option shows its part of the same log."""
    node.run(namespace, container("seq 1 1000"))
    node.ended(namespace)
    assert node.log(namespace, tailLines="3").split() == ["998", "999", "1000"]
    assert node.log(namespace, limitBytes="5") == "1\n2\n3"
    assert node.log(namespace, sinceSeconds="3600").count("\n") == 1000
    assert node.log(namespace, sinceTime="2099-01-01T00:00:00Z") == ""
    stamped = node.log(namespace, tailLines="1", timestamps="true")
    assert stamped.endswith("Z 1000\n")


def test_following_a_log_ends_with_the_container(cluster: Cluster, node: Node, namespace: str) -> None:
    """Lines arrive as they are written, and the stream ends by itself."""
    node.run(namespace, container("for n in 1 2 3; do echo $n; sleep 0.3; done"))
    node.running(namespace)
    followed = cluster.kubectl("logs", "-f", "-n", namespace, "pod")
    assert (followed.code, followed.out.split()) == (0, ["1", "2", "3"])


def test_exec_runs_inside_the_container_with_its_own_exit_code(cluster: Cluster, node: Node, namespace: str) -> None:
    """Input goes in, output comes out, the command's code is kubectl's."""
    node.run(namespace, container("sleep 1000", env=[{"name": "INSIDE", "value": "yes"}]))
    node.running(namespace)
    asked = ("exec", "-n", namespace, "pod", "-i", "--", "sh", "-c", "cat; echo $INSIDE; echo bad >&2; exit 7")
    done = cluster.kubectl(*asked, stdin="given\n")
    assert (done.code, done.out) == (7, "given\nyes\n")
    assert "bad" in done.err


def test_many_megabytes_pass_through_exec_unchanged(cluster: Cluster, node: Node, namespace: str) -> None:
    """Nothing is lost when both directions are busy."""
    node.run(namespace, container("sleep 1000"))
    node.running(namespace)
    text = "".join(f"line {n}\n" for n in range(200_000))
    done = cluster.kubectl("exec", "-n", namespace, "pod", "-i", "--", "cat", stdin=text)
    assert done.code == 0
    assert done.out == text


def test_exec_into_a_container_that_does_not_run_is_refused(cluster: Cluster, node: Node, namespace: str) -> None:
    """With an error, not a hang."""
    node.run(namespace, container("true"))
    node.ended(namespace)
    assert cluster.kubectl("exec", "-n", namespace, "pod", "--", "true").code != 0


def test_a_terminal_has_a_size_and_a_session(cluster: Cluster, node: Node, namespace: str) -> None:
    """`kubectl exec -it` gives a real terminal, also when kubectl itself runs in one."""
    import os
    import pty

    from tools.build_kube import assets

    node.run(namespace, container("sleep 1000"))
    node.running(namespace)
    near, far = pty.openpty()
    command = [str(assets() / "kubectl"), "exec", "-n", namespace, "pod", "-it", "--", "sh", "-c", "tty; echo over"]
    process = subprocess.Popen(command, stdin=far, stdout=far, stderr=far, env=cluster.kubectl_env())
    os.close(far)
    said = bytearray()

    def read() -> None:
        try:
            while piece := os.read(near, 4096):
                said.extend(piece)
        except OSError:
            return

    reading = threading.Thread(target=read)
    reading.start()
    assert process.wait(timeout=PATIENCE_S) == 0
    reading.join(timeout=60)
    os.close(near)
    assert b"/dev/pts/" in said
    assert b"over" in said
