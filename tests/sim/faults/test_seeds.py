"""Histories full of faults, in which every law holds at every commit and everything comes right in the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tidegate.sim.faults import busy_hour, play

SEEDS = int(os.environ.get("TIDEGATE_SEEDS", "8"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_fault_breaks_a_law(seed: int) -> None:
    play(seed).check()


@pytest.mark.parametrize("seed", [620, 725, 755])
def test_room_that_is_kept_for_what_may_still_come_is_given_in_time(seed: int) -> None:
    """The moment at which nothing could come any more was asked for before it was known: others waited for ever."""
    play(seed).check()


def test_what_was_taken_back_does_not_start_before_it_is_given_again() -> None:
    """Seed 8: a write to a Deployment hung while all of its grant was taken back and decided to be given again; then
    the gate of one more of its pods was lifted by that, and the server had refused to write it."""
    play(8).check()


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


def test_a_long_run_can_be_ended() -> None:
    """It said nothing before its end, and was ended by a page of where it stood: of hours of seeds nothing was left."""
    command = [sys.executable, "-m", "tidegate.sim.faults", "0", "100000"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as run:
        assert run.stderr is not None
        assert "of 100001 played in" in run.stderr.readline()
        run.send_signal(signal.SIGINT)
        told = run.stderr.read()
    assert told.startswith("Interrupted in seed ")
    assert "Traceback" not in told
    assert run.returncode == 130
