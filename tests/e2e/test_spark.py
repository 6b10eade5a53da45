"""The published Spark, unmodified, on the embedded control plane: spark-submit runs SparkPi with executors as pods."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Cluster, Embedded
from tools.build_kube import cache

pytestmark = pytest.mark.kube
PYSPARK = "4.3.0"


def spark_home() -> Path:
    """The installed pyspark of the cache, put there on first use."""
    venv = cache().parent / f"pyspark-{PYSPARK}-py{sys.version_info.major}.{sys.version_info.minor}"
    if not (venv / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        pip = [str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"pyspark=={PYSPARK}"], check=True)
        (venv / "complete").touch()
    return next(venv.glob("lib/python*/site-packages/pyspark"))


@pytest.fixture(scope="module")
def spark() -> Path:
    if shutil.which("java") is None:
        pytest.skip("java is not installed, and Spark needs it. Install Java 17 or newer to run this test.")
    return spark_home()


@pytest.fixture
def machine(spark: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Control plane and node agent; the agent finds Spark by SPARK_HOME, as a user's would."""
    monkeypatch.setenv("SPARK_HOME", str(spark))
    with Embedded(agent=True) as cluster:
        yield cluster


def driver_address(cluster: Cluster) -> str:
    """An address of this machine that pods reach: their gateway, or loopback where they have no own network."""
    node = cluster.get("/api/v1/nodes/local")
    address: str = node["metadata"].get("annotations", {}).get("tidegate.dev/pod-gateway", "127.0.0.1")
    return address


def submit(cluster: Cluster, spark: Path, namespace: str, folder: Path) -> subprocess.CompletedProcess[str]:
    address = driver_address(cluster)
    settings = {
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.container.image": "spark",
        "spark.kubernetes.authenticate.oauthToken": cluster.token,
        "spark.kubernetes.authenticate.caCertFile": str(cluster.ca_file),
        "spark.executor.instances": "2",
        "spark.executor.memory": "512m",
        "spark.kubernetes.executor.request.cores": "100m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
    }
    command = [str(spark / "bin" / "spark-submit"), "--master", f"k8s://{cluster.url}", "--deploy-mode", "client"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    env = os.environ | {
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_IP": address,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "HOME": str(folder),
        "KUBECONFIG": str(folder / "none"),
    }
    pi = spark / "examples" / "src" / "main" / "python" / "pi.py"
    return subprocess.run(
        [*command, str(pi), "4"], env=env, cwd=folder, capture_output=True, text=True, timeout=400, check=False
    )


def test_spark_pi_runs_on_executors_that_are_pods(machine: Cluster, spark: Path, tmp_path: Path) -> None:
    """Client mode, two static executors: the sum comes back, and every executor pod is cleaned away."""
    namespace = machine.namespace("spark-")
    pods = f"/api/v1/namespaces/{namespace}/pods"
    with machine.watch(pods, {"resourceVersion": machine.get(pods)["metadata"]["resourceVersion"]}) as watch:
        done = submit(machine, spark, namespace, tmp_path)
        assert done.returncode == 0, done.stderr[-4000:]
        assert re.search(r"Pi is roughly 3\.1\d", done.stdout)
        machine.eventually(pods, lambda reply: not reply.json["items"], timeout_s=60)
        seen = {event["object"]["metadata"]["name"] for event in watch.until("DELETED")}
    assert len(seen) >= 1
    assert all("-exec-" in name for name in seen)
