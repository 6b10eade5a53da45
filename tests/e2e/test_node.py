"""kubectl on pods that run: logs, exec, port-forward, and a node agent that dies and comes back."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness import Cluster, Embedded
from tests.harness.cluster import PATIENCE_S
from tools.build_kube import assets

pytestmark = pytest.mark.kube
Json = Any


@pytest.fixture(scope="module")
def machine() -> Iterator[Embedded]:
    server = Embedded(agent=True)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def namespace(machine: Embedded) -> Iterator[str]:
    name = machine.cluster.namespace()
    yield name
    machine.cluster.http("DELETE", f"/api/v1/namespaces/{name}")


def run(cluster: Cluster, namespace: str, name: str, script: str, **more: Json) -> str:
    """Start a pod and wait until it runs; its path."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    container = {"name": "main", "image": "host", "command": ["sh", "-c", script], **more}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    cluster.create(path, {"metadata": {"name": name}, "spec": spec})
    running = ("Running", "Succeeded")
    cluster.eventually(f"{path}/{name}", lambda reply: reply.json["status"]["phase"] in running)
    return f"{path}/{name}"


def test_logs_are_read_tailed_and_followed(machine: Embedded, namespace: str) -> None:
    run(machine.cluster, namespace, "talker", "echo one; echo two; sleep 2; echo three")

    def logs(*args: str) -> str:
        done = machine.cluster.kubectl("-n", namespace, "logs", "talker", *args)
        assert done.code == 0, done.err
        return done.out

    assert logs("-f") == "one\ntwo\nthree\n"
    assert logs("--tail=1") == "three\n"
    assert logs("--timestamps").startswith("20")


def test_exec_runs_in_the_pod_and_returns_its_status(machine: Embedded, namespace: str) -> None:
    run(machine.cluster, namespace, "host", "sleep 60")
    inside = ("-n", namespace, "exec", "-i", "host", "--")
    done = machine.cluster.kubectl(*inside, "sh", "-c", "cat; echo err >&2; exit 3", stdin="hello")
    assert (done.code, done.out) == (3, "hello")
    assert "err\n" in done.err
    assert machine.cluster.kubectl("-n", namespace, "exec", "absent", "--", "true").code == 1


SERVER = "import http.server as h; h.HTTPServer(('0.0.0.0', 8123), h.SimpleHTTPRequestHandler).serve_forever()"


def test_a_port_is_forwarded_for_as_many_connections_as_come(machine: Embedded, namespace: str) -> None:
    """kubectl says where it listens; what is asked there is answered by the pod, and a refusal by the pod is told.

    Not before the program in the pod listens: kubectl ends when a connection is refused there, and who asked again on a
    busy machine asked nobody."""
    ready = {"tcpSocket": {"port": 8123}, "periodSeconds": 1, "failureThreshold": 60}
    where = run(machine.cluster, namespace, "web", f'cd /; exec {sys.executable} -c "{SERVER}"', readinessProbe=ready)
    pod = machine.cluster.eventually(where, lambda reply: is_ready(reply.json)).json
    assert pod["status"]["podIP"]
    command = [str(assets() / "kubectl"), "-n", namespace, "port-forward", "pod/web", ":8123"]
    kubectl = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=machine.cluster.kubectl_env())
    try:
        assert kubectl.stdout is not None
        told = re.search(r"127\.0\.0\.1:(\d+) -> 8123", kubectl.stdout.readline())
        assert told is not None
        address = f"http://127.0.0.1:{told[1]}"
        for _ in range(3):
            assert answered(f"{address}/") == 200
        assert answered(f"{address}/absent-{namespace}") == 404
    finally:
        kubectl.terminate()
        kubectl.communicate(timeout=60)


def is_ready(pod: Json) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", ()))


def answered(url: str) -> int:
    """The status of the answer."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.parametrize("kills", [10])
def test_pods_outlive_their_agent_and_tell_their_true_end(machine: Embedded, namespace: str, kills: int) -> None:
    """The agent is killed with -9 while pods run: they go on, are adopted, and end with the code they ended with."""
    steady = run(machine.cluster, namespace, "steady", "sleep 300")
    before = machine.cluster.get(steady)["status"]["containerStatuses"][0]
    for number in range(kills):
        short = run(machine.cluster, namespace, f"short-{number}", f"sleep 0.2; exit {number + 1}")
        machine.kill("agent")
        machine.start_agent(stop_pods=False)
        ended = machine.cluster.eventually(short, lambda reply: reply.json["status"]["phase"] in ("Failed", "Unknown"))
        (status,) = ended.json["status"]["containerStatuses"]
        assert status["state"]["terminated"]["exitCode"] == number + 1
    after = machine.cluster.get(steady)["status"]["containerStatuses"][0]
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)
    assert after["state"] == before["state"]
    # No agent that stops its pods at its end is left to stop this one.
    machine.cluster.http("DELETE", steady)
    machine.cluster.eventually(steady, lambda reply: reply.status == 404)
