"""What people make with other tools, for commands to find."""

from __future__ import annotations

from pathlib import Path

from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.resources import JOBS, NAMESPACES


async def make_job(kubeconfig: str, namespace: str, name: str, **annotations: str) -> None:
    client = connect(load_access(Path(kubeconfig)))
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "host"}]}}
    meta = {"name": name, "annotations": {f"tidegate.dev/{key}": value for key, value in annotations.items()}}
    await client.create(JOBS, {"metadata": meta, "spec": {"template": template}}, namespace)
    await client.close()


async def make_namespace(kubeconfig: str, name: str, **labels: str) -> None:
    client = connect(load_access(Path(kubeconfig)))
    labels = {f"tidegate.dev/{key}": value for key, value in labels.items()}
    await client.create(NAMESPACES, {"metadata": {"name": name, "labels": labels}})
    await client.close()
