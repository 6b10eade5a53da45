"""What people ask for: applications of every kind and shape, as they would write them."""

from __future__ import annotations

from random import Random
from typing import Any

from tidegate.workloads import GATE

Json = Any
NAMESPACES = ("a", "b", "c")
URGENT = "urgent"
"""A PriorityClass."""


class Wishes:
    """Manifests made up from chance. `doors`: whether there are any to hold what people do not hold themselves;
    `leaves_open`: whether it is left to LimitRanges, now and then, what a pod requests."""

    def __init__(self, chance: Random, *, doors: bool, leaves_open: bool = False) -> None:
        self._chance = chance
        self._doors = doors
        self._leaves_open = leaves_open
        self._count = 0

    def named(self, kind: str) -> Json:
        """Metadata of a new one; now and then with the name of one that was there before."""
        self._count += 1
        number = self._count if self._chance.random() > 0.1 else self._chance.randint(1, self._count)
        return {"name": f"{kind}{number}", "namespace": self._chance.choice(NAMESPACES)}

    def job(self) -> Json:
        pods = self._chance.randint(1, 5)
        spec = {"parallelism": pods, "completions": pods, "template": self._template(self._chance.choice((1, 1, 2)))}
        spec["template"]["spec"]["restartPolicy"] = self._chance.choice(("Never", "Never", "OnFailure"))
        match self._chance.randrange(5):
            case 0:
                spec["completions"] = pods + self._chance.randint(1, 3)
            case 1:
                spec["completionMode"] = "Indexed"
            case 2:
                del spec["completions"]
        if not self._chance.randrange(4):
            spec["backoffLimit"] = 1
        if not self._chance.randrange(6):
            spec["activeDeadlineSeconds"] = self._chance.randint(20, 90)
        if self._by_hand():
            spec["suspend"] = True
        return {"metadata": self._ranked(self._elastic(self.named("job"), pods)), "spec": spec}

    def queue_job(self) -> Json:
        tasks = []
        for name in ("lead", "work")[: self._chance.randint(1, 2)]:
            replicas = self._chance.randint(1, 3)
            least = {"minReplicas": self._chance.randint(0, replicas)} if self._chance.random() < 0.5 else {}
            tasks.append({"name": name, "replicas": replicas, "template": self._template(1), **least})
        spec = {"taskSpecs": tasks, "backoffLimit": self._chance.choice((1, 9)), "priority": self._priority()}
        return {"metadata": self.named("gang"), "spec": spec}

    def pod(self) -> Json:
        return self._pod(self._ranked(self.named("pod")))

    def passed_off(self, api_version: str, kind: str, obj: Json) -> Json:
        """A pod that is said to be the application's, and looks so or does not."""
        meta = obj["metadata"]
        owner = {"apiVersion": api_version, "kind": kind, "name": meta["name"], "uid": meta["uid"]}
        owner |= {"controller": True} if self._chance.randrange(2) else {}
        seen = (obj["spec"].get("template") or {}).get("metadata") or meta
        marks = {"annotations": dict(seen.get("annotations") or {})} if self._chance.randrange(2) else {}
        named = {**self.named("sham"), "namespace": meta["namespace"], "ownerReferences": [owner], **marks}
        return self._pod(named)

    def group(self) -> list[Json]:
        """Pods that start together or not at all."""
        size, first = self._chance.randint(2, 3), self.named("group")
        marks = {
            "labels": {"tidegate.dev/pod-group": first["name"]},
            "annotations": {"tidegate.dev/pod-group-size": str(size)},
        }
        return [self._pod({**first, "name": f"{first['name']}-{number}", **marks}) for number in range(size)]

    def deployment(self) -> Json:
        replicas, meta = self._chance.randint(1, 4), self.named("web")
        template = {"metadata": {"labels": {"app": meta["name"]}}, **self._template(1)}
        template["spec"].pop("restartPolicy")
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": meta["name"]}}, "template": template}
        return {"metadata": self._elastic(meta, replicas), "spec": spec}

    def workload(self) -> Json:
        """An application that reads what it is granted itself."""
        count = self._chance.randint(1, 6)
        pods = {"name": "main", "count": count, "minCount": self._chance.randint(0, count), "requests": {"cpu": "1"}}
        return {"metadata": self.named("bare"), "spec": {"podSets": [pods], "priority": self._priority()}}

    def _template(self, cpu: int) -> Json:
        container: Json = {"name": "main", "image": "host", "resources": {"requests": {"cpu": str(cpu)}}}
        if self._leaves_open and not self._chance.randrange(3):
            container["resources"] = {}
        return {"spec": {"restartPolicy": "Never", "containers": [container]}}

    def _pod(self, metadata: Json) -> Json:
        spec = self._template(self._chance.randint(1, 2))["spec"]
        if self._by_hand():
            spec["schedulingGates"] = [{"name": GATE}]
        return {"metadata": metadata, "spec": spec}

    def _by_hand(self) -> bool:
        return not self._doors or self._chance.random() < 0.5

    def _priority(self) -> int:
        return self._chance.choice((0, 0, 5))

    def _elastic(self, metadata: Json, pods: int) -> Json:
        if self._chance.random() < 0.5:
            return metadata
        return {**metadata, "annotations": {"tidegate.dev/min-count": str(self._chance.randint(1, pods))}}

    def _ranked(self, metadata: Json) -> Json:
        if self._chance.randrange(5):
            return metadata
        return {**metadata, "labels": {"tidegate.dev/priority-class": URGENT}}
