"""The users of a kubeconfig: which credentials their fields stand for."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate.kube.access import AccessError, Certificate, Credentials
from tidegate.kube.credentials import Fixed, TokenFile
from tidegate.kube.exec_plugin import API_VERSIONS, ExecPlugin, ExecSpec


@dataclass(frozen=True, slots=True)
class Located:
    """An entry of a kubeconfig, and the folder that its relative paths start from."""

    fields: dict[str, Any] = field(repr=False)
    folder: Path

    def text(self, name: str) -> str:
        return str(self.fields.get(name) or "")

    def content(self, name: str) -> bytes | None:
        """The bytes in `<name>-data`, else in the file that `<name>` names."""
        if encoded := self.text(f"{name}-data"):
            try:
                return b64decode(encoded, validate=True)
            except (binascii.Error, ValueError):
                raise AccessError(f"{name}-data in the kubeconfig is not base64. Encode it again.") from None
        return self.read(self.folder / self.text(name)) if self.text(name) else None

    def encoded(self, name: str) -> str | None:
        content = self.content(name)
        return None if content is None else b64encode(content).decode()

    def read(self, path: Path) -> bytes:
        try:
            return path.expanduser().read_bytes()
        except OSError as error:
            raise AccessError(f"{path} cannot be read ({error.strerror}). Check that it exists and is yours.") from None


def credentials_of(user: Located, cluster: dict[str, Any]) -> Credentials:
    """The credentials of a user; a program's win over none only, since explicit ones are meant to be used."""
    shown = _certificate(user)
    if path := user.text("tokenFile"):
        return TokenFile(user.folder / path, shown)
    if token := user.text("token"):
        return Fixed.token(token, shown)
    if name := user.text("username"):
        return Fixed.password(name, user.text("password"), shown)
    if shown is not None:
        return Fixed(shown=shown)
    if (plugin := user.fields.get("exec")) is not None:
        return ExecPlugin(_exec_spec(Located(plugin, user.folder), cluster))
    if "auth-provider" in user.fields:
        raise AccessError("The user has an auth-provider, which Kubernetes has removed. Use an exec plugin or a token.")
    return Fixed()


def impersonation_of(user: Located) -> tuple[tuple[str, str], ...]:
    """The headers that ask to act as somebody else."""
    headers = [("Impersonate-User", user.text("as"))] if user.text("as") else []
    headers += [("Impersonate-Uid", user.text("as-uid"))] if user.text("as-uid") else []
    headers += [("Impersonate-Group", str(group)) for group in user.fields.get("as-groups") or []]
    for name, values in (user.fields.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{name}", str(value)) for value in values]
    return tuple(headers)


def _certificate(user: Located) -> Certificate | None:
    certificate, key = user.content("client-certificate"), user.content("client-key")
    if (certificate is None) != (key is None):
        raise AccessError("The user has only one of client-certificate and client-key. Give both.")
    return Certificate(certificate, key) if certificate is not None and key is not None else None


def _exec_spec(plugin: Located, cluster: dict[str, Any]) -> ExecSpec:
    if not isinstance(plugin.fields, dict) or not plugin.text("command"):
        raise AccessError("The user's exec entry has no command. Set `exec.command` in the kubeconfig.")
    version, command = plugin.text("apiVersion"), plugin.text("command")
    if version not in API_VERSIONS:
        raise AccessError(f"exec.apiVersion {version!r} is unknown. Use {API_VERSIONS[0]}.")
    if "/" in command:
        command = str(plugin.folder / command)
    env = {str(entry["name"]): str(entry["value"]) for entry in plugin.fields.get("env") or []}
    return ExecSpec(
        api_version=version,
        command=command,
        args=tuple(str(arg) for arg in plugin.fields.get("args") or []),
        env=env,
        install_hint=" ".join(plugin.text("installHint").split()),
        interactive=plugin.text("interactiveMode") != "Never",
        cluster=cluster if plugin.fields.get("provideClusterInfo") else None,
    )
