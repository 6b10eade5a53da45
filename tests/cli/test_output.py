"""Where what is said cannot be written: a reader that went away, a full disk, a terminal with few signs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.test_commands import tidegate

_TIDEGATE = [sys.executable, "-m", "tidegate.cli.main"]


def first_line(*arguments: str) -> tuple[bytes, int, str]:
    """`tidegate … | head -1`: the line, the exit status and what was said beside it."""
    with subprocess.Popen([*_TIDEGATE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        line = running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
    return line, running.returncode, said


def onto_a_full_disk(*arguments: str) -> subprocess.CompletedProcess[str]:
    with Path("/dev/full").open("w") as full:
        return subprocess.run(
            [*_TIDEGATE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )


def test_a_command_that_nobody_reads_any_more_is_cancelled(kubeconfig: str) -> None:
    """It was taken for a server that does not answer, and its log was read from the beginning again and again; with a
    command that never ends, that kept the node too busy to say that it lives, and all pods were evicted."""
    where = ["--kubeconfig", kubeconfig]
    line, status, said = first_line("run", *where, "--cpu", "10m", "--name", "endless", "--", "yes")
    assert (line, status) == (b"y\n", 1)
    assert "job/endless is cancelled." in said
    assert "does not answer" not in said
    assert tidegate("why", "endless", *where).returncode == 1


def test_a_second_ctrl_c_ends_at_once_and_says_what_is_left(tmp_path: Path) -> None:
    """The first asks the server to cancel, and a server that hangs does not answer."""
    folder = str(tmp_path / "state")
    assert tidegate("up", "--data-dir", folder).returncode == 0
    server = int(Path(folder, "control-plane.lock").read_text())
    words = ["run", "--kubeconfig", f"{folder}/kubeconfig", "--cpu", "10m", "--name", "stays", "--"]
    words += ["sh", "-c", "echo up; sleep 100"]
    try:
        with subprocess.Popen(
            [*_TIDEGATE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            assert running.stdout.readline() == "up\n"
            os.kill(server, signal.SIGSTOP)
            running.send_signal(signal.SIGINT)
            while "Cancelling job/stays" not in running.stderr.readline():
                pass
            running.send_signal(signal.SIGINT)
            said = running.stderr.read()
        assert running.returncode == 130
        assert "job/stays may go on; `tidegate cancel stays` ends it." in said
        assert "Traceback" not in said
    finally:
        os.kill(server, signal.SIGCONT)
        tidegate("down", "--data-dir", folder)


def test_what_has_ended_is_read_as_far_as_somebody_reads(kubeconfig: str) -> None:
    where = ["--kubeconfig", kubeconfig]
    words = ["sh", "-c", "yes | head -100000"]
    assert tidegate("run", *where, "--cpu", "10m", "--name", "long", "--", *words).returncode == 0
    assert first_line("logs", "long", *where) == (b"y\n", 1, "")


def test_a_full_disk_is_told_and_costs_no_work(kubeconfig: str) -> None:
    where = ["--kubeconfig", kubeconfig]
    words = ["sh", "-c", "while echo again; do sleep 0.1; done"]
    done = onto_a_full_disk("run", *where, "--cpu", "10m", "--name", "worthy", "--", *words)
    assert done.returncode == 1
    assert "What job/worthy says cannot be written: No space left on device. It goes on;" in done.stderr
    state = json.loads(tidegate("why", "worthy", *where, "-o", "json").stdout)["status"]["state"]
    assert state == "Admitted"
    for command in (["logs", "worthy"], ["status"]):
        done = onto_a_full_disk(*command, *where)
        assert done.returncode == 1
        assert "cannot be written: No space left on device." in done.stderr
    assert tidegate("cancel", "worthy", *where).returncode == 0


def test_signs_that_a_terminal_does_not_have_cost_nothing() -> None:
    """An ellipsis in a sentence was a traceback under a locale without it."""
    look = "from tidegate.cli.main import main; import sys; main(['down', '--data-dir', '/nowhere/…'])"
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, env=env, timeout=60, check=True)
    assert done.stdout == b"Nothing was running.\n"
    shown = subprocess.run([*_TIDEGATE, "render", "--help"], capture_output=True, env=env, timeout=60, check=True)
    assert b"ray, spark, ?" in shown.stdout
