"""CPU and memory limits by cgroup v2, where this user may make groups with those controllers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate.model.quantity import Quantity

_NEEDED = {"cpu", "memory"}
_PERIOD_US = 100_000


@dataclass(frozen=True, slots=True)
class Cgroups:
    """`root` is None where limits cannot be enforced; `reason` says why, and is shown on the Node."""

    root: Path | None
    reason: str

    def group_for(self, pod_uid: str, container: Mapping[str, Any], attempt: int) -> str | None:
        """A group with the container's limits, or None without cgroups. A fresh one for each attempt, since a group
        counts its kills for ever."""
        if self.root is None:
            return None
        pod = self.root / f"pod-{pod_uid}"
        pod.mkdir(exist_ok=True)
        _enable(pod)
        group = pod / f"{container['name']}-{attempt}"
        group.mkdir(exist_ok=True)
        for file, value in limits_of(container).items():
            (group / file).write_text(value)
        return str(group)

    def remove(self, pod_uid: str) -> None:
        """Removes a pod's groups; they are empty once its processes are gone."""
        if self.root is None:
            return
        pod = self.root / f"pod-{pod_uid}"
        for folder, _, _ in os.walk(pod, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()


def limits_of(container: Mapping[str, Any]) -> dict[str, str]:
    """The group's files: hard limits, and CPU weight in proportion to what was requested."""
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    files: dict[str, str] = {}
    if "cpu" in limits:
        files["cpu.max"] = f"{max(1000, Quantity.parse(str(limits['cpu'])).milli * _PERIOD_US // 1000)} {_PERIOD_US}"
    if "memory" in limits:
        files["memory.max"] = str(Quantity.parse(str(limits["memory"])).value)
        files["memory.oom.group"] = "1"
    if "cpu" in requests or "cpu" in limits:
        milli = Quantity.parse(str(requests.get("cpu", limits.get("cpu")))).milli
        files["cpu.weight"] = str(min(10_000, max(1, milli * 100 // 1000)))
    return files


def find(wanted: str, node_name: str) -> Cgroups:
    """The folder to use. Without `wanted`, the root of the hierarchy, which only root may write."""
    base = Path(wanted) if wanted else _mount_point()
    if base is None:
        return Cgroups(None, "this machine has no cgroup v2")
    try:
        present = set((base / "cgroup.controllers").read_text().split())
        if missing := _NEEDED - present:
            return Cgroups(None, f"{base} has no {' and '.join(sorted(missing))} controller")
        _enable(base)
        root = base / f"tidegate-{node_name}"
        root.mkdir(exist_ok=True)
        _enable(root)
    except OSError as error:
        return Cgroups(None, f"{base} cannot be used: {error.strerror}")
    return Cgroups(root, "enforced")


def _mount_point() -> Path | None:
    for line in Path("/proc/self/mounts").read_text().splitlines() if Path("/proc/self/mounts").exists() else []:
        fields = line.split()
        if fields[2] == "cgroup2":
            return Path(fields[1])
    return None


def _enable(group: Path) -> None:
    (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(_NEEDED)))
