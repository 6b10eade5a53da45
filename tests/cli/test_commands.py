"""The command line: help for everything, one sentence for every mistake, no traceback."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.local.agent.node import processes_with
from tidegate.cli.main import COMMANDS
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.resources import NODES
from tidegate.local.machine import Machine


def tidegate(*arguments: str, timeout_s: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidegate.cli.main", *arguments]
    whole = os.environ | env
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, env=whole)


VERBS = [[command] for command in COMMANDS if command != "queue"]
VERBS += [["queue", verb] for verb in ("create", "list", "stop", "resume")]


@pytest.mark.parametrize("words", [["queue"], *VERBS], ids=" ".join)
def test_every_command_has_help_with_examples(words: list[str]) -> None:
    done = tidegate(*words, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "examples:\n" in done.stdout
    assert f"  tidegate {' '.join(words)}" in done.stdout.partition("examples:")[2]
    assert max(map(len, done.stdout.splitlines())) <= 120


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_one_set_of_options_fits_every_command(words: list[str]) -> None:
    """As the contract says: also where no server is asked, so that a line of options can be kept for all."""
    shown = tidegate(*words, "--help").stdout
    for option in ("-n NAME, --namespace NAME", "-o FORM, --output FORM", "--kubeconfig FILE", "--context NAME"):
        assert option in shown
    done = tidegate(*words, "-o", "xml")
    assert done.returncode == 2
    assert done.stderr.startswith('tidegate: -o/--output: "xml" is not known. Write table, json or yaml.')


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


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        ([], "there is no command. Begin with `tidegate demo`", "tidegate"),
        (["nonsense"], 'there is no command "nonsense".', "tidegate"),
        (["up", "--port", "many"], '--port: "many" is no number. Write a whole one from 0 to 65535.', "tidegate up"),
        (["down", "--nonsense"], "there is no option --nonsense here.", "tidegate down"),
        (["run", "--cup", "2", "--", "true"], "there is no option --cup here. Did you mean --cpu?", "tidegate run"),
        (["run", "--pods", "0", "--", "true"], "--pods: 0 cannot be. Write a whole number of 1", "tidegate run"),
        (["run", "--gpu", "0.5", "--", "true"], '--gpu: "0.5" is no number. Write a whole one', "tidegate run"),
        (["logs", "x", "--tail", "-1"], "--tail: -1 cannot be. Write a whole number of 0 or more.", "tidegate logs"),
        (["status", "all"], '"all" is a word too many.', "tidegate status"),
        (["status", "-n", "No Name"], '-n/--namespace: "No Name" cannot be the name of a', "tidegate status"),
        (["status", "-n", "../.."], '-n/--namespace: "../.." cannot be', "tidegate status"),
        (["queue"], "the following arguments are required: VERB", "tidegate queue"),
        (["queue", "crate", "x"], 'VERB: "crate" is not known. Write create, list, stop or resume.', "tidegate queue"),
        (["queue", "create", "X_"], 'NAME: "X_" cannot be the name of a Queue.', "tidegate queue create"),
        (["queue", "create", "x", "--weight", "0"], "--weight: 0 cannot be.", "tidegate queue create"),
        (["queue", "list", "-X"], "there is no option -X here.", "tidegate queue list"),
        (["install", "--replicas", "0"], "--replicas: 0 cannot be.", "tidegate install"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_sentence_and_a_hint(words: list[str], said: str, hint: str) -> None:
    """The hint names the command that was given, not all of them."""
    done = tidegate(*words)
    assert (done.returncode, done.stdout) == (2, "")
    sentence, where = done.stderr.splitlines()
    assert sentence.startswith(f"tidegate: {said}")
    assert where == f"Try `{hint} --help`."


def test_what_nobody_thought_of_is_a_sentence_too() -> None:
    look = "from tidegate.cli import main\nmain.parser = lambda: 1 / 0\nraise SystemExit(main.main(['status']))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("tidegate: This is a mistake of Tidegate's own (ZeroDivisionError: division by zero)")
    assert len(done.stderr.splitlines()) == 1
    env = os.environ | {"TIDEGATE_TRACEBACK": "1"}
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, env=env, timeout=60)
    assert "Traceback" in done.stderr


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
    assert f"--port: {port} cannot be. Write a whole number from 0 to 65535." in done.stderr


def test_a_folder_that_cannot_be_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "file/below"):
        done = tidegate("up", "--data-dir", str(tmp_path / name))
        assert done.returncode == 1
        assert f"{tmp_path / name} cannot be its folder: " in done.stderr
        assert "Errno" not in done.stderr


def test_a_folder_on_a_disk_that_may_not_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data" / "kubeconfig").mkdir(parents=True)  # As good as read-only, also for root.
    done = tidegate("up", "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"tidegate: {tmp_path}/data/kubeconfig: ")
    assert done.stderr.endswith(". Choose another --data-dir, or mend it.\n")
    assert "Errno" not in done.stderr


def test_a_user_without_a_home_is_told_what_everybody_is() -> None:
    """As in the image, which runs as a user that is in no list: the operator ended before it looked where it was."""
    look = "import pwd\ndef nobody(uid): raise KeyError(uid)\npwd.getpwuid = nobody\n"
    look += "from tidegate.cli.main import main\nraise SystemExit(main(['status']))"
    env = {key: value for key, value in os.environ.items() if key not in ("HOME", "KUBECONFIG")}
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("tidegate: There is no kubeconfig and this is not a pod.")


@pytest.mark.parametrize("before", [["--kubeconfig", "/nowhere"], ["--kubeconfig=/nowhere", "-n", "team"]])
@pytest.mark.parametrize("command", [["status"], ["queue", "list"], ["run", "--", "true"]], ids=" ".join)
def test_options_may_stand_before_the_command(before: list[str], command: list[str]) -> None:
    """As with kubectl. The path was taken for a command."""
    done = tidegate(*before, *command)
    assert (done.returncode, done.stderr) == (1, "tidegate: There is no kubeconfig /nowhere. Check the path.\n")


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
        assert asyncio.run(_nodes(machine.kubeconfig)) == ["local"], "who looks at it next finds a node"
        assert "Already running" in tidegate("up", "--data-dir", str(data)).stdout
        for path in [data, *data.glob("pki/*"), data / "state.db", data / "kubeconfig"]:
            assert path.stat().st_mode & 0o077 == 0, f"{path} can be read by others"
        server = _server(machine.kubeconfig)
        pid = machine.running("control-plane")
        assert pid
        os.kill(pid, signal.SIGKILL)
        with (data / "control-plane.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # It dies a moment later, and until then it holds its lock.
        again = tidegate("up", "--data-dir", str(data))
        assert again.returncode == 0, again.stderr
        assert "Started control-plane" in again.stdout
        assert _server(machine.kubeconfig) == server, "clients find it where they left it"
    finally:
        done = tidegate("down", "--data-dir", str(data))
    assert done.returncode == 0, done.stderr
    assert machine.running("control-plane") is None
    assert machine.running("agent") is None


async def _nodes(kubeconfig: Path) -> list[str]:
    """Those that are ready."""
    client = connect(load_access(kubeconfig))
    listed = (await client.list(NODES)).items
    await client.close()
    ready = {"type": "Ready", "status": "True"}.items()
    return [
        each["metadata"]["name"]
        for each in listed
        if any(ready <= condition.items() for condition in each["status"]["conditions"])
    ]


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
