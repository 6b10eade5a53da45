"""A container's view of the file system: this machine's own, with the pod's volumes at their mount paths.

A mount path that does not exist here must not be made on the machine's disk. Instead its nearest existing folder is
covered by an empty tmpfs into which every old entry is bound again: a *skeleton*, private to the container.
"""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH115, PTH120, PTH211
from __future__ import annotations

import os
from typing import Any

from tidegate.local.agent.runner import linux

_ENTRIES_MOST = 4096
_SKELETON = "mode=755,size=16m"
# Consoles and disks that no pod uses; leaving them out saves most of the mounts of a skeleton over /dev.
_UNUSED_DEVICES = (*(f"tty{n}" for n in range(10)), "ttyS", "ttyp", "vcs", "loop", "ram", "pty", "zram", "sd", "nvme")


def prepare(mounts: list[dict[str, Any]], staging: str) -> None:
    """Mounts every volume, outer paths first. Call in a mount namespace of one's own."""
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    ordered = sorted(mounts, key=lambda each: each["target"].count("/"))
    if any(_nearest_folder(each["target"]) == "/" for each in ordered):
        _new_root(staging)
    for each in ordered:
        _place(each)


def _place(each: dict[str, Any]) -> None:
    source, target = each["source"], os.path.realpath(each["target"])
    if not os.path.exists(target):
        _make_mount_point(target, is_folder=os.path.isdir(source))
    linux.mount(source, target, flags=linux.MS_BIND | linux.MS_REC)
    if each.get("readOnly"):
        linux.mount("none", target, flags=linux.MS_BIND | linux.MS_REMOUNT | linux.MS_RDONLY | _kept_flags(target))


def _kept_flags(path: str) -> int:
    """Flags that a remount must repeat: in a user namespace they are locked."""
    flags = os.statvfs(path).f_flag
    return flags & (linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)


def _nearest_folder(path: str) -> str:
    """The deepest existing folder above a path that is missing; the path itself if it is there."""
    path = os.path.realpath(path)
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _make_mount_point(target: str, *, is_folder: bool) -> None:
    folder = _nearest_folder(target)
    if folder != "/" and not _is_skeleton(folder):
        _cover(folder)
    os.makedirs(target if is_folder else os.path.dirname(target), exist_ok=True)
    if not is_folder:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))


_covered: set[str] = {"/"}


def _is_skeleton(folder: str) -> bool:
    return any(folder == made or folder.startswith(made.rstrip("/") + "/") for made in _covered - {"/"})


def _cover(folder: str) -> None:
    """Puts a skeleton over `folder`: an empty tmpfs with each old entry bound in its place."""
    original = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    entries = _entries(folder)
    linux.mount("tmpfs", folder, "tmpfs", linux.MS_NOSUID, _SKELETON)
    _covered.add(folder)
    for name, is_folder, link in entries:
        _bind_entry(f"/proc/self/fd/{original}/{name}", f"{folder}/{name}", is_folder=is_folder, link=link)
    os.close(original)


def _entries(folder: str) -> list[tuple[str, bool, str]]:
    with os.scandir(folder) as scan:
        found = [(e.name, e.is_dir(follow_symlinks=False), os.readlink(e.path) if e.is_symlink() else "") for e in scan]
    if folder == "/dev":
        found = [entry for entry in found if not entry[0].startswith(_UNUSED_DEVICES)]
    if len(found) > _ENTRIES_MOST:
        raise OSError(f"{folder} has {len(found)} entries, too many to mount beside: make the mount path by hand")
    return found


def _bind_entry(source: str, target: str, *, is_folder: bool, link: str) -> None:
    if link:
        os.symlink(link, target)
        return
    if is_folder:
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    linux.mount(source, target, flags=linux.MS_BIND | linux.MS_REC)


def _new_root(staging: str) -> None:
    """Moves into a root folder that new entries can be made in; everything of the old one is bound into it."""
    os.makedirs(staging, exist_ok=True)
    linux.mount("tmpfs", staging, "tmpfs", linux.MS_NOSUID, _SKELETON)
    for name, is_folder, link in _entries("/"):
        _bind_entry(f"/{name}", f"{staging}/{name}", is_folder=is_folder, link=link)
    os.chroot(staging)
    os.chdir("/")
