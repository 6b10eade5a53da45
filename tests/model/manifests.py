"""Manifests for tests: one good object of each kind, and the ways in which they can be wrong."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

Json = Any

TEMPLATE: Json = {"spec": {"containers": [{"name": "main", "image": "host", "command": ["true"]}]}}

GOOD: dict[str, Json] = {
    "ResourceFlavor": {
        "spec": {
            "nodeLabels": {"gpu": "a100"},
            "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "overcommit": {"cpu": "1.5", "memory": 1},
        }
    },
    "ClusterQueue": {
        "spec": {
            "parent": "company",
            "weight": 2,
            "quotas": [
                {
                    "flavor": "default",
                    "resources": {
                        "cpu": {"nominalQuota": "16", "borrowingLimit": 8, "lendingLimit": "4"},
                        "nvidia.com/gpu": {"nominalQuota": 0},
                    },
                },
                {"flavor": "a100", "resources": {"memory": {"nominalQuota": "64Gi"}}},
            ],
            "ordering": "Strict",
            "patience": "90s",
            "preemption": {"withinQueue": "LowerPriority"},
            "policy": "fifo",
            "namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a", "b"]}]},
            "submitters": {"users": ["ada"], "groups": ["staff"]},
            "stop": "Hold",
        }
    },
    "Queue": {"spec": {"clusterQueue": "research", "weight": 3, "limits": {"cpu": "8"}, "request": {"cpu": "500m"}}},
    "Workload": {
        "spec": {
            "queue": "default",
            "priority": -5,
            "owner": {
                "apiVersion": "sparkoperator.k8s.io/v1beta2",
                "kind": "SparkApplication",
                "name": "etl",
                "uid": "1",
            },
            "podSets": [
                {"name": "driver", "count": 1, "requests": {"cpu": "1"}},
                {
                    "name": "executor",
                    "count": 8,
                    "minCount": 2,
                    "maxCount": 20,
                    "step": 2,
                    "requests": {"cpu": "1", "memory": "2Gi"},
                },
            ],
            "maxRunSeconds": 3600,
        }
    },
    "QueueJob": {
        "spec": {
            "schedulingSpec": {"minAvailable": 3},
            "taskSpecs": [
                {"name": "worker", "replicas": 4, "minReplicas": 2, "template": TEMPLATE},
                {"name": "lead", "template": TEMPLATE},
            ],
        }
    },
    "TaskCluster": {"spec": {"replicas": 2, "maxReplicas": 10, "slots": 2, "template": TEMPLATE}},
    "TaskObject": {"data": {"count": "0", "limit": "50"}},
    "Task": {
        "spec": {
            "inputs": ["obj-1"],
            "image": "python",
            "command": ["python", "counter.py"],
            "env": [{"name": "A", "value": "b"}],
            "requests": {"cpu": "1"},
            "retries": {"onFailure": 2},
            "timeoutSeconds": 60,
        }
    },
}


@dataclass(frozen=True)
class Wrong:
    """A good manifest of `kind` with `value` put at `path`, and the field an error must then name.

    `<nil>` is what Kubernetes calls the object as a whole.
    """

    kind: str
    path: str
    value: Json
    field: str = ""
    rule: bool = False
    """Whether it breaks a rule between fields, which only shows once each field by itself is right."""

    @property
    def named(self) -> str:
        return self.field or self.path

    def __str__(self) -> str:
        return f"{self.kind}-{self.path}={str(self.value)[:40]}"


MANY: Json = {"name": "x", "count": 1}
WRONG = [
    Wrong("ResourceFlavor", "spec.overcommit.cpu", "-1"),
    Wrong("ResourceFlavor", "spec.overcommit.cpu", "much"),
    Wrong("ResourceFlavor", "spec.nodeLabels", ["gpu"]),
    Wrong("ResourceFlavor", "spec.tolerations[0].effect", "Never"),
    # A label that no node can have: every application that was granted the flavor was refused for its nodeSelector.
    Wrong("ResourceFlavor", "spec.nodeLabels", {"a b": "c"}, rule=True),
    Wrong("ResourceFlavor", "spec.nodeLabels.gpu", "a 100"),
    Wrong("ResourceFlavor", "spec.tolerations[0].key", "a b"),
    Wrong("ResourceFlavor", "spec.tolerations[0].value", "any", rule=True),
    Wrong("ResourceFlavor", "spec.tolerations[0].tolerationSeconds", 5, rule=True),
    # The server took it, and the operator could not read it: the whole ClusterQueue was left out without a word.
    Wrong("ClusterQueue", "spec.quotas[0].resources.cpu.nominalQuota", "1e400"),
    Wrong("ResourceFlavor", "spec.tolerations[0]", {"operator": "Equal"}, rule=True),
    Wrong("ClusterQueue", "spec.weight", 0),
    Wrong("ClusterQueue", "spec.weight", "2"),
    Wrong("ClusterQueue", "spec.parent", "Research_1"),
    Wrong("ClusterQueue", "spec.parent", "good", rule=True),
    Wrong("ClusterQueue", "spec.ordering", "Random"),
    Wrong("ClusterQueue", "spec.patience", "1 hour"),
    Wrong("ClusterQueue", "spec.patience", 3600),
    Wrong("ClusterQueue", "spec.stop", "Now"),
    Wrong("ClusterQueue", "spec.preemption.withinQueue", "FairShare"),
    Wrong("ClusterQueue", "spec.preemption.acrossQueues", "LowerOrNewerEqualPriority"),
    Wrong("ClusterQueue", "spec.quotas[0].resources.cpu.nominalQuota", "x"),
    Wrong("ClusterQueue", "spec.quotas[0].resources.cpu.nominalQuota", "-1"),
    Wrong("ClusterQueue", "spec.quotas[0].resources.cpu.nominalQuota", 1.5),
    Wrong("ClusterQueue", "spec.quotas[0].resources.cpu", {}, "spec.quotas[0].resources.cpu.nominalQuota"),
    Wrong("ClusterQueue", "spec.quotas[1].flavor", "default", "spec.quotas[1]"),
    Wrong("ClusterQueue", "spec.quotas[0].resources", {}),
    Wrong("ClusterQueue", "spec.submitters.users", ["ada", "ada"], "spec.submitters.users[1]"),
    Wrong(
        "ClusterQueue",
        "spec.namespaceSelector.matchExpressions[0]",
        {"key": "team", "operator": "Exists", "values": ["a"]},
        rule=True,
    ),
    Wrong("Queue", "spec.limits.cpu", "lots"),
    Wrong("Queue", "spec.request.cpu", [1]),
    Wrong("Queue", "spec.clusterQueue", ""),
    Wrong("Workload", "spec.podSets", []),
    Wrong("Workload", "spec.podSets", [MANY | {"name": f"p{i}"} for i in range(65)]),
    Wrong("Workload", "spec.podSets[1].name", "driver", "spec.podSets[1]"),
    Wrong("Workload", "spec.podSets[1].count", -1),
    Wrong("Workload", "spec.podSets[1].step", 0),
    Wrong("Workload", "spec.podSets[1].minCount", 9, rule=True),
    Wrong("Workload", "spec.podSets[1].maxCount", 1, rule=True),
    Wrong(
        "Workload", "spec.podSets[0]", {"name": "driver", "count": 4, "maxCount": 3}, "spec.podSets[0].maxCount", True
    ),
    Wrong("Workload", "spec.podSets[1].requests.memory", "2 Gi"),
    Wrong("Workload", "spec.priority", 2**31),
    Wrong("Workload", "spec.active", "yes"),
    Wrong("Workload", "spec.owner", {"kind": "Job", "name": "j"}, "spec.owner.apiVersion"),
    Wrong("Workload", "spec.maxRunSeconds", 0),
    Wrong("QueueJob", "spec.schedulingSpec.minAvailable", 6, rule=True),
    Wrong("QueueJob", "spec.taskSpecs[0].minReplicas", 5, rule=True),
    Wrong("QueueJob", "spec.taskSpecs[0].template", {"spec": {}}, "spec.taskSpecs[0].template.spec.containers"),
    Wrong("QueueJob", "spec.taskSpecs[1].name", "worker", "spec.taskSpecs[1]"),
    Wrong("QueueJob", "spec.backoffLimit", -1),
    Wrong("TaskCluster", "spec.slots", 0),
    Wrong("TaskCluster", "spec.replicas", -1),
    Wrong("TaskCluster", "spec", {"minReplicas": 3, "maxReplicas": 2}, "spec.maxReplicas", True),
    Wrong("TaskObject", "data", {"n": 1}, "data.n"),
    Wrong("TaskObject", "blob", {"encoding": "pickle5", "bytes": "AAAA"}, "<nil>", True),
    Wrong("TaskObject", "value", {"as": "well"}, "<nil>", True),
    Wrong("Task", "spec.function", {"ref": "m:f"}, "spec", True),
    Wrong("Task", "spec", {"command": ["true"]}, "spec", True),
    Wrong("Task", "spec", {"function": {"ref": "m:f"}, "args": ["x"]}, "spec", True),
    Wrong("Task", "spec", {"function": {"ref": "nowhere"}}, "spec.function.ref"),
    Wrong("Task", "spec.inputs", ["a", "a"], "spec.inputs[1]"),
    Wrong("Task", "spec.retries.onLoss", -1),
    Wrong("Task", "spec.timeoutSeconds", 0),
]


def good(kind: str, name: str = "good") -> Json:
    """A manifest in which everything is right."""
    return {"kind": kind, "metadata": {"name": name}} | copy.deepcopy(GOOD[kind])


def wrong(case: Wrong) -> Json:
    """A manifest in which one thing is wrong."""
    manifest = good(case.kind)
    *way, last = (int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", case.path))
    place = manifest
    for part in way:
        place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
    place[last] = case.value
    return manifest
