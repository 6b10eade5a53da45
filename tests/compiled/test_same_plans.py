"""The scheduler, compiled, decides what it decides as it is written: to the letter, with every reason and number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiled.plans import is_compiled

ROOT = Path(__file__).parents[2]
SEEDS = ("0", "60")


def plans_of(**more: str) -> list[str]:
    """Every Plan of the crowds of some seeds, told by a process of its own."""
    asked = [sys.executable, "-m", "tests.compiled.plans", *SEEDS]
    told = subprocess.run(asked, cwd=ROOT, env=os.environ | more, capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


@pytest.mark.skipif(not is_compiled(), reason="the scheduler is not compiled here: make test-compiled")
def test_the_same_plans() -> None:
    """A compiler may take a tuple for equal and not for the same, or believe a type that is not kept: loud mistakes
    fail in the other tests, quiet ones here."""
    what, *compiled = plans_of()
    other, *as_written = plans_of(PYTHONPATH=str(ROOT / "src"))
    assert (what, other) == ("compiled", "as it is written")
    assert len(compiled) > 300
    assert compiled == as_written
