"""The commands of the documentation, run as a reader would: every `$` line of a console block, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.build_kube import assets

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_NOT_HERE = ("make setup", "make demo", "make test", ". .venv/bin/activate")
"""What the tests have already done, or are."""


def commands_of(page: Path) -> str:
    """A script of all commands, with each line of expected output as a check of what the command before it printed."""
    script = ["set -eu", "last=$(mktemp)"]
    for block in _BLOCK.findall(page.read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                command = line.removeprefix("$ ").partition("   #")[0]
                if not command.startswith(_NOT_HERE) and " && . .venv" not in command:
                    run = command if command.startswith(("export ", "! ")) else f"{command} > $last"
                    script.append(f"echo {_quoted(line)} >&2; {run}")
            elif line.strip() and "export KUBECONFIG" not in line and "Started" not in line:
                script.append(f"grep -qF -- {_quoted(line.strip())} $last")
    return "\n".join(script)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.kube
@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_every_command_of_the_page_works(page: str, tmp_path: Path) -> None:
    """In a home of its own, with the kubectl that `make kube` built."""
    run(page, tmp_path, str(assets()))


@pytest.mark.parametrize("page", ["docs/how-to/daily.md"])
def test_every_command_works_where_there_is_nothing_but_tidegate(page: str, tmp_path: Path) -> None:
    run(page, tmp_path)


def run(page: str, tmp_path: Path, *folders: str) -> None:
    path = [str(Path(sys.executable).parent), *folders, os.environ["PATH"]]
    env = os.environ | {"HOME": str(tmp_path), "PATH": os.pathsep.join(path)}
    env.pop("KUBECONFIG", None)
    try:
        done = subprocess.run(
            ["bash", "-c", commands_of(ROOT / page)], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
    finally:
        tidegate = shutil.which("tidegate", path=env["PATH"])
        subprocess.run([str(tidegate), "down"], env=env, check=False, capture_output=True, timeout=60)


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), (
                    f"{page.relative_to(ROOT)} links to {target}, which is not there"
                )
