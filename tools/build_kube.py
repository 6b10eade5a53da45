"""Builds the real Kubernetes control plane from the Go module proxy: the oracle of our tests.

Everything lands in a cache outside the repository and is built once per version:

    python tools/build_kube.py                    # etcd, kube-apiserver, controller-manager, scheduler, kubectl
    python tools/build_kube.py kuberay-operator   # also an operator written by others (about 4 minutes)
    python tools/build_kube.py kueue              # also Kueue's manager (about 15 minutes)
    python tools/build_kube.py yunikorn-queues    # also the validator of YuniKorn's queues (half a minute)
    python tools/build_kube.py yunikorn-pods      # also the reader of pods of YuniKorn's shim (about 5 minutes)
    python tools/build_kube.py volcano-admission  # also Volcano's webhooks for queues and PodGroups (about 5 minutes)
    python tools/build_kube.py helm-template      # also Helm's own engine (about 3 minutes)
    python tools/build_kube.py e2e.test           # also Kubernetes' own end-to-end tests (about 10 minutes)

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
from dataclasses import dataclass
from pathlib import Path

KUBERNETES = "1.36.3"


@dataclass(frozen=True, slots=True)
class Program:
    """What is built: a package of a module at a version. Programs of one module share their go.mod."""

    module: str
    version: str
    package: str = ""
    """Empty where the module has only libraries; the program is then `peers/<name>.go`, beside this file."""
    staging: str = ""
    """The published version of what its authors keep in a folder `staging`; empty: Kubernetes' way of counting."""


def _kubernetes(package: str) -> Program:
    return Program("k8s.io/kubernetes", KUBERNETES, f"k8s.io/kubernetes/{package}")


ETCD = "go.etcd.io/etcd/server/v3"
KUBERAY = "github.com/ray-project/kuberay/ray-operator"
KUEUE = "sigs.k8s.io/kueue"
YUNIKORN = "github.com/apache/yunikorn-core"
SHIM = "github.com/apache/yunikorn-k8shim"
VOLCANO = "volcano.sh/volcano"
HELM = "helm.sh/helm/v3"
PROGRAMS = {
    "etcd": Program(ETCD, "3.6.16", ETCD),
    "kube-apiserver": _kubernetes("cmd/kube-apiserver"),
    "kube-controller-manager": _kubernetes("cmd/kube-controller-manager"),
    "kube-scheduler": _kubernetes("cmd/kube-scheduler"),
    "kubectl": _kubernetes("cmd/kubectl"),
    "e2e.test": _kubernetes("test/e2e"),
    "kuberay-operator": Program(KUBERAY, "1.6.0", KUBERAY),
    "kueue": Program(KUEUE, "0.19.2", f"{KUEUE}/cmd/kueue"),
    "yunikorn-queues": Program(YUNIKORN, "1.8.0"),
    "yunikorn-pods": Program(SHIM, "1.8.0"),
    "volcano-admission": Program(VOLCANO, "1.14.1", staging="1.14.0"),
    "helm-template": Program(HELM, "3.20.2"),
}
READY = "ready"
"""Marks a module folder whose go.mod was written whole."""
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


def module_folder(program: Program) -> Path:
    """Where the go.mod that builds `program` lives."""
    known = {
        "k8s.io/kubernetes": "kubernetes",
        ETCD: "etcd",
        KUBERAY: "kuberay",
        KUEUE: "kueue",
        YUNIKORN: "yunikorn",
        SHIM: "yunikorn-k8shim",
        VOLCANO: "volcano",
        HELM: "helm",
    }
    return cache() / f"{known[program.module]}-module"


def write_module(program: Program, folder: Path) -> None:
    """A module that requires the program's, with its replacements; staging modules by their published version."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    downloaded = json.loads(go("mod", "download", "-json", f"{program.module}@v{program.version}", cwd=folder))
    source = Path(downloaded["GoMod"]).read_text()
    staged = program.staging or f"0.{program.version.split('.', 1)[1]}"
    go_version = re.search(r"^go (\S+)", source, re.M)
    lines = [f"module tidegate.dev/{folder.name}", f"go {go_version[1] if go_version else '1.26'}"]
    lines += [f"require {program.module} v{program.version}"]
    lines += [
        f"replace {module} => {module} v{staged}" for module in re.findall(r"^\s*(\S+) => \./staging/", source, re.M)
    ]
    # Replacements hold only in the module that is built, so its authors' are said again.
    lines += [f"replace {line}" for line in re.findall(r"^\s*(?:replace )?(\S+ => \S+ v\S+)$", source, re.M)]
    (folder / "go.mod").write_text("\n".join(lines) + "\n")
    imports = _packages(program, folder)
    blank = "\n".join(f'import _ "{package}"' for package in imports)
    (folder / "tools.go").write_text(f"//go:build tools\n\npackage tools\n\n{blank}\n")
    # The sums its authors published hold here too; a checksum database that lacks one of them does not matter then.
    sums = Path(downloaded["Dir"]) / "go.sum"
    (folder / "go.sum").write_text(sums.read_text() if sums.exists() else "")
    go("mod", "tidy", "-e", cwd=folder)
    (folder / READY).touch()


def _packages(program: Program, folder: Path) -> list[str]:
    """Every package that is built in `folder`; the sources of ours are put there."""
    packages = []
    for name, other in PROGRAMS.items():
        if other.module != program.module:
            continue
        if not other.package:
            _put_source(name, folder)
        packages.append(other.package or f"tidegate.dev/{folder.name}/{name}")
    return packages


def _put_source(name: str, folder: Path) -> None:
    """A program of ours where its module is."""
    (folder / name).mkdir(exist_ok=True)
    shutil.copy(Path(__file__).parent / "peers" / f"{name}.go", folder / name / "main.go")


def source_of(name: str) -> Path:
    """The unpacked sources of a program's module, in Go's own cache."""
    program = PROGRAMS[name]
    listed = go("list", "-m", "-f", "{{.Dir}}", program.module, cwd=module_folder(program))
    return Path(listed.strip())


def stamp(version: str) -> str:
    """Linker flags that give the programs the version a released binary reports."""
    major, minor, _ = version.split(".")
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())


def build(name: str, where: Path) -> None:
    started = time.monotonic()
    print(f"building {name} …", file=sys.stderr, flush=True)
    program = PROGRAMS[name]
    folder = module_folder(program)
    if not (folder / READY).exists():
        write_module(program, folder)
    if not program.package:
        _put_source(name, folder)
    command = ["test", "-c"] if name.endswith(".test") else ["build"]
    partial = where / f".{name}.partial"
    version = stamp(KUBERNETES) if program.module == "k8s.io/kubernetes" else ""
    package = program.package or f"./{name}"
    go(*command, "-trimpath", "-ldflags", f"-s -w {version}", "-o", str(partial), package, cwd=folder)
    partial.rename(where / name)
    print(f"built {name} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


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
