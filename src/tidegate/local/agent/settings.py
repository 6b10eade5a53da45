"""What an agent is told at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate.local.agent.pod.facts import BackOff


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be chosen. Only the data folder and the node's name have no default."""

    data_dir: Path
    node_name: str
    schedule: bool = False
    """Bind pods that no scheduler has bound; a real cluster has one for that."""
    isolation: str = "auto"
    images: Path | None = None
    """The user's catalogue; `images.yaml` in the data folder unless given."""
    pod_cidr: str = ""
    api_host_for_pods: str = ""
    """How pods name the API server; it must be in the server's certificate. Empty: a name or address that fits."""
    reserve: Mapping[str, str] = field(default_factory=dict)
    """Kept from pods, per resource."""
    capacity: Mapping[str, str] = field(default_factory=dict)
    """Instead of what the machine has, per resource."""
    gpus: tuple[str, ...] | None = None
    """Devices to hand out; None: ask the driver."""
    pods_most: int = 110
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, Any], ...] = ()
    cgroup: str = ""
    """A cgroup v2 folder to make pods' groups in; empty: the root, if it may be written."""
    listen: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    log_bytes: int = 10 << 20
    log_files: int = 5
    back_off: BackOff = field(default_factory=BackOff)
    heartbeat_s: float = 10.0
    stop_pods: bool = False

    @property
    def catalogue(self) -> Path:
        return self.images or self.data_dir / "images.yaml"
