"""`python -m tidegate.local.agent`: runs the node agent until SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from pathlib import Path

from tidegate.kube.access import Access, AccessError
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.local.agent.agent import Agent
from tidegate.local.agent.house.moving import leave, move_in
from tidegate.local.agent.pod.facts import BackOff
from tidegate.local.agent.settings import Settings
from tidegate.local.lock import HeldError, hold


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tidegate-agent", description="Runs the pods of one Kubernetes node as processes of this machine."
    )
    add = parser.add_argument
    add("--kubeconfig", type=Path, help="the API server and who to be there (default: as kubectl finds it)")
    add("--data-dir", type=Path, required=True, help="folder for pods, logs and records; kept between starts")
    add("--node-name", default=socket.gethostname().lower(), help="name of the Node (default: this machine's)")
    add("--schedule", action="store_true", help="bind pods that no scheduler has bound; for a server without one")
    add("--isolation", choices=["auto", "namespaces", "loopback"], default="auto", help="how pods are kept apart")
    add("--images", type=Path, help="your image catalogue (default: images.yaml in the data folder)")
    add("--pod-cidr", default="", help="addresses for pods, e.g. 10.200.0.0/24 (default: a free range)")
    add("--api-host-for-pods", default="", help="how pods name the API server; must be in its certificate")
    add("--reserve", default="", help="resources kept from pods, e.g. cpu=500m,memory=1Gi")
    add("--capacity", default="", help="resources to declare instead of the machine's, e.g. cpu=8")
    add("--gpus", help="GPU devices to hand out, e.g. 0,1 (default: what nvidia-smi lists)")
    add("--labels", default="", help="labels of the Node, e.g. zone=desk")
    add("--cgroup", default="", help="cgroup v2 folder to make groups in (default: the root, if it may be written)")
    add("--listen", default="127.0.0.1", help="address for logs and exec (default: %(default)s)")
    add("--port", type=int, default=0, help="port for logs and exec (default: any free one)")
    add("--tls-cert", type=Path, help="certificate for logs and exec; without it they are not served")
    add("--tls-key", type=Path, help="its key")
    add("--client-ca", type=Path, help="authority whose certificates may ask for logs and exec")
    add("--log-bytes", type=int, default=10 << 20, help="size at which a container's log is rotated")
    add("--log-files", type=int, default=5, help="log files kept per container")
    add("--back-off-base", type=float, default=10.0, help="seconds before the second restart of a container")
    add("--stop-pods", action="store_true", help="stop all pods at the end, instead of leaving them running")
    add("--verbose", action="store_true", help="say more")
    return parser


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(",") if pair)


def settings_of(told: argparse.Namespace) -> Settings:
    return Settings(
        data_dir=told.data_dir.resolve(),
        node_name=told.node_name,
        schedule=told.schedule,
        isolation=told.isolation,
        images=told.images,
        pod_cidr=told.pod_cidr,
        api_host_for_pods=told.api_host_for_pods,
        reserve=_pairs(told.reserve),
        capacity=_pairs(told.capacity),
        gpus=tuple(told.gpus.split(",")) if told.gpus else None,
        labels=_pairs(told.labels),
        cgroup=told.cgroup,
        listen=told.listen,
        port=told.port,
        certificate=told.tls_cert,
        key=told.tls_key,
        client_ca=told.client_ca,
        log_bytes=told.log_bytes,
        log_files=told.log_files,
        back_off=BackOff(base_s=told.back_off_base),
        stop_pods=told.stop_pods,
    )


def moved(told: argparse.Namespace, api_url: str) -> tuple[socket.socket | None, str]:
    """An ordinary user's agent moves into a house of its own, where it may make namespaces; or why it cannot."""
    if told.isolation == "loopback" or os.geteuid() == 0:
        return None, ""
    try:
        return move_in(told.data_dir.resolve(), api_url=api_url, listen=told.listen, port=told.port), ""
    except OSError as error:
        return None, f"a user namespace cannot be used: {error}"


async def serve(told: argparse.Namespace, access: Access, ear: socket.socket | None, why_not: str) -> None:
    client = connect(access, user_agent="tidegate-agent")
    try:
        agent = Agent(client, settings_of(told), api_url=access.server, ear=ear, house=why_not)
        running = asyncio.create_task(agent.run())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, running.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await running
        if ear is not None and not agent.has_running_pods():
            leave(told.data_dir.resolve())
    finally:
        await client.close()


def main() -> int:
    told = arguments().parse_args()
    logging.basicConfig(
        level=logging.DEBUG if told.verbose else logging.INFO, format="%(asctime)s %(name)s: %(message)s"
    )
    try:
        hold(told.data_dir / "agent.lock")
        access = load_access(told.kubeconfig, None)
        ear, why_not = moved(told, access.server)
        asyncio.run(serve(told, access, ear, why_not))
    except HeldError as held:
        sys.stderr.write(f"An agent works in {told.data_dir} already (process {held.pid}). Stop it first.\n")
        return 1
    except (AccessError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
