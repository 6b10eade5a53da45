"""Where the server is and who we are, from kubeconfig files or from inside a cluster, in kubectl's order:

an explicit file, else every file of $KUBECONFIG merged, else ~/.kube/config; and where none of them exists, the service
account of the pod we run in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tidegate.kube.access import Access, AccessError, Trust
from tidegate.kube.credentials import TokenFile
from tidegate.kube.users import Located, credentials_of, impersonation_of

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_KINDS = {"clusters": "cluster", "users": "user", "contexts": "context"}


@dataclass(slots=True)
class Kubeconfig:
    """One or several files as one: of two entries with the same name, the one that came first counts."""

    current: str = ""
    clusters: dict[str, Located] = field(default_factory=dict)
    users: dict[str, Located] = field(default_factory=dict, repr=False)
    contexts: dict[str, Located] = field(default_factory=dict)

    def merge(self, path: Path) -> None:
        content = _read(path)
        self.current = self.current or content.get("current-context") or ""
        for plural, singular in _KINDS.items():
            for entry in content.get(plural) or []:
                if not isinstance(entry, dict) or not isinstance(entry.get(singular) or {}, dict):
                    raise AccessError(
                        f"An entry of {plural} in {path} is malformed. Compare with `kubectl config view`."
                    )
                named = getattr(self, plural)
                named.setdefault(entry.get("name") or "", Located(entry.get(singular) or {}, path.parent))

    def access(self, context: str | None = None) -> Access:
        """How the server of a context (the current one by default) is reached."""
        name = context or self.current
        if not name:
            raise AccessError("No context is chosen. Name one, or run `kubectl config use-context`.")
        chosen = _named(self.contexts, name, "context")
        cluster = _named(self.clusters, chosen.text("cluster"), "cluster")
        user = _named(self.users, chosen.text("user"), "user") if chosen.text("user") else Located({}, Path())
        server = cluster.text("server")
        if not _is_address(server):
            raise AccessError(f"The cluster of context {name} has no server address. Set `server` to its https:// URL.")
        return Access(
            server=server,
            credentials=credentials_of(user, _cluster_for_plugin(cluster)),
            trust=_trust(cluster),
            namespace=chosen.text("namespace") or "default",
            proxy=cluster.text("proxy-url") or None,
            compress=not cluster.fields.get("disable-compression"),
            impersonate=impersonation_of(user),
        )


def _is_address(server: str) -> bool:
    try:
        parts = urlsplit(server)
        return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # A port that cannot be.
        return False


def load_access(
    kubeconfig: Path | None = None, context: str | None = None, *, env: Mapping[str, str] = os.environ
) -> Access:
    """How to reach the server that kubectl would talk to."""
    files = _files(kubeconfig, env)
    if not files:
        if env.get("KUBERNETES_SERVICE_HOST") and (_SERVICE_ACCOUNT / "token").exists():
            return in_cluster(env=env)
        if listed := env.get("KUBECONFIG"):
            raise AccessError(f"KUBECONFIG says {listed}, which is not there. Correct it, or unset it.")
        raise AccessError("There is no kubeconfig and this is not a pod. Run `tidegate up`, or set KUBECONFIG.")
    config = Kubeconfig()
    for path in files:
        config.merge(path)
    return config.access(context)


def in_cluster(*, env: Mapping[str, str] = os.environ, folder: Path = _SERVICE_ACCOUNT) -> Access:
    """How a pod reaches its own cluster: by its service account, whose token file is rotated."""
    host, port = env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise AccessError("KUBERNETES_SERVICE_HOST is not set, so this is no pod. Use a kubeconfig.")
    namespace = folder / "namespace"
    return Access(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        credentials=TokenFile(folder / "token"),
        trust=Trust(Located({}, folder).read(folder / "ca.crt").decode()),
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
    )


def _files(explicit: Path | None, env: Mapping[str, str]) -> list[Path]:
    if explicit is not None:
        if not explicit.exists():
            raise AccessError(f"There is no kubeconfig {explicit}. Check the path.")
        return [explicit]
    if listed := env.get("KUBECONFIG"):
        return [path for name in listed.split(os.pathsep) if name and (path := Path(name).expanduser()).exists()]
    home = Path(env.get("HOME") or Path.home()) / ".kube" / "config"
    return [home] if home.exists() else []


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except OSError as error:
        raise AccessError(f"The kubeconfig {path} cannot be read ({error.strerror}). Check its permissions.") from None
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" at line {line + 1}"
        raise AccessError(f"The kubeconfig {path} is not YAML{where}. Correct it there.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise AccessError(f"The kubeconfig {path} is not a mapping. Compare with `kubectl config view`.")
    return content


def _named(entries: dict[str, Located], name: str, kind: str) -> Located:
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise AccessError(f"The kubeconfig has no {kind} named {name!r}. It has: {known}.")
    return entries[name]


def _trust(cluster: Located) -> Trust:
    authority = cluster.content("certificate-authority")
    insecure = bool(cluster.fields.get("insecure-skip-tls-verify"))
    if insecure and authority is not None:
        raise AccessError("The cluster has a certificate authority and insecure-skip-tls-verify. Remove one of them.")
    return Trust(
        authority.decode(errors="replace") if authority is not None else None,
        verify=not insecure,
        server_name=cluster.text("tls-server-name") or None,
    )


def _cluster_for_plugin(cluster: Located) -> dict[str, Any]:
    """What a credential program is told about the server: the fields of kubeconfig, with files read in."""
    told = {name: cluster.fields[name] for name in _TOLD if name in cluster.fields}
    authority = cluster.encoded("certificate-authority")
    return told | ({"certificate-authority-data": authority} if authority else {})


_TOLD = ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url", "disable-compression")
