"""From a container's spec to what the runner starts: image, environment, command, mounts, limits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidegate.local.agent.sandbox import names
from tidegate.local.agent.sandbox.environment import Objects, Place, environment_of, expanded
from tidegate.local.agent.sandbox.images import Catalogue, argv_of
from tidegate.local.agent.sandbox.rewriting import rewriter
from tidegate.local.agent.sandbox.volumes import mounts_of
from tidegate.local.agent.settings import Settings
from tidegate.local.agent.work.observe import log_path, termination_path
from tidegate.local.agent.work.processes import MARK, Launch

Spec = Mapping[str, Any]

# The machine's own that programs need; nothing else of the agent's environment, which may hold secrets, reaches a pod.
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "SHELL", "LD_LIBRARY_PATH", "JAVA_HOME")


@dataclass(frozen=True, slots=True)
class Preparer:
    """Everything that is the same for all containers of this node."""

    settings: Settings
    catalogue: Catalogue
    objects: Objects
    namespaces: bool

    async def launch(
        self, container: Spec, attempt: int, place: Place, folder: Path, *, given: Mapping[str, str], cgroup: str | None
    ) -> Launch:
        """What to start. `given` are variables from the node: services and devices."""
        image = self.catalogue.find(container.get("image", ""))
        base = self._base(image.env, image.path, place)
        env = await environment_of(container, place, self.objects, base=base, services=given)
        mounts = mounts_of(container, place.pod, folder / "volumes", env)
        mounts.append(self._termination(container, attempt, folder))
        expand = {key: [expanded(text, env) for text in container.get(key) or []] for key in ("command", "args")}
        argv = argv_of(image, {**container, **expand}, env)
        cwd = container.get("workingDir") or image.workdir or str(_work_folder(folder, container))
        launch = Launch(
            argv=argv,
            env=env,
            cwd=cwd,
            mounts=mounts,
            log=str(_made(log_path(folder, container["name"], attempt))),
            log_bytes=self.settings.log_bytes,
            log_files=self.settings.log_files,
            staging=str(folder / "staging"),
            namespaces=self.namespaces,
            cgroup=cgroup,
        )
        return self._isolated(launch, place, folder)

    def _base(self, image_env: Mapping[str, str], image_path: tuple[str, ...], place: Place) -> dict[str, str]:
        env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        env["PATH"] = ":".join([*image_path, env.get("PATH", os.defpath)])
        env |= {"HOSTNAME": names.hostname_of(place.pod), MARK: place.pod["metadata"]["uid"]}
        return env | {name: expanded(value, {"POD_IP": place.pod_ip}) for name, value in image_env.items()}

    def _termination(self, container: Spec, attempt: int, folder: Path) -> dict[str, Any]:
        file = _made(termination_path(folder, container["name"], attempt))
        file.touch()
        file.chmod(0o666)
        target = container.get("terminationMessagePath") or "/dev/termination-log"
        return {"source": str(file), "target": target, "readOnly": False}

    def _isolated(self, launch: Launch, place: Place, folder: Path) -> Launch:
        """Name files for a pod with namespaces; for one without, mount paths replaced by real ones."""
        if self.namespaces:
            own = [] if place.pod["spec"].get("hostNetwork") else ["hosts", "resolv.conf"]
            files = [{"source": str(folder / "etc" / name), "target": f"/etc/{name}"} for name in own]
            return replace(launch, mounts=[*launch.mounts, *files])
        rewrite = rewriter(launch.mounts)
        env = {name: rewrite(value) for name, value in launch.env.items()}
        return replace(
            launch, argv=[rewrite(each) for each in launch.argv], env=env, cwd=rewrite(launch.cwd), mounts=[]
        )


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _work_folder(folder: Path, container: Spec) -> Path:
    work = folder / "work" / str(container["name"])
    work.mkdir(parents=True, exist_ok=True)
    return work
