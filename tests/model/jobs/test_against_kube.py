"""What a pod takes, against Kubernetes' own count: a ResourceQuota is charged for every pod that is created."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.harness import Cluster
from tidegate.model.jobs import pod_requests
from tidegate.model.resources import NOTHING, Resources

pytestmark = pytest.mark.kube
Json = Any
SEED, PODS = 7, 40


def _resources(chance: random.Random) -> Json:
    requests = {"cpu": f"{chance.randint(1, 900)}m", "memory": f"{chance.randint(1, 900)}Mi"}
    limits = {"cpu": f"{chance.randint(900, 2000)}m", "memory": f"{chance.randint(900, 2000)}Mi"}
    left_out = chance.choice([(), (), ("cpu",), ("memory",), ("cpu", "memory")])
    # What is not requested is taken from the limit, so there is one.
    stated = {"requests": {name: text for name, text in requests.items() if name not in left_out}}
    return stated | ({"limits": limits} if left_out or chance.random() < 0.5 else {})


def _pod(chance: random.Random, number: int) -> Json:
    def container(name: str, **more: Json) -> Json:
        return {"name": name, "image": "i", "resources": _resources(chance)} | more

    first = [
        container(f"i{index}", **({"restartPolicy": "Always"} if chance.random() < 0.5 else {}))
        for index in range(chance.randint(0, 3))
    ]
    spec: Json = {
        "initContainers": first,
        "containers": [container(f"c{index}") for index in range(chance.randint(1, 3))],
        "automountServiceAccountToken": False,
    }
    if chance.random() < 0.3:
        spec["runtimeClassName"] = "heavy"
    if chance.random() < 0.3:
        spec["resources"] = {"requests": {"cpu": f"{chance.randint(15, 20)}"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{number}"}, "spec": spec}


def test_a_quota_is_charged_what_we_count(real_cluster: Cluster) -> None:
    runtime = {
        "metadata": {"name": "heavy"},
        "handler": "h",
        "overhead": {"podFixed": {"cpu": "70m", "memory": "90Mi"}},
    }
    reply = real_cluster.http("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime)
    assert reply.status in (201, 409), reply.body
    namespace = real_cluster.namespace()
    quota = f"/api/v1/namespaces/{namespace}/resourcequotas"
    hard = {"requests.cpu": "100k", "requests.memory": "100Ti"}
    real_cluster.create(quota, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    real_cluster.eventually(f"{quota}/q", lambda reply: "used" in reply.json.get("status", {}))
    chance, counted = random.Random(SEED), NOTHING
    for number in range(PODS):
        pod = real_cluster.create(f"/api/v1/namespaces/{namespace}/pods", _pod(chance, number))
        counted += pod_requests(pod["spec"])
        used = real_cluster.get(f"{quota}/q")["status"]["used"]
        charged = Resources.parse({name.removeprefix("requests."): text for name, text in used.items()})
        assert charged == counted, f"pod {number}: {pod['spec']}"
    real_cluster.http("DELETE", f"/api/v1/namespaces/{namespace}")
