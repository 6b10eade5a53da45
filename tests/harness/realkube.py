"""A real control plane on loopback: etcd and kube-apiserver, with controller-manager and scheduler when asked."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.harness import certificates, processes
from tests.harness.cluster import Cluster
from tools.build_kube import CONTROL_PLANE, assets, missing

ADMIN_TOKEN = "admin-token-of-a-test"


def missing_programs() -> list[str]:
    """The programs of the real control plane that are not built yet."""
    return missing(CONTROL_PLANE, assets())


def write_kubeconfig(path: Path, *, url: str, ca: Path, token: str) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": str(ca)}}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
    }
    path.write_text(yaml.safe_dump(config))
    path.chmod(0o600)


@dataclass(kw_only=True)
class RealKube:
    """Starts and stops the programs; `cluster` is there between `start` and `stop`.

    `durable=False` spares etcd its fsyncs, which functional tests do not need and benchmarks must not do.
    """

    controllers: bool = True
    scheduler: bool = False
    durable: bool = False
    apiserver_flags: list[str] = field(default_factory=list)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="realkube-")))
    cluster: Cluster = field(init=False)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, init=False)
    ready_s: float = field(default=0, init=False)

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop(keep_logs=kind is not None)

    def start(self, *, timeout_s: float = 90) -> Cluster:
        """Start everything that was asked for; returns when the server says it is ready."""
        started = time.monotonic()
        tls = certificates.serving(self.folder)
        certificates.signing_key(self.folder / "sa.key")
        etcd = self._start_etcd()
        url = self._start_apiserver(etcd, tls)
        kubeconfig = self.folder / "kubeconfig"
        write_kubeconfig(kubeconfig, url=url, ca=tls.ca, token=ADMIN_TOKEN)
        self.cluster = Cluster(
            name="real", url=url, token=ADMIN_TOKEN, ca_file=tls.ca, kubeconfig=kubeconfig, folder=self.folder
        )
        try:
            self._wait_until_ready(started + timeout_s)
            self.ready_s = time.monotonic() - started
            if self.controllers:
                self._start_controllers(tls)
            if self.scheduler:
                self._run("kube-scheduler", f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0")
        except BaseException:
            self.stop(keep_logs=True)
            raise
        return self.cluster

    def stop(self, *, keep_logs: bool = False) -> None:
        """Stop everything, newest first; the folder goes too unless its logs are wanted."""
        if hasattr(self, "cluster"):
            self.cluster.close()
        for name, process in reversed(self.running.items()):
            # Only etcd has anything to put in order at its end.
            processes.stop(process) if name == "etcd" and self.durable else processes.kill(process)
        self.running.clear()
        if keep_logs:
            print(f"logs of the real control plane: {self.folder}/*.log")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *flags: str) -> None:
        command = [str(assets() / program), *flags]
        self.running[program] = processes.start(program, command, logs=self.folder)

    def _start_etcd(self) -> str:
        client, peer = (f"http://127.0.0.1:{processes.free_port()}" for _ in range(2))
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--log-level=warn",
            f"--unsafe-no-fsync={'false' if self.durable else 'true'}",
        )
        return client

    def _start_apiserver(self, etcd: str, tls: certificates.Serving) -> str:
        port = processes.free_port()
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{ADMIN_TOKEN},admin,admin-uid,"system:masters"\n')
        self._run(
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={tls.cert}",
            f"--tls-private-key-file={tls.key}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.folder / 'sa.key'}",
            f"--service-account-signing-key-file={self.folder / 'sa.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
            "--allow-privileged=true",
            *self.apiserver_flags,
        )
        return f"https://127.0.0.1:{port}"

    def _start_controllers(self, tls: certificates.Serving) -> None:
        self._run(
            "kube-controller-manager",
            f"--kubeconfig={self.cluster.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            "--use-service-account-credentials=false",
            f"--service-account-private-key-file={self.folder / 'sa.key'}",
            f"--root-ca-file={tls.ca}",
            "--allocate-node-cidrs=false",
            "--enable-hostpath-provisioner=false",
        )

    def _wait_until_ready(self, deadline: float) -> None:
        while not self._is_ready():
            for name, process in self.running.items():
                assert process.poll() is None, f"{name} ended: {(self.folder / f'{name}.log').read_text()[-1500:]}"
            assert time.monotonic() < deadline, f"kube-apiserver is not ready; logs in {self.folder}"
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            return self.cluster.http("GET", "/readyz", timeout_s=5).status == 200
        except OSError:
            return False
