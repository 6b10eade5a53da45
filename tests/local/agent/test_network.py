"""Pods with a network of their own reach each other, services by name, and the API server; only there."""

from __future__ import annotations

import pytest

from tests.harness import Cluster
from tests.local.agent.node import Node, container

pytestmark = pytest.mark.kube

WAIT = "until wget -q -O- http://{0} 2>/dev/null || python3 -c \"import urllib.request as u; print(u.urlopen('http://{0}').status)\" 2>/dev/null; do sleep 0.2; done"  # noqa: E501


@pytest.fixture(scope="module")
def isolation() -> str:
    return "namespaces"


def serving(port: int) -> dict:
    script = f"mkdir -p www && cd www && echo served > index.html && exec python3 -m http.server {port}"
    return container(script, image="python", ports=[{"name": "web", "containerPort": port}])


def service(cluster: Cluster, namespace: str, name: str, **spec: object) -> None:
    body = {"metadata": {"name": name}, "spec": {"selector": {"app": "web"}, **spec}}
    cluster.create(f"/api/v1/namespaces/{namespace}/services", body)


@pytest.mark.parametrize("form", ["svc", "svc.{0}", "svc.{0}.svc", "svc.{0}.svc.cluster.local"])
def test_a_service_is_reached_by_each_of_its_names(cluster: Cluster, node: Node, namespace: str, form: str) -> None:
    """Through its own address and port, which is not the pod's."""
    service(cluster, namespace, "svc", ports=[{"port": 80, "targetPort": "web"}])
    node.run(namespace, serving(8080), name="web", metadata={"labels": {"app": "web"}})
    node.run(namespace, container(WAIT.format(form.format(namespace)), image="python"), name="client")
    assert node.ended(namespace, "client")["status"]["phase"] == "Succeeded"


def test_a_headless_service_resolves_to_its_pods_before_they_are_ready(
    cluster: Cluster, node: Node, namespace: str
) -> None:
    """As Ray's workers need it."""
    service(cluster, namespace, "head", clusterIP="None", publishNotReadyAddresses=True, ports=[{"port": 8080}])
    never = {"exec": {"command": ["false"]}, "periodSeconds": 5}
    head = serving(8080) | {"readinessProbe": never}
    node.run(namespace, head, name="web", metadata={"labels": {"app": "web"}})
    node.run(namespace, container(WAIT.format(f"head.{namespace}.svc:8080"), image="python"), name="client")
    assert node.ended(namespace, "client")["status"]["phase"] == "Succeeded"


def test_pods_have_their_own_ports_host_names_and_processes(node: Node, namespace: str) -> None:
    """Two pods listen on the same port of all addresses; each is process 2 or so, on a host of its own name."""
    for name in ("one", "two"):
        probe = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
        node.run(namespace, serving(8080) | {"readinessProbe": probe}, name=name)
        node.until(
            namespace, lambda pod: any(each.get("ready") for each in pod["status"].get("containerStatuses", [])), name
        )
    done = node.cluster.kubectl(
        "exec", "-n", namespace, "two", "--", "sh", "-c", "hostname; ls -d /proc/[0-9]* | wc -l"
    )
    name, processes = done.out.split()
    assert name == "two"
    assert int(processes) < 10


def test_the_address_a_program_finds_for_itself_is_the_pods(node: Node, namespace: str) -> None:
    """Ray asks which address it would use to reach a public one."""
    script = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 9)); "
    script += "print(s.getsockname()[0])"
    node.run(namespace, {"name": "main", "image": "python", "command": ["python3", "-c", script]})
    pod = node.ended(namespace)
    assert node.log(namespace).strip() == pod["status"]["podIP"]


def test_a_pod_reaches_the_api_server_with_its_token(node: Node, namespace: str) -> None:
    """By the name in the server's certificate, with the authority that is mounted."""
    script = (
        "import os, ssl, urllib.error, urllib.request as u; d = '/var/run/secrets/kubernetes.io/serviceaccount/'; "
        "c = ssl.create_default_context(cafile=d + 'ca.crt'); t = open(d + 'token').read(); "
        "a = 'https://' + os.environ['KUBERNETES_SERVICE_HOST'] + ':' + os.environ['KUBERNETES_SERVICE_PORT']; "
        "print(u.urlopen(u.Request(a + '/version', headers={'Authorization': 'Bearer ' + t}), context=c).status)"
    )
    node.run(namespace, {"name": "main", "image": "python", "command": ["python3", "-c", script]})
    assert node.ended(namespace)["status"]["phase"] == "Succeeded"
    assert node.log(namespace).strip() == "200"


def test_host_network_pods_use_the_machines_network(node: Node, namespace: str) -> None:
    node.run(namespace, container("ls /sys/class/net; cat /proc/net/dev | wc -l"), hostNetwork=True)
    pod = node.ended(namespace)
    assert pod["status"]["podIP"] == pod["status"]["hostIP"]
