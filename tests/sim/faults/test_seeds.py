"""Histories full of faults, in which every law holds at every commit and everything comes right in the end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tidegate.sim.faults import busy_hour, play

SEEDS = int(os.environ.get("TIDEGATE_SEEDS", "8"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_fault_breaks_a_law(seed: int) -> None:
    play(seed).check()


@pytest.mark.parametrize("seed", range(max(1, SEEDS // 100)))
def test_operators_die_at_any_moment_of_a_busy_hour(seed: int) -> None:
    """What is in use is what runs, nothing is admitted twice, and everything ends that can."""
    hour = busy_hour(seed)
    hour.check()
    assert hour.seconds > 3000
    assert hour.faults["kill"] > 10
    assert len(hour.admissions) > 20


def test_the_same_seed_is_the_same_history() -> None:
    """In another process too, where sets come in another order: else no failure could be replayed."""
    code = "from tidegate.sim.faults import play; h = play(5, acts=12); print(h.commits, h.seconds, sorted(h.faults))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True, check=True
        ).stdout
        for salt in ("1", "2")
    }
    assert len(told) == 1, told
