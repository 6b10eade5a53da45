"""A pod's volumes as folders of its sandbox, and where each container finds them."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tidegate.local.agent.sandbox.environment import Objects, Place, expanded, field_value, resource_value
from tidegate.local.agent.sandbox.problems import Unrunnable
from tidegate.model.quantity import Quantity

Spec = Mapping[str, Any]
Files = dict[str, tuple[bytes, int]]
"""Relative path → content and mode."""

_FAILED = "FailedMount"


class Tokens(Protocol):
    """Where service account tokens come from; kept and renewed before they run out."""

    async def token(self, pod: Spec, audience: str, lifetime_s: int) -> str: ...


async def fill(place: Place, folder: Path, objects: Objects, tokens: Tokens) -> None:
    """Makes every volume of the pod under `folder`, or brings what is there up to date."""
    for volume in place.pod["spec"].get("volumes") or []:
        target = folder / volume["name"]
        if "emptyDir" in volume:
            if not target.is_dir():
                target.mkdir(parents=True)
                target.chmod(0o1777)
        elif host := volume.get("hostPath"):
            _check_host_path(host)
        else:
            files = await _files_of(volume, place, objects, tokens)
            replace_files(target, files)


def memory_volumes(pod: Spec, folder: Path) -> list[dict[str, Any]]:
    """The emptyDirs that are to be memory, with their limits in bytes (0: none)."""
    found = []
    for volume in pod["spec"].get("volumes") or []:
        empty = volume.get("emptyDir") or {}
        if empty.get("medium") == "Memory":
            limit = empty.get("sizeLimit")
            size = Quantity.parse(str(limit)).value if limit is not None else 0
            found.append({"path": str(folder / volume["name"]), "bytes": size})
    return found


def has_changing_files(pod: Spec) -> bool:
    """Whether some volume's content can change while the pod runs, or runs out."""
    kinds = {"configMap", "secret", "downwardAPI", "projected"}
    return any(kinds & set(volume) for volume in pod["spec"].get("volumes") or [])


