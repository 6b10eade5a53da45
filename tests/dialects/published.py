"""Definitions that other projects publish, read from their Go modules; kept in Go's own cache, never here."""

from __future__ import annotations

import json
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

Json = Any

# module: (version, folders or files with CRDs in it)
MODULES = {
    "sigs.k8s.io/kueue": ("v0.19.2", "config/components/crd/bases"),
    "github.com/ray-project/kuberay/ray-operator": ("v1.6.0", "config/crd/bases"),
    "github.com/kubeflow/spark-operator/v2": ("v2.4.0", "config/crd/bases"),
    "github.com/kubeflow/training-operator": ("v1.9.0", "manifests/base/crds"),
    "github.com/kubeflow/mpi-operator": ("v0.6.0", "manifests/base"),
    "github.com/kubeflow/trainer/v2": ("v2.0.0", "manifests/base/crds"),
    "sigs.k8s.io/jobset": ("v0.8.0", "config/components/crd/bases"),
    "sigs.k8s.io/lws": ("v0.7.0", "config/crd/bases"),
    "github.com/project-codeflare/appwrapper": ("v1.1.2", "config/crd/bases"),
    "sigs.k8s.io/scheduler-plugins": ("v0.33.5", "config/crd/bases"),
    "volcano.sh/volcano": ("v1.10.0", "config/crd/volcano/bases"),
}


@lru_cache(maxsize=32)
def definitions(module: str) -> tuple[Json, ...]:
    """The CustomResourceDefinitions of a module; downloaded where Go has not done so before."""
    version, folder = MODULES[module]
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    where = json.loads(done.stdout or "{}").get("Dir")
    assert where, f"{module} {version} cannot be had: {done.stdout[-300:]}{done.stderr[-300:]}"
    found = []
    for file in sorted((Path(where) / folder).glob("*.yaml")):
        for document in yaml.load_all(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                found.append(document)
    assert found, f"{module} has no definitions in {folder}"
    return tuple(found)
