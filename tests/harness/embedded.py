"""The embedded control plane as a process of its own, started as its users start it."""

from __future__ import annotations

import base64
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.harness import processes
from tests.harness.cluster import PATIENCE_S, Cluster
from tidegate.local.machine import Machine


@dataclass(kw_only=True)
class Embedded:
    """Starts, kills and restarts the embedded server; `cluster` is there once `start` has returned.

    Data and port stay the same over restarts, so that clients find the server where they left it.
    """

    agent: bool = False
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="embedded-")))
    cluster: Cluster = field(init=False)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, init=False)
    ready_s: float = field(default=0, init=False)
    _port: int = field(default=0, init=False)

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop(keep_logs=kind is not None)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self, *, timeout_s: float = PATIENCE_S) -> Cluster:
        """Start the server (again), and the agent if asked; returns when requests are answered."""
        started = time.monotonic()
        kubeconfig = self.data / "kubeconfig"
        written_before = kubeconfig.stat().st_mtime_ns if kubeconfig.exists() else 0
        self._run("apiserver", Machine(self.data, port=self._port).control_plane_command())
        deadline = started + timeout_s
        try:
            self._await(lambda: kubeconfig.exists() and kubeconfig.stat().st_mtime_ns > written_before, deadline)
            self.cluster = self.attach(kubeconfig)
            self._port = int(self.cluster.url.rsplit(":", 1)[1])
            self._await(self._answers, deadline)
            self.ready_s = time.monotonic() - started
            if self.agent and "agent" not in self.running:
                self.start_agent()
        except BaseException:
            self.stop(keep_logs=True)
            raise
        return self.cluster

    def start_agent(self, *, stop_pods: bool = True, timeout_s: float = PATIENCE_S) -> None:
        """Start the node agent as `tidegate up` does; returns when its node is ready for pods."""
        self._run("agent", Machine(self.data).agent_command(stop_pods=stop_pods))
        path = "/api/v1/nodes/local"
        self.cluster.eventually(path, lambda reply: reply.status == 200 and _is_ready(reply.json), timeout_s=timeout_s)

    def kill(self, program: str = "apiserver") -> None:
        """End one program as `kill -9` does."""
        self.cluster.close()
        processes.kill(self.running.pop(program))

    def stop(self, *, keep_logs: bool = False) -> None:
        if hasattr(self, "cluster"):
            self.cluster.close()
        for _, process in reversed(self.running.items()):
            processes.stop(process)
        self.running.clear()
        if keep_logs:
            print(f"logs of the embedded control plane: {self.folder}/*.log")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, command: list[str]) -> None:
        self.running[name] = processes.start(name, command, logs=self.folder)

    def attach(self, kubeconfig: Path, *, name: str = "embedded") -> Cluster:
        """The server a kubeconfig with a token leads to, whoever runs it."""
        config = yaml.safe_load(kubeconfig.read_text())
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        if "certificate-authority-data" in server:
            ca = self.folder / "ca.crt"
            ca.write_bytes(base64.b64decode(server["certificate-authority-data"]))
        else:
            ca = Path(server["certificate-authority"])
        return Cluster(
            name=name,
            url=server["server"],
            token=user["token"],
            ca_file=ca,
            kubeconfig=kubeconfig,
            folder=self.folder,
        )

    def _answers(self) -> bool:
        try:
            return self.cluster.http("GET", "/readyz", timeout_s=5).status == 200
        except OSError:
            return False

    def _await(self, condition: object, deadline: float) -> None:
        assert callable(condition)
        while not condition():
            code = self.running["apiserver"].poll()
            log = self.folder / "apiserver.log"
            assert code is None, f"the embedded server ended with {code}: {log.read_text()[-1500:]}"
            assert time.monotonic() < deadline, f"the embedded server is not ready; its log is {log}"
            time.sleep(0.01)


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
