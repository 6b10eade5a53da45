"""Credential programs: run when needed, kept until they expire, run again when the server no longer believes them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.kube.faultserver import FaultServer, running
from tidegate.kube.access import Access, AccessError
from tidegate.kube.client import Client, StatusError
from tidegate.kube.exec_plugin import API_VERSIONS, ExecPlugin, ExecSpec
from tidegate.kube.resources import CONFIGMAPS
from tidegate.kube.transport import HttpTransport
from tidegate.kube.users import Located, credentials_of

PROGRAM = """#!{python}
import json, os, pathlib, sys
folder = pathlib.Path(__file__).parent
runs = folder / "runs"
n = len(runs.read_text()) + 1 if runs.exists() else 1
runs.write_text("x" * n)
(folder / "info").write_text(os.environ["KUBERNETES_EXEC_INFO"])
(folder / "argv").write_text(json.dumps([*sys.argv[1:], os.environ.get("EXTRA", "")]))
status = json.loads((folder / "status").read_text())
status["token"] = status.get("token", "token") + "-" + str(n)
print(json.dumps({{"apiVersion": "{version}", "kind": "ExecCredential", "status": status}}))
"""


def plugin(folder: Path, version: str = API_VERSIONS[0], **status: Any) -> ExecPlugin:
    program = folder / "program"
    program.write_text(PROGRAM.format(python=sys.executable, version=version))
    program.chmod(0o700)
    (folder / "status").write_text(json.dumps(status))
    return ExecPlugin(ExecSpec(version, str(program)))


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text())


def in_s(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("version", API_VERSIONS)
async def test_credentials_are_kept_until_they_expire(tmp_path: Path, version: str) -> None:
    credentials = plugin(tmp_path, version, expirationTimestamp=in_s(3600))
    answers = await asyncio.gather(*(credentials.authorization() for _ in range(5)))
    assert set(answers) == {"Bearer token-1"}
    assert runs(tmp_path) == 1
    info = json.loads((tmp_path / "info").read_text())
    assert (info["apiVersion"], info["kind"], info["spec"]) == (version, "ExecCredential", {"interactive": False})


async def test_expired_credentials_are_fetched_again(tmp_path: Path) -> None:
    credentials = plugin(tmp_path, expirationTimestamp=in_s(-5))
    assert await credentials.authorization() == "Bearer token-1"
    assert await credentials.authorization() == "Bearer token-2"


async def test_a_refused_token_is_renewed_once_for_all_who_were_refused(tmp_path: Path) -> None:
    server = FaultServer(tokens={"token-2"})
    async with running(server):
        credentials = plugin(tmp_path)
        await credentials.authorization()
        credentials._obtained.at -= 10  # type: ignore[union-attr]
        client = Client(HttpTransport(Access(f"http://127.0.0.1:{server.port}", credentials)))
        await asyncio.gather(*(client.list(CONFIGMAPS) for _ in range(8)))
        assert runs(tmp_path) == 2
        server.tokens = {"nobody's"}
        with pytest.raises(StatusError) as refused:
            await client.list(CONFIGMAPS)
        assert refused.value.code == 401
        await client.close()


async def test_the_kubeconfig_says_how_the_program_is_run(tmp_path: Path) -> None:
    plugin(tmp_path)
    entry = {
        "apiVersion": API_VERSIONS[0],
        "command": "./program",
        "args": ["get", "token"],
        "env": [{"name": "EXTRA", "value": "more"}],
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    credentials = credentials_of(Located({"exec": entry}, tmp_path), {"server": "https://there"})
    assert await credentials.authorization() == "Bearer token-1"
    assert json.loads((tmp_path / "argv").read_text()) == ["get", "token", "more"]
    assert json.loads((tmp_path / "info").read_text())["spec"]["cluster"] == {"server": "https://there"}


async def test_an_equal_certificate_keeps_its_connections(tmp_path: Path) -> None:
    credentials = plugin(tmp_path, clientCertificateData="c", clientKeyData="k", expirationTimestamp=in_s(-5))
    assert await credentials.certificate() is await credentials.certificate()
    assert runs(tmp_path) == 2


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit 3", "failed with status 3"),
        ("echo nonsense", "printed no ExecCredential"),
        ('echo \'{"apiVersion": "client.authentication.k8s.io/v1", "status": {}}\'', "neither token nor certificate"),
        ('echo \'{"apiVersion": "other/v1", "status": {"token": "x"}}\'', "does not speak"),
    ],
)
async def test_a_program_that_fails_is_told_in_a_sentence(tmp_path: Path, script: str, says: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    with pytest.raises(AccessError, match=says):
        await ExecPlugin(ExecSpec(API_VERSIONS[0], str(program))).authorization()


async def test_a_missing_program_is_told_with_its_install_hint(tmp_path: Path) -> None:
    spec = ExecSpec(API_VERSIONS[0], str(tmp_path / "absent"), install_hint="Get it from the store.")
    with pytest.raises(AccessError, match=r"cannot be run \(No such file or directory\). Get it from the store."):
        await ExecPlugin(spec).authorization()
    assert "KUBERNETES_EXEC_INFO" not in os.environ
