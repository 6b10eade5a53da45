"""What is installed is what is here: files beside the code are easily left out of a package."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_beside_the_code_is_in_the_package() -> None:
    """The kinds, the schema and the images are data; without them nothing works, and only where it was installed."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = told["tool"]["setuptools"]["package-data"]["tidegate"]
    source = ROOT / "src" / "tidegate"
    data = [path.relative_to(source) for path in source.rglob("*") if path.is_file() and path.suffix not in _CODE]
    assert data
    for path in data:
        assert any(fnmatch.fnmatch(f"./{path}", f"*{pattern.removeprefix('**')}") for pattern in patterns), path


_CODE = (".py", ".pyc")


def test_the_image_is_made_of_what_is_there() -> None:
    """Every COPY of the Dockerfile names what exists, and what .dockerignore lets through."""
    lines = (ROOT / "deploy" / "Dockerfile").read_text().splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    let_in = [line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"]
    assert {"pyproject.toml", "src"} <= set(copied) == set(let_in)
    for name in copied:
        assert (ROOT / name).exists(), name
    assert any(line.startswith("USER ") and not line.startswith("USER 0") for line in lines)
