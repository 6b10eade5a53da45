"""Kueue's own manager against a real control plane: its definitions, its webhooks, its certificates.

It makes the certificate of its webhooks itself and keeps it in a Secret, as it does in a cluster; the server finds the
webhooks by a Service that is another name for this machine.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.dialects.peers.programs import program
from tests.harness import Cluster, processes
from tools.build_kube import PROGRAMS, assets, go, module_folder

Json = Any
SYSTEM, SERVICE, SECRET = "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
HOOKS = "/apis/admissionregistration.k8s.io/v1"
# The kinds Kueue integrates, at the versions it is built with, and where their modules keep the definitions.
MODULES = {
    "sigs.k8s.io/kueue": "config/components/crd/bases",
    "sigs.k8s.io/jobset": "config/components/crd/bases",
    "sigs.k8s.io/lws": "config/crd/bases",
    "github.com/ray-project/kuberay/ray-operator": "config/crd/bases",
    "github.com/kubeflow/mpi-operator": "manifests/base",
    "github.com/kubeflow/training-operator": "manifests/base/crds",
    "github.com/kubeflow/trainer/v2": "manifests/base/crds",
    "github.com/kubeflow/spark-operator/v2": "config/crd/bases",
    "github.com/project-codeflare/appwrapper": "config/crd/bases",
}
FRAMEWORKS = [
    "batch/job", "kubeflow.org/mpijob", "ray.io/rayjob", "ray.io/raycluster", "ray.io/rayservice",
    "jobset.x-k8s.io/jobset", "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob", "kubeflow.org/jaxjob", "workload.codeflare.dev/appwrapper",
    "trainer.kubeflow.org/trainjob", "sparkoperator.k8s.io/sparkapplication", "pod", "deployment", "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
]  # fmt: skip
# What `--explain` says must be switched on; and nothing that would listen on more than this machine.
GATES = {"SparkApplicationIntegration": True, "ElasticJobsViaWorkloadSlices": True, "VisibilityOnDemand": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """How it is installed."""

    modules: Mapping[str, str]
    frameworks: Sequence[str]
    asked: bool
    """Whether the server asks its webhooks. Else they are there, which it insists on, and concern nothing."""
    more: Mapping[str, Json]
    """What else its Configuration says."""
    flags: Sequence[str] = ()


SHARES = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
TOLD = {"fairSharing": SHARES, "featureGates": GATES}
JUDGE = Setting(MODULES, FRAMEWORKS, asked=True, more=TOLD, flags=["--zap-log-level=2"])


def _documents(module: str, *parts: str) -> Iterator[Json]:
    where = Path(go("list", "-m", "-f", "{{.Dir}}", module, cwd=module_folder(PROGRAMS["kueue"])).strip(), *parts)
    for file in sorted(where.glob("*.yaml")) if where.is_dir() else [where]:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        yield from (one for one in yaml.load_all(file.read_text(), Loader=loader) if isinstance(one, dict))


def _service(port: int, path: str) -> Json:
    return {"service": {"namespace": SYSTEM, "name": SERVICE, "path": path, "port": port}}


def _install_definitions(cluster: Cluster, port: int, modules: Mapping[str, str]) -> None:
    waiting = []
    for module, folder in modules.items():
        for definition in _documents(module, folder):
            if definition.get("kind") != "CustomResourceDefinition":
                continue
            spec = definition["spec"]
            if module.endswith("training-operator") and spec["names"]["kind"] == "MPIJob":
                continue
            if spec["group"] == "kueue.x-k8s.io" and spec["names"]["plural"] in CONVERTED:
                hook = {"clientConfig": _service(port, "/convert"), "conversionReviewVersions": ["v1"]}
                spec["conversion"] = {"strategy": "Webhook", "webhook": hook}
            cluster.create(CRDS, definition)
            version = next(one["name"] for one in spec["versions"] if one.get("storage"))
            waiting.append(f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
    for path in waiting:
        cluster.eventually(path, lambda reply: reply.status == 200)


def _install_hooks(cluster: Cluster, port: int, *, asked: bool) -> None:
    # As Kueue's own installation leaves its namespace and Kubernetes' alone.
    own = [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", SYSTEM]}]
    for config in _documents("sigs.k8s.io/kueue", "config/components/webhook/manifests.yaml"):
        config["metadata"]["name"] = "kueue-" + config["metadata"]["name"]
        for hook in config["webhooks"]:
            hook["clientConfig"] = _service(port, hook["clientConfig"]["service"]["path"])
            hook["namespaceSelector"] = {"matchExpressions": own}
            if not asked:
                hook["objectSelector"] = {"matchLabels": {"tidegate.dev/asked": "never"}}
        cluster.create(f"{HOOKS}/{config['kind'].lower()}s", config)


def _configuration(folder: Path, port: int, how: Setting) -> Path:
    ports = [processes.free_port() for _ in range(2)]
    content = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": SYSTEM,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports[0]}"},
        "metrics": {"bindAddress": f"127.0.0.1:{ports[1]}"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder / "certificates")},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": True, "webhookServiceName": SERVICE, "webhookSecretName": SECRET},
        "integrations": {"frameworks": [*how.frameworks]},
        **how.more,
    }
    path = folder / "kueue.json"
    path.write_text(json.dumps(content))
    return path


def _mount_certificates(cluster: Cluster, folder: Path, process: subprocess.Popen[bytes]) -> None:
    """What the kubelet does for a Secret that is mounted."""
    secret = f"/api/v1/namespaces/{SYSTEM}/secrets/{SECRET}"
    reply = cluster.eventually(
        secret, lambda reply: "tls.crt" in (reply.json.get("data") or {}) or process.poll() is not None
    )
    assert process.poll() is None, (folder / "kueue.log").read_text()[-3000:]
    kept = reply.json["data"]
    (folder / "certificates").mkdir(exist_ok=True)
    for name, content in kept.items():
        (folder / "certificates" / name).write_bytes(base64.b64decode(content))


def _is_serving(cluster: Cluster) -> bool:
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "asked"}}
    path = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors?dryRun=All"
    return cluster.http("POST", path, {**flavor, "spec": {}}).status == 201


def install(cluster: Cluster, how: Setting = JUDGE) -> int:
    """All that it needs to find when it starts; the port that its webhooks will be asked at."""
    port = processes.free_port()
    cluster.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    service = {"metadata": {"name": SERVICE}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    cluster.create(f"/api/v1/namespaces/{SYSTEM}/services", service)
    cluster.create(f"/api/v1/namespaces/{SYSTEM}/secrets", {"metadata": {"name": SECRET}})
    _install_definitions(cluster, port, how.modules)
    _install_hooks(cluster, port, asked=how.asked)
    return port


def start(cluster: Cluster, folder: Path, port: int, how: Setting = JUDGE) -> subprocess.Popen[bytes]:
    """The manager, with its certificates; its log is in `folder`."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "KUBECONFIG": str(cluster.kubeconfig)}
    command = [str(assets() / "kueue"), f"--config={_configuration(folder, port, how)}", *how.flags]
    process = processes.start("kueue", command, logs=folder, env=env)
    try:
        _mount_certificates(cluster, folder, process)
    except BaseException:
        processes.kill(process)
        raise
    return process


@contextmanager
def running(cluster: Cluster, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Kueue's manager, serving its webhooks; left out where it is not built."""
    program("kueue")
    process = start(cluster, folder, install(cluster))
    try:
        cluster.eventually("/version", lambda _: _is_serving(cluster) or process.poll() is not None)
        assert process.poll() is None, (folder / "kueue.log").read_text()[-3000:]
        yield process
    finally:
        processes.kill(process)
