"""What this machine has: its resources, its devices and what it runs, as a Node tells it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidegate.local.agent.settings import Settings
from tidegate.model.quantity import Quantity

GPU = "nvidia.com/gpu"


def gpus(settings: Settings) -> tuple[str, ...]:
    """The devices to hand out: as told, else as the driver lists them."""
    if settings.gpus is not None:
        return settings.gpus
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        asked = [program, "--query-gpu=index", "--format=csv,noheader"]
        listed = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in listed.stdout.splitlines() if line.strip())


def capacity(settings: Settings, devices: tuple[str, ...]) -> dict[str, str]:
    """Everything the machine has, unless the settings say otherwise."""
    memory_kib = next(
        (line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal:")),
        "0",
    )
    disk = shutil.disk_usage(settings.data_dir)
    found = {"cpu": str(len(os.sched_getaffinity(0))), "memory": f"{memory_kib}Ki", "pods": str(settings.pods_most)}
    found["ephemeral-storage"] = f"{disk.total // 1024}Ki"
    if devices:
        found[GPU] = str(len(devices))
    return found | dict(settings.capacity)


def allocatable(whole: Mapping[str, str], reserve: Mapping[str, str]) -> dict[str, str]:
    """Capacity less what is kept from pods."""
    left = dict(whole)
    for name, kept in reserve.items():
        amount = Quantity.parse(whole.get(name, "0")) - Quantity.parse(kept)
        left[name] = str(max(amount, Quantity(0)))
    return left


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _machine_id() -> str:
    file = Path("/etc/machine-id")
    return file.read_text().strip() if file.exists() else _boot_id()


def description(version: str) -> dict[str, str]:
    """`status.nodeInfo`."""
    names = {"x86_64": "amd64", "aarch64": "arm64"}
    return {
        "architecture": names.get(platform.machine(), platform.machine()),
        "bootID": _boot_id(),
        "containerRuntimeVersion": f"tidegate://{version}",
        "kernelVersion": platform.release(),
        "kubeProxyVersion": "",
        "kubeletVersion": f"v1.36.3-tidegate-{version}",
        "machineID": _machine_id(),
        "operatingSystem": "linux",
        "osImage": platform.platform(terse=True),
        "systemUUID": _machine_id(),
    }


class Devices:
    """Which GPU belongs to which container. Kept in the pod's folder, so that a later agent gives none away twice."""

    def __init__(self, all_devices: tuple[str, ...]) -> None:
        self._all = all_devices
        self._held: dict[tuple[str, str], tuple[str, ...]] = {}

    @property
    def any(self) -> bool:
        return bool(self._all)

    def keep(self, uid: str, folder: Path) -> None:
        file = folder / "devices"
        for line in file.read_text().splitlines() if file.exists() else []:
            container, _, listed = line.partition(" ")
            self._held[(uid, container)] = tuple(listed.split(","))

    def take(self, uid: str, container: Mapping[str, Any], folder: Path) -> tuple[str, ...] | None:
        """The container's devices; None if it asks for none."""
        resources = container.get("resources") or {}
        wanted = int((resources.get("limits") or {}).get(GPU, 0))
        if not wanted:
            return None
        key = (uid, container["name"])
        if key not in self._held:
            taken = {device for devices in self._held.values() for device in devices}
            free = [device for device in self._all if device not in taken]
            if len(free) < wanted:
                raise OSError(f"{wanted} GPUs are asked for and {len(free)} are free.")
            self._held[key] = tuple(free[:wanted])
            with (folder / "devices").open("a") as file:
                file.write(f"{container['name']} {','.join(self._held[key])}\n")
        return self._held[key]

    def release(self, uid: str) -> None:
        for key in [key for key in self._held if key[0] == uid]:
            del self._held[key]
