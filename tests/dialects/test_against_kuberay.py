"""A rendered RayCluster in the hands of the real operator: its pods are what YuniKorn was told they would be.

A pod that is larger than its placeholder loses its place in the gang, so what the operator adds must be counted.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.e2e.test_kuberay import operator, ray_cluster
from tests.harness import Cluster
from tidegate.dialects import Submission, render
from tidegate.model.jobs import pod_requests
from tidegate.model.resources import Resources

__all__ = ["operator"]
pytestmark = pytest.mark.kube
Json = Any
YUNIKORN = "yunikorn.apache.org"


@pytest.fixture
def cluster(real_cluster: Cluster) -> Cluster:
    """One server is enough: what is asked here is what the operator makes of the object."""
    return real_cluster


def test_pods_are_as_large_as_their_task_groups_say(
    cluster: Cluster, namespace: str, operator: subprocess.Popen[bytes]
) -> None:
    wanted = ray_cluster("sized")
    worker = wanted["spec"]["workerGroupSpecs"][0]
    worker["minReplicas"] = 1
    # Smaller than what the operator runs before it, to see that this is counted.
    worker["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "1Gi"}}
    rendered = render(wanted, Submission(organisation="org1", user="anna", id="1"), "yunikorn").object
    cluster.create(f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters", rendered)
    listed = f"/api/v1/namespaces/{namespace}/pods?labelSelector=ray.io/cluster=sized"
    pods = cluster.eventually(listed, lambda reply: len(reply.json["items"]) == 3, timeout_s=60).json["items"]
    for pod in pods:
        labels, annotations = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        assert pod["spec"]["schedulerName"] == "yunikorn"
        assert labels[f"{YUNIKORN}/queue"] == "root.org1.ray"
        assert labels[f"{YUNIKORN}/app-id"] == "raycluster-1"
        groups = {group["name"]: group for group in json.loads(annotations[f"{YUNIKORN}/task-groups"])}
        group = groups[annotations[f"{YUNIKORN}/task-group-name"]]
        assert group["name"] == labels["ray.io/group"]
        assert Resources.parse(group["minResource"]) == pod_requests(pod["spec"]), group["name"]
    assert operator.poll() is None
