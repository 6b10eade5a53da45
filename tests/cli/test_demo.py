"""The demo, as a stranger starts it: the story, the picture, and nothing left behind."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_commands import tidegate
from tests.local.agent.node import processes_with
from tidegate.cli.demo.happenings import Happenings
from tidegate.cli.demo.picture import COLUMN_S, Sample, columns, rows, used
from tidegate.cli.demo.work import SLOTS

_DEMO = [sys.executable, "-m", "tidegate.cli.main", "demo"]


def test_the_demo_tells_how_an_elastic_job_gives_way_and_comes_back(tmp_path: Path) -> None:
    """Without a terminal: a line for everything that happens, the picture, and the numbers."""
    done = tidegate("demo", timeout_s=180, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    order = [
        "ana puts sweep in line",
        "ana/sweep is let in with 8 of 8 pods",
        "ben puts report in line",
        "ana/sweep gives way: 8 pods become 4, nothing is evicted",
        "ben/report is let in with 4 of 4 pods",
        "ana/sweep grows back",
        "ana/sweep is done",
        "pods that ran: a = ana, b = ben",
        "0 evictions",
        "tidegate run -- echo hello",
    ]
    places = [done.stdout.find(words) for words in order]
    assert -1 not in places, f"{order[places.index(-1)]} is missing in:\n{done.stdout}"
    assert places == sorted(places)
    assert "\033" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_demo_on_a_terminal_and_takes_everything_away(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    env = os.environ | {"TMPDIR": str(tmp_path), "TERM": "xterm"}
    running = subprocess.Popen(_DEMO, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=env)
    os.close(theirs)
    shown = b""
    while b"is let in" not in shown:
        shown += os.read(ours, 65536)
    running.send_signal(signal.SIGINT)
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass  # How a terminal says that nobody is at its other end any more.
    os.close(ours)
    assert running.wait(60) == 130
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert "two tenants, one machine" in text
    assert "taking everything away" in text
    assert "Traceback" not in text
    assert not list(tmp_path.iterdir())
    assert not processes_with(str(tmp_path))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40), st.integers(1, 60))
def test_the_picture_has_a_cell_for_every_slot_of_every_moment(running: list[tuple[int, int]], most: int) -> None:
    samples = [Sample(number * 0.1, {"ana": ana, "ben": ben}) for number, (ana, ben) in enumerate(running)]
    drawn = columns(samples, most)
    assert 1 <= len(drawn) <= most
    assert {len(column) for column in drawn} == {SLOTS}
    assert [len(line) for line in rows(drawn)] == [len(drawn)] * SLOTS
    assert 0 <= used(samples) <= 1
    ana, ben = running[0]
    if ana + ben <= SLOTS and samples[-1].at_s < COLUMN_S:
        assert (drawn[0].count("a"), drawn[0].count("b")) == (ana, ben)


def test_pods_that_end_give_their_place_back_without_giving_way() -> None:
    """Less is granted when work ends; that is no shrinking, and is not told as one."""
    told = Happenings()

    def heard(granted: int, ended: int, state: str = "Admitted") -> None:
        pod_sets, ends = [{"name": "main", "granted": granted}], [{"name": "main", "count": ended}]
        status = {"state": state, "podSets": pod_sets, "reclaimedPodSetPods": ends}
        told.heard({"metadata": {"namespace": "ana"}, "status": status}, 1.0)

    heard(8, 0)
    heard(7, 1)
    assert told.told["ana"].given == 0
    heard(4, 1)
    assert told.told["ana"].given == 3
    heard(0, 8, "Finished")
    assert [words for _, words in told.sentences] == [
        "ana/sweep is let in with 8 of 8 pods",
        "ana/sweep gives way: 7 pods become 4, nothing is evicted",
        "ana/sweep is done",
    ]
