"""One node agent under test, and what tests ask of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.harness import Cluster
from tests.harness.certificates import Serving
from tests.harness.cluster import PATIENCE_S

__all__ = ["Node", "Serving", "container"]

_count = 0


def container(command: str = "", **more: Any) -> dict[str, Any]:
    """A container that runs a shell command on this machine's programs."""
    base: dict[str, Any] = {"name": "main", "image": "host"}
    if command:
        base["command"] = ["sh", "-c", command]
    return base | more


@dataclass
class Node:
    """Starts, kills and restarts an agent; the data folder stays."""

    cluster: Cluster
    folder: Path
    tls: Serving
    isolation: str = "namespaces"
    flags: tuple[str, ...] = ()
    name: str = ""
    process: subprocess.Popen[bytes] | None = None
    pods: list[tuple[str, str]] = field(default_factory=list)
    kubeconfig: Path | None = None

    def command(self) -> list[str]:
        """The interpreter that runs the agent."""
        return [sys.executable]

    def __post_init__(self) -> None:
        global _count
        _count += 1
        self.name = f"node-{os.getpid()}-{_count}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self, *flags: str) -> None:
        """Starts the agent and waits until its Node is ready and seen."""
        command = [*self.command(), "-m", "tidegate.local.agent", "--data-dir", str(self.data)]
        command += ["--node-name", self.name, "--kubeconfig", str(self.kubeconfig or self.cluster.kubeconfig)]
        command += ["--isolation", self.isolation, "--schedule"]
        command += ["--tls-cert", str(self.tls.cert), "--tls-key", str(self.tls.key), "--client-ca", str(self.tls.ca)]
        command += ["--back-off-base", "0.2", "--verbose", *self.flags, *flags]
        with (self.folder / "agent.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.cluster.eventually(f"/api/v1/nodes/{self.name}", lambda reply: reply.status == 200)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE_S)

    def dispose(self) -> None:
        """Deletes every pod and waits until nothing of them is left, then ends the agent and its Node."""
        for namespace, name in self.pods:
            # A busy server may answer that it cannot now, and the pod would stay.
            self.eventually(
                lambda namespace=namespace, name=name: self.delete(namespace, name, grace_s=0) in (200, 404),  # type: ignore[misc]
                what=f"pod {name} is deleted",
            )
        if self.process is not None and self.process.poll() is None:
            try:
                self.eventually(lambda: not self._left(), what="pods' folders are removed", told=self._told)
            finally:
                self.stop()
        self.cluster.http("DELETE", f"/api/v1/nodes/{self.name}")

    def run(self, namespace: str, *containers: dict[str, Any], name: str = "pod", **spec: Any) -> dict[str, Any]:
        """Creates a pod for this node; `restartPolicy: Never` unless told otherwise."""
        meta = {"name": name, "namespace": namespace, **spec.pop("metadata", {})}
        wanted = {"restartPolicy": "Never", "containers": list(containers), "terminationGracePeriodSeconds": 5}
        wanted["nodeSelector"] = {"kubernetes.io/hostname": self.name}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": wanted | spec}
        self.pods.append((namespace, name))
        return self.cluster.create(f"/api/v1/namespaces/{namespace}/pods", body)

    def strangers(self) -> list[str]:
        """Pods that wait for any node: this one would take them, and they would stay on it."""
        found = self.cluster.get("/api/v1/pods?fieldSelector=spec.nodeName%3D")["items"]
        return [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in found if not _chosen(pod)]

    def _left(self) -> list[Path]:
        return list((self.data / "pods").glob("*"))

    def _told(self) -> str:
        """Whose it is that is left, and what the agent said last."""
        owners = [each.read_text() for each in (self.data / "pods").glob("*/pod.json")]
        files = [str(each.relative_to(self.data)) for each in (self.data / "pods").glob("**/*")][:20]
        log = (self.folder / "agent.log").read_text(errors="replace").splitlines()[-20:]
        return "\n".join(["", *owners, *files, *log])

    def delete(self, namespace: str, name: str, *, grace_s: int | None = None) -> int:
        """The server's answer."""
        query = "" if grace_s is None else f"?gracePeriodSeconds={grace_s}"
        return self.cluster.http("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}{query}").status

    def until(
        self, namespace: str, accept: Callable[[dict[str, Any]], Any], name: str = "pod", timeout_s: float = PATIENCE_S
    ) -> dict[str, Any]:
        """The pod, as soon as `accept` is true of it."""
        path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        reply = self.cluster.eventually(path, lambda r: r.status == 200 and accept(r.json), timeout_s=timeout_s)
        found: dict[str, Any] = reply.json
        return found

    def ended(self, namespace: str, name: str = "pod", timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        return self.until(
            namespace, lambda pod: pod["status"]["phase"] in ("Succeeded", "Failed"), name, timeout_s=timeout_s
        )

    def running(self, namespace: str, name: str = "pod") -> dict[str, Any]:
        def is_running(pod: dict[str, Any]) -> bool:
            return pod["status"]["phase"] == "Running"

        return self.until(namespace, is_running, name)

    def gone(self, namespace: str, name: str = "pod") -> None:
        self.cluster.eventually(f"/api/v1/namespaces/{namespace}/pods/{name}", lambda reply: reply.status == 404)

    def log(self, namespace: str, name: str = "pod", **query: str) -> str:
        asked = "&".join(f"{key}={value}" for key, value in query.items())
        reply = self.cluster.http("GET", f"/api/v1/namespaces/{namespace}/pods/{name}/log?{asked}")
        assert reply.status == 200, reply.body
        return reply.body.decode()

    def eventually(
        self,
        condition: Callable[[], Any],
        *,
        what: str,
        timeout_s: float = PATIENCE_S,
        told: Callable[[], str] = lambda: "",
    ) -> None:
        """Returns when it holds; `told` says more where it does not come to pass."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}{told()}"
            time.sleep(0.05)


def _chosen(pod: dict[str, Any]) -> bool:
    """Whether a pod names its node, as all of these tests do."""
    return "kubernetes.io/hostname" in (pod["spec"].get("nodeSelector") or {})


def processes_with(marker: str) -> list[int]:
    """Processes whose command line holds this text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if marker in words:
                found.append(int(entry.name))
    return found


def terminate(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)
