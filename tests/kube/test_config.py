"""Kubeconfig files as kubectl reads them."""

from __future__ import annotations

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness import certificates
from tidegate.kube.access import AccessError, tls_context
from tidegate.kube.config import in_cluster, load_access

SECRET = "s3cr3t-of-a-test"


def kubeconfig(
    path: Path, *, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **more: Any
) -> Path:
    name = more.pop("name", "test")
    content = {
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}:6443", **(cluster or {})}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **more}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


async def test_of_several_files_the_first_to_name_something_counts(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path / "1", user={"token": "one"})
    second = kubeconfig(tmp_path / "2", user={"token": "two"})
    third = kubeconfig(tmp_path / "3", user={"token": "three"}, name="other", namespace="n")
    env = {"KUBECONFIG": os.pathsep.join(map(str, (tmp_path / "missing", first, second, third)))}
    access = load_access(env=env)
    assert (access.server, await access.credentials.authorization()) == ("https://test:6443", "Bearer one")
    other = load_access(context="other", env=env)
    assert (other.server, other.namespace) == ("https://other:6443", "n")
    assert await other.credentials.authorization() == "Bearer three"


def test_an_explicit_file_wins_over_the_environment_and_that_over_home(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube" / "config", name="home")
    listed = kubeconfig(tmp_path / "listed", name="listed")
    explicit = kubeconfig(tmp_path / "explicit", name="explicit")
    home = {"HOME": str(tmp_path)}
    assert load_access(env=home).server == "https://home:6443"
    assert load_access(env={**home, "KUBECONFIG": str(listed)}).server == "https://listed:6443"
    assert load_access(explicit, env={**home, "KUBECONFIG": str(listed)}).server == "https://explicit:6443"


async def test_paths_start_where_their_file_lies_and_data_wins_over_files(tmp_path: Path) -> None:
    files = certificates.serving(tmp_path)
    path = kubeconfig(
        tmp_path / "config",
        cluster={"certificate-authority": "ca.crt"},
        user={
            "client-certificate": "missing",
            "client-certificate-data": b64encode(files.cert.read_bytes()).decode(),
            "client-key": "tls.key",
        },
    )
    access = load_access(path)
    shown = await access.credentials.certificate()
    assert access.trust.authority == files.ca.read_text()
    assert shown is not None
    assert (shown.certificate, shown.key) == (files.cert.read_bytes(), files.key.read_bytes())
    tls_context(access.trust, shown)


async def test_a_token_file_is_read_again_when_the_token_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old\n")
    access = load_access(kubeconfig(tmp_path / "config", user={"tokenFile": "token", "token": "ignored"}))
    credentials = access.credentials
    assert await credentials.authorization() == "Bearer old"
    assert not await credentials.renew("Bearer old")
    (tmp_path / "token").write_text("new\n")
    assert await credentials.authorization() == "Bearer old"
    assert await credentials.renew("Bearer old")
    assert await credentials.authorization() == "Bearer new"
    (tmp_path / "token").unlink()
    assert not await credentials.renew("Bearer new")
    assert await credentials.authorization() == "Bearer new"


async def test_a_name_and_a_password_are_sent_as_basic(tmp_path: Path) -> None:
    access = load_access(kubeconfig(tmp_path / "config", user={"username": "me", "password": "pw"}))
    assert await access.credentials.authorization() == "Basic " + b64encode(b"me:pw").decode()


async def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    files = certificates.serving(tmp_path)
    (tmp_path / "token").write_text("pod-token")
    (tmp_path / "namespace").write_text("team")
    env = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    access = in_cluster(env=env, folder=tmp_path)
    assert (access.server, access.namespace) == ("https://[fd00::1]:6443", "team")
    assert access.trust.authority == files.ca.read_text()
    assert await access.credentials.authorization() == "Bearer pod-token"


def test_impersonation_may_name_several_groups(tmp_path: Path) -> None:
    user = {"as": "jane", "as-groups": ["a", "b"], "as-user-extra": {"scope": ["x"]}}
    access = load_access(kubeconfig(tmp_path / "config", user=user))
    assert access.impersonate == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-scope", "x"),
    )


@pytest.mark.parametrize(
    "user",
    [
        {"token": SECRET},
        {"username": "u", "password": SECRET},
        {"client-certificate-data": b64encode(b"c").decode(), "client-key-data": b64encode(SECRET.encode()).decode()},
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "x",
                "env": [{"name": "N", "value": SECRET}],
            }
        },
    ],
)
def test_no_secret_shows_in_a_repr(tmp_path: Path, user: dict[str, Any]) -> None:
    access = load_access(kubeconfig(tmp_path / "config", user=user))
    shown = repr(access) + repr(access.credentials)
    assert SECRET not in shown
    assert b64encode(SECRET.encode()).decode() not in shown


@pytest.mark.parametrize(
    ("user", "cluster", "says"),
    [
        ({"client-certificate-data": "YQ=="}, {}, "only one of client-certificate and client-key"),
        ({"client-certificate": "nowhere", "client-key": "nowhere"}, {}, "nowhere cannot be read"),
        ({"exec": {}}, {}, "no command"),
        ({"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"}}, {}, "is unknown"),
        ({"auth-provider": {"name": "gcp"}}, {}, "auth-provider"),
        ({}, {"certificate-authority-data": "%%%"}, "is not base64"),
        ({}, {"certificate-authority-data": "YQ==", "insecure-skip-tls-verify": True}, "Remove one of them"),
        ({}, {"server": ""}, "no server address"),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_a_remedy(
    tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], says: str
) -> None:
    with pytest.raises(AccessError, match=says) as error:
        load_access(kubeconfig(tmp_path / "config", user=user, cluster=cluster))
    assert str(error.value).count(". ") >= 1
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "is not YAML at line"),
        ("- a", "is not a mapping"),
        ("clusters: [1]", "is malformed"),
        ("", "No context is chosen"),
        ("current-context: x", "no context named 'x'. It has: none"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_told(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(AccessError, match=says):
        load_access(tmp_path / "config")


def test_without_any_configuration_one_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="tidegate up"):
        load_access(env={"HOME": str(tmp_path)})
    with pytest.raises(AccessError, match="There is no kubeconfig"):
        load_access(tmp_path / "missing")


def test_certificates_that_are_none_are_told(tmp_path: Path) -> None:
    data = b64encode(b"nonsense").decode()
    access = load_access(kubeconfig(tmp_path / "config", cluster={"certificate-authority-data": data}))
    with pytest.raises(AccessError, match="Give it as PEM"):
        tls_context(access.trust, None)
