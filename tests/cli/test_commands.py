"""The command line: help for everything, one sentence for every mistake, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.local.agent.node import processes_with
from tidegate.cli.main import COMMANDS
from tidegate.local.machine import Machine


def tidegate(*arguments: str, timeout_s: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidegate.cli.main", *arguments]
    whole = os.environ | env
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, env=whole)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    done = tidegate(command, "--help")
    assert done.returncode == 0
    assert command in done.stdout


def test_the_command_line_loads_nothing_heavy_until_it_is_needed() -> None:
    """Help and mistakes answer at once: no HTTP, no YAML, no cryptography, none of our own rooms but this one."""
    look = "import sys, tidegate.cli.main as m; m.parser(); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert not loaded & {"aiohttp", "asyncio", "msgspec", "yaml", "rich", "cryptography", "ssl", "sqlite3"}
    rooms = {name for name in loaded if name.startswith("tidegate.") and not name.startswith("tidegate.cli")}
    assert not rooms


def test_a_command_that_does_not_exist_is_answered_with_the_nearest() -> None:
    done = tidegate("stauts")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'there is no command "stauts". Did you mean status?' in done.stderr


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["up", "--port", "many"], ["down", "--nonsense"]])
def test_wrong_usage_is_one_sentence_and_a_hint(arguments: list[str]) -> None:
    done = tidegate(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert "--help" in done.stderr


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = tidegate("up", "--data-dir", str(tmp_path / "data"), "--port", str(port))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "address already in use. Choose another --port" in done.stderr
    log = (tmp_path / "data" / "logs" / "control-plane.log").read_text()
    assert "Choose another --port" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(("port", "status"), [("65536", 2), ("-1", 2)])
def test_a_port_that_cannot_be_is_refused(tmp_path: Path, port: str, status: int) -> None:
    """99999 was taken, and became 34463."""
    done = tidegate("up", "--data-dir", str(tmp_path), "--port", port)
    assert done.returncode == status
    assert "--port is from 0 (any) to 65535." in done.stderr


def test_a_folder_that_cannot_be_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "file/below"):
        done = tidegate("up", "--data-dir", str(tmp_path / name))
        assert done.returncode == 1
        assert f"{tmp_path / name} cannot be its folder: " in done.stderr
        assert "Errno" not in done.stderr


def test_down_without_anything_running_says_so(tmp_path: Path) -> None:
    done = tidegate("down", "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "Nothing was running.\n")


def test_up_is_idempotent_private_and_survives_kill_9(tmp_path: Path) -> None:
    """Up twice is up once; the folder is its owner's; a killed control plane comes back where it was."""
    data = tmp_path / "data"
    machine = Machine(data.resolve())
    try:
        first = tidegate("up", "--data-dir", str(data))
        assert first.returncode == 0, first.stderr
        assert "Already running" in tidegate("up", "--data-dir", str(data)).stdout
        for path in [data, *data.glob("pki/*"), data / "state.db", data / "kubeconfig"]:
            assert path.stat().st_mode & 0o077 == 0, f"{path} can be read by others"
        server = _server(machine.kubeconfig)
        pid = machine.running("control-plane")
        assert pid
        os.kill(pid, signal.SIGKILL)
        again = tidegate("up", "--data-dir", str(data))
        assert again.returncode == 0, again.stderr
        assert "Started control-plane" in again.stdout
        assert _server(machine.kubeconfig) == server, "clients find it where they left it"
    finally:
        done = tidegate("down", "--data-dir", str(data))
    assert done.returncode == 0, done.stderr
    assert machine.running("control-plane") is None
    assert machine.running("agent") is None


@pytest.mark.parametrize("seen", ["logs", "control-plane.lock", "agent/kubeconfig", "agent/agent.lock"])
def test_ctrl_c_while_it_starts_leaves_nothing_running(tmp_path: Path, seen: str) -> None:
    """The control plane went on, and where it did not hold its lock yet, nothing found it again: the demo's even wrote
    into a folder that was gone."""
    data = tmp_path / "data"
    up = [sys.executable, "-m", "tidegate", "up", "--data-dir", str(data)]
    with subprocess.Popen(up, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as starting:
        while not (data / seen).exists():
            assert starting.poll() is None
        starting.send_signal(signal.SIGINT)
        _, said = starting.communicate(timeout=60)
    # Whoever was faster: either all of it runs and is said to, or nothing.
    if starting.returncode == 130:
        assert "nothing is left running" in said
        tidegate("down", "--data-dir", str(data))
        assert not processes_with(str(data))
    else:
        assert tidegate("down", "--data-dir", str(data)).stdout == "Stopped agent and control-plane.\n"
    assert "Traceback" not in said


def _server(kubeconfig: Path) -> str:
    import yaml

    return str(yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"])
