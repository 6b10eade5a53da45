"""Which server a command means, and what it says where that one is not there, or is not what it should be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_commands import tidegate

Json = Any


def test_a_server_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = tidegate("status", "--kubeconfig", str(tmp_path / "none"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"server": "https://127.0.0.1:99999"}, "has no server address. Set `server` to its https:// URL."),
        ({"server": "nonsense"}, "has no server address."),
        ({"certificate-authority-data": None}, "The server's certificate is not trusted ("),
    ],
)
def test_a_kubeconfig_that_cannot_be_right_is_told(kubeconfig: str, tmp_path: Path, change: Json, said: str) -> None:
    """A port out of range was a traceback; a certificate nobody vouches for, a server that does not answer."""
    config = yaml.safe_load(Path(kubeconfig).read_text())
    cluster = config["clusters"][0]["cluster"]
    cluster.update(change)
    config["clusters"][0]["cluster"] = {key: value for key, value in cluster.items() if value is not None}
    wrong = tmp_path / "kubeconfig"
    wrong.write_text(yaml.safe_dump(config))
    done = tidegate("status", "--kubeconfig", str(wrong))
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_kubeconfig_that_the_environment_names_and_that_is_not_there(tmp_path: Path) -> None:
    done = tidegate("status", HOME=str(tmp_path), KUBECONFIG=str(tmp_path / "none"))
    assert done.returncode == 1
    assert f"KUBECONFIG says {tmp_path / 'none'}, which is not there." in done.stderr


def test_where_nobody_knows_queues_nothing_is_left_waiting(tmp_path: Path) -> None:
    data = tmp_path / "data"
    try:
        assert tidegate("up", "--no-queues", "--data-dir", str(data)).returncode == 0
        done = tidegate("run", "--kubeconfig", str(data / "kubeconfig"), "--", "true")
        assert done.returncode == 1
        assert "does not know Tidegate's kinds" in done.stderr
    finally:
        tidegate("down", "--data-dir", str(data))


def test_what_is_put_on_a_cluster_is_never_put_on_this_machine_unasked(tmp_path: Path) -> None:
    """With a machine of its own running, `tidegate install` went there, past the kubeconfig of the cluster."""
    kubectls = tmp_path / ".kube" / "config"
    kubectls.parent.mkdir()
    cluster = {"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "x", "user": ""}}
    kubectls.write_text(json.dumps({"current-context": "x", "clusters": [cluster], "contexts": [context]}))
    home = {"HOME": str(tmp_path), "KUBECONFIG": ""}
    try:
        assert tidegate("up", **home).returncode == 0
        assert tidegate("status", **home).returncode == 0
        for command in (["install", "--wait", "0"], ["uninstall"], ["operator"]):
            done = tidegate(*command, **home)
            assert done.returncode == 1
            assert "The connection to https://127.0.0.1:1 failed" in done.stderr
    finally:
        tidegate("down", **home)


def test_nothing_is_installed_on_a_machine_of_ones_own(tmp_path: Path) -> None:
    """Two more operators were put beside the one inside, as pods of an image that no machine has; after two minutes it
    was said that none was ready."""
    home = {"HOME": str(tmp_path), "KUBECONFIG": ""}
    try:
        assert tidegate("up", **home).returncode == 0
        own = next(tmp_path.rglob("kubeconfig"))
        done = tidegate("install", "--kubeconfig", str(own), **home)
        assert done.returncode == 1
        assert "there is nothing to install" in done.stderr
        assert "tidegate-system" not in tidegate("status", "-o", "json", **home).stdout
        assert tidegate("install", "--dry-run", "--kubeconfig", str(own), **home).returncode == 0
    finally:
        tidegate("down", **home)


def test_several_who_begin_at_once_make_one_cluster_and_all_are_served(tmp_path: Path) -> None:
    """Who came while another was starting it was told that there is no kubeconfig."""
    command = [sys.executable, "-m", "tidegate", "run", "--cpu", "10m", "--"]
    env = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"} | {"HOME": str(tmp_path)}
    try:
        running = [
            subprocess.Popen([*command, "echo", str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
            for number in range(3)
        ]
        done = [(each.communicate(timeout=120), each.returncode) for each in running]
        assert [(out, code) for (out, _), code in done] == [(b"0\n", 0), (b"1\n", 0), (b"2\n", 0)], done
    finally:
        assert tidegate("down", HOME=str(tmp_path)).stdout == "Stopped agent and control-plane.\n"


def test_a_kubeconfig_that_is_given_is_never_answered_by_another_server(tmp_path: Path) -> None:
    """Not by one that is started for it either."""
    lost = tmp_path / "kubeconfig"
    cluster = {"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "x", "user": ""}}
    lost.write_text(json.dumps({"current-context": "x", "clusters": [cluster], "contexts": [context]}))
    home = str(tmp_path)
    for done in (
        tidegate("run", "--", "true", HOME=home, KUBECONFIG=str(lost)),
        tidegate("run", "--kubeconfig", str(lost), "--", "true", HOME=home),
    ):
        assert done.returncode == 1
        assert "does not answer" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kubeconfig"]
