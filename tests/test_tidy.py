"""The house's rules that a program can check: sizes, names, docstrings, purity, and what must not be written down."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MOST_LINES, MOST_FUNCTION_LINES = 400, 60
BANNED = {"utils", "helpers", "common", "manager", "misc"}
PURE = (
    "model",
    "scheduler",
    "workloads",
    "dialects",
    "controller/seen",
    "controller/told",
    "local/kinds",
    "local/patch",
    "local/schema",
    "local/tables",
    "local/crds",
    "local/agent/pod",
)
IMPURE = {"time", "random", "asyncio", "logging", "socket", "subprocess", "secrets", "threading", "aiohttp", "sqlite3"}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_files_are_small_named_and_explained(path: Path) -> None:
    """A file over its size has a second idea in it; a name like `utils` has none."""
    text = path.read_text()
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MOST_LINES
    assert not BANNED & set(path.relative_to(ROOT).with_suffix("").parts)
    assert ast.get_docstring(tree), "a module says what it is for"
    assert not re.search(r"\b(TODO|FIXME|XXX)\b", text)
    for function in functions(tree):
        lines = (function.end_lineno or 0) - function.lineno + 1
        assert lines <= MOST_FUNCTION_LINES, f"{function.name} has {lines} lines"


@pytest.mark.parametrize("room", PURE)
def test_what_is_promised_to_be_pure_imports_nothing_that_is_not(room: str) -> None:
    """No clock, randomness, async, logging or I/O: `now` comes in as an argument."""
    for path in (ROOT / "src" / "tidegate" / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found = {name.split(".")[0] for name in names} & IMPURE
            assert not found, f"{path.relative_to(ROOT)} imports {found}"
            assert not isinstance(node, ast.AsyncFunctionDef), f"{path.relative_to(ROOT)} has async code"


def test_nothing_names_a_machine() -> None:
    """No paths of somebody's machine, in anything that is kept."""
    wrong = re.compile(r"/(?:work|root|home/\w+)/")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".yaml", ".toml", ".json", ".txt"} and name != "tests/test_tidy.py":
            assert not wrong.search(path.read_text()), name
