"""Builds the real Kubernetes control plane from the Go module proxy: the oracle of our tests.

Everything lands in a cache outside the repository and is built once per version:

    python tools/build_kube.py            # etcd, kube-apiserver, controller-manager, scheduler, kubectl
    python tools/build_kube.py e2e.test   # also Kubernetes' own end-to-end tests (about 10 minutes)

Prints the folder that holds the binaries. `KUBEBUILDER_ASSETS`, when set, is that folder and nothing is built
for the programs it already has.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

KUBERNETES = "1.36.3"
ETCD = "3.6.16"

PROGRAMS = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "e2e.test": "k8s.io/kubernetes/test/e2e",
}
CONTROL_PLANE = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]


def cache() -> Path:
    """Where built programs live: one folder per Kubernetes version, outside the repository."""
    root = os.environ.get("TIDEGATE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "tidegate"
    return Path(root).expanduser() / f"kube-{KUBERNETES}"


def assets() -> Path:
    """The folder in which the programs are looked for, whether or not they are built yet."""
    given = os.environ.get("KUBEBUILDER_ASSETS")
    return Path(given) if given else cache() / "bin"


def missing(programs: list[str], where: Path) -> list[str]:
    return [name for name in programs if not os.access(where / name, os.X_OK)]


def go(*args: str, cwd: Path) -> str:
    return subprocess.run(["go", *args], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def write_module(name: str, module: str, version: str, folder: Path) -> None:
    """A module that requires `module` and replaces each staging module of it by its published version."""
    folder.mkdir(parents=True, exist_ok=True)
    downloaded = json.loads(go("mod", "download", "-json", f"{module}@v{version}", cwd=folder))
    source = Path(downloaded["GoMod"]).read_text()
    staging = sorted(set(re.findall(r"^\s*(\S+) => \./staging/", source, re.M)))
    go_version = re.search(r"^go (\S+)", source, re.M)
    lines = [f"module tidegate.dev/{name}", f"go {go_version[1] if go_version else '1.26'}"]
    lines += [f"require {module} v{version}"]
    lines += [f"replace {m} => {m} v0.{version.split('.', 1)[1]}" for m in staging]
    (folder / "go.mod").write_text("\n".join(lines) + "\n")
    imports = [package for package in PROGRAMS.values() if package.startswith(module)]
    blank = "\n".join(f'import _ "{p}"' for p in imports)
    (folder / "tools.go").write_text(f"//go:build tools\n\npackage tools\n\n{blank}\n")
    go("mod", "tidy", "-e", cwd=folder)


def stamp(version: str) -> str:
    """Linker flags that give the programs the version a released binary reports."""
    major, minor, _ = version.split(".")
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())


def build(program: str, where: Path) -> None:
    started = time.monotonic()
    print(f"building {program} …", file=sys.stderr, flush=True)
    is_etcd = program == "etcd"
    folder = cache() / ("etcd-module" if is_etcd else "kubernetes-module")
    if not (folder / "go.sum").exists():
        if is_etcd:
            write_module("etcd", "go.etcd.io/etcd/server/v3", ETCD, folder)
        else:
            write_module("kubernetes", "k8s.io/kubernetes", KUBERNETES, folder)
    command = ["test", "-c"] if program.endswith(".test") else ["build"]
    partial = where / f".{program}.partial"
    flags = ["-trimpath", "-ldflags", f"-s -w {'' if is_etcd else stamp(KUBERNETES)}"]
    go(*command, *flags, "-o", str(partial), PROGRAMS[program], cwd=folder)
    partial.rename(where / program)
    print(f"built {program} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def main(wanted: list[str]) -> int:
    where = assets()
    to_build = missing(CONTROL_PLANE + wanted, where)
    if to_build:
        if shutil.which("go") is None:
            print(f"go is not installed, so {', '.join(to_build)} cannot be built.", file=sys.stderr)
            print("Install Go, or set KUBEBUILDER_ASSETS to a folder that has them.", file=sys.stderr)
            return 1
        where.mkdir(parents=True, exist_ok=True)
        for program in to_build:
            build(program, where)
    print(where)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
