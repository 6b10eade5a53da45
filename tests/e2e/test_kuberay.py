"""The KubeRay operator, as published, against both servers: it starts, elects itself and makes a RayCluster's objects.

It is written with controller-runtime, sends protobuf, streams its lists and takes a Lease: what works for it works for
the operators people run. Its definitions are read from its own module.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness import Cluster, processes
from tools.build_kube import assets, missing, source_of

pytestmark = pytest.mark.kube
Json = Any
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

CONTAINER = {"image": "rayproject/ray:2.60.0", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}


def ray_cluster(name: str) -> Json:
    """One head with the autoscaler, one group of two workers."""

    def template(container: str) -> Json:
        return {"spec": {"containers": [{"name": container, **CONTAINER}]}}

    worker = {"groupName": "small", "replicas": 2, "minReplicas": 0, "maxReplicas": 4, "rayStartParams": {}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name},
        "spec": {
            "rayVersion": "2.60.0",
            "enableInTreeAutoscaling": True,
            "autoscalerOptions": {"version": "v2"},
            "headGroupSpec": {"rayStartParams": {}, "template": template("ray-head")},
            "workerGroupSpecs": [worker | {"template": template("ray-worker")}],
        },
    }


@pytest.fixture
def operator(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A running operator whose definitions are installed; its log goes to the test's folder."""
    if absent := missing(["kuberay-operator"], assets()):
        pytest.fail(f"{absent[0]} not built. Run `python tools/build_kube.py kuberay-operator` first.")
    for file in sorted((source_of("kuberay-operator") / "config" / "crd" / "bases").glob("*.yaml")):
        definition = yaml.load(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        reply = cluster.http("POST", CRDS, definition)
        assert reply.status in (201, 409), reply.body[:500]
    for plural in ("rayclusters", "rayjobs", "rayservices"):
        cluster.eventually(f"/apis/ray.io/v1/{plural}", lambda reply: reply.status == 200)
    flags = [
        "--metrics-addr=127.0.0.1:0",
        "--health-probe-bind-address=127.0.0.1:0",
        "--leader-election-namespace=" + namespace,
        "--feature-gates=RayClusterStatusConditions=true",
    ]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(cluster.kubeconfig)}
    command = [str(assets() / "kuberay-operator"), *flags]
    process = processes.start("kuberay-operator", command, logs=tmp_path, env=env)
    yield process
    processes.kill(process)
    print((tmp_path / "kuberay-operator.log").read_text()[-6000:])


def test_the_operator_elects_itself_and_makes_a_clusters_objects(
    cluster: Cluster, namespace: str, operator: subprocess.Popen[bytes]
) -> None:
    """Lease, head pod, worker pods, service, account and role appear; all go again with the RayCluster."""
    core = f"/api/v1/namespaces/{namespace}"
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/ray-operator-leader"
    held = cluster.eventually(lease, lambda reply: reply.status == 200 and reply.json["spec"].get("holderIdentity"))
    assert held.json["spec"]["leaseDurationSeconds"] == 15
    rays = f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters"
    cluster.create(rays, ray_cluster("demo"))
    pods = f"{core}/pods?labelSelector=ray.io/cluster=demo"
    found = cluster.eventually(pods, lambda reply: len(reply.json["items"]) == 3, timeout_s=60).json["items"]
    groups = sorted(pod["metadata"]["labels"]["ray.io/group"] for pod in found)
    assert groups == ["headgroup", "small", "small"]
    assert {pod["metadata"]["ownerReferences"][0]["kind"] for pod in found} == {"RayCluster"}
    head = next(pod for pod in found if pod["metadata"]["labels"]["ray.io/node-type"] == "head")
    assert [container["name"] for container in head["spec"]["containers"]] == ["ray-head", "autoscaler"]
    assert cluster.get(f"{core}/services/demo-head-svc")["spec"]["clusterIP"] == "None"
    cluster.eventually(f"{core}/serviceaccounts/demo", lambda reply: reply.status == 200)
    roles = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    for made in ("roles/demo", "rolebindings/demo"):
        cluster.eventually(f"{roles}/{made}", lambda reply: reply.status == 200)
    status = cluster.eventually(f"{rays}/demo", lambda reply: reply.json.get("status", {}).get("desiredWorkerReplicas"))
    assert status.json["status"]["desiredWorkerReplicas"] == 2
    events = cluster.get(f"{core}/events?fieldSelector=involvedObject.kind=RayCluster")["items"]
    assert {"CreatedService", "CreatedHeadPod", "CreatedWorkerPod"} <= {event["reason"] for event in events}
    cluster.http("DELETE", f"{rays}/demo", {"propagationPolicy": "Background"})
    cluster.eventually(pods, lambda reply: not reply.json["items"], timeout_s=90)
    assert operator.poll() is None