def mounts_of(container: Spec, pod: Spec, folder: Path, env: Mapping[str, str]) -> list[dict[str, Any]]:
    """Source, target and mode of each mount of a container."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    found = []
    for mount in container.get("volumeMounts") or []:
        volume = volumes[mount["name"]]
        source = Path(volume["hostPath"]["path"]) if "hostPath" in volume else folder / mount["name"]
        inside = mount.get("subPath") or expanded(mount.get("subPathExpr") or "", env)
        if inside:
            source = _inside(source, inside, make="emptyDir" in volume)
        found.append({"source": str(source), "target": mount["mountPath"], "readOnly": bool(mount.get("readOnly"))})
    return found


def _inside(source: Path, inside: str, *, make: bool) -> Path:
    chosen = Path(os.path.realpath(source / inside))
    if not chosen.is_relative_to(os.path.realpath(source)):
        raise Unrunnable(
            "CreateContainerConfigError", f'subPath "{inside}" leads out of its volume. Use a path inside.'
        )
    if make:
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen


_HOST_PATH_CHECKS = {
    "Directory": (stat.S_ISDIR, "a directory"),
    "File": (stat.S_ISREG, "a file"),
    "Socket": (stat.S_ISSOCK, "a socket"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


def _check_host_path(host: Spec) -> None:
    path, kind = Path(host["path"]), host.get("type") or ""
    if kind == "DirectoryOrCreate" or (kind == "" and not path.exists()):
        path.mkdir(parents=True, exist_ok=True)
    elif kind == "FileOrCreate":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    elif kind:
        check, name = _HOST_PATH_CHECKS[kind]
        if not path.exists() or not check(path.stat().st_mode):
            raise Unrunnable(_FAILED, f"hostPath {path} is not {name}. Make it, or change the volume's type.")


async def _files_of(volume: Spec, place: Place, objects: Objects, tokens: Tokens) -> Files:
    if source := volume.get("projected"):
        mode = source.get("defaultMode", 0o644)
        files: Files = {}
        for part in source.get("sources") or []:
            files |= await _part(part, mode, place, objects, tokens)
        return files
    for kind in ("configMap", "secret", "downwardAPI"):
        if source := volume.get(kind):
            named = dict(source) | ({"name": source["secretName"]} if kind == "secret" else {})
            return await _part({kind: named}, source.get("defaultMode", 0o644), place, objects, tokens)
    kind = next((key for key in volume if key != "name"), "of no kind")
    advice = "Use emptyDir, configMap, secret, downwardAPI, projected or hostPath."
    raise Unrunnable(_FAILED, f"Volume {volume['name']} is {kind}, which this node cannot mount. {advice}")


async def _part(part: Spec, mode: int, place: Place, objects: Objects, tokens: Tokens) -> Files:
    namespace = place.pod["metadata"]["namespace"]
    if source := part.get("configMap"):
        found = await _found(objects.config_map, namespace, source)
        values = {key: text.encode() for key, text in (found.get("data") or {}).items()}
        values |= {key: base64.b64decode(text) for key, text in (found.get("binaryData") or {}).items()}
        return _chosen(values, source, mode)
    if source := part.get("secret"):
        found = await _found(objects.secret, namespace, source)
        return _chosen({key: base64.b64decode(text) for key, text in (found.get("data") or {}).items()}, source, mode)
    if source := part.get("downwardAPI"):
        return {each["path"]: (_downward(each, place).encode(), each.get("mode", mode)) for each in source["items"]}
    if source := part.get("serviceAccountToken"):
        lifetime_s = source.get("expirationSeconds", 3600)
        token = await tokens.token(place.pod, source.get("audience", ""), lifetime_s)
        return {source["path"]: (token.encode(), 0o600 if mode == 0o644 else mode)}
    raise Unrunnable(
        _FAILED, f"A projected volume has a source of kind {next(iter(part))}, which this node cannot read."
    )


async def _found(fetch: Any, namespace: str, source: Spec) -> Spec:
    try:
        found: Spec = await fetch(namespace, source["name"])
    except Unrunnable:
        if source.get("optional"):
            return {}
        raise
    return found


def _chosen(values: dict[str, bytes], source: Spec, mode: int) -> Files:
    if "items" not in source or source["items"] is None:
        return {key: (value, mode) for key, value in values.items()}
    files: Files = {}
    for item in source["items"]:
        if item["key"] in values:
            files[item["path"]] = (values[item["key"]], item.get("mode", mode))
        elif not source.get("optional"):
            raise Unrunnable(_FAILED, f"references non-existent config key: {item['key']}")
    return files


def _downward(item: Spec, place: Place) -> str:
    if reference := item.get("fieldRef"):
        return field_value(reference["fieldPath"], place)
    reference = item["resourceFieldRef"]
    containers = [*place.pod["spec"]["containers"], *(place.pod["spec"].get("initContainers") or [])]
    container = next(each for each in containers if each["name"] == reference["containerName"])
    return resource_value(reference, container, place)


def replace_files(target: Path, files: Files) -> None:
    """Makes `target` hold exactly these files, all at once: readers follow `..data`, which changes in one step."""
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o755)
    current = target / "..data"
    if current.exists() and _same(current, files):
        return
    fresh = target / f"..{time.time_ns()}"
    for path, (content, mode) in files.items():
        file = fresh / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    fresh.mkdir(exist_ok=True)
    fresh.chmod(0o755)
    old = current.resolve() if current.is_symlink() else None
    draft = target / "..data_tmp"
    draft.unlink(missing_ok=True)
    draft.symlink_to(fresh.name)
    draft.replace(current)
    _link_names(target, {path.split("/")[0] for path in files})
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _same(current: Path, files: Files) -> bool:
    there = {str(file.relative_to(current)) for file in current.rglob("*") if file.is_file()}
    return there == set(files) and all((current / path).read_bytes() == told[0] for path, told in files.items())


def _link_names(target: Path, names: set[str]) -> None:
    for name in names:
        link = target / name
        if not link.is_symlink():
            link.symlink_to(f"..data/{name}")
    for entry in target.iterdir():
        if not entry.name.startswith("..") and entry.name not in names:
            entry.unlink()
