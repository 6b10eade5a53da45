"""One API server as a test sees it: raw requests, watches, and kubectl."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tools.build_kube import assets

Json = Any

PATIENCE_S = 60.0
"""How long to wait for what is to happen soon: machines are shared, and a failure is to mean something."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whole: status, headers (names in lower case) and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        """The `reason` of a Status answer; empty for any other."""
        content = self.json if self.body[:1] == b"{" else {}
        return content.get("reason", "") if content.get("kind") == "Status" else ""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    code: int
    out: str
    err: str


class Watch:
    """Events of one chunked watch; iterating ends when the server closes it, or after `timeout_s` without an event."""

    def __init__(self, connection: http.client.HTTPSConnection, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self._connection = connection
        self._response = response

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[Json]:
        return self

    def __next__(self) -> Json:
        line = self._response.readline()
        if not line:
            raise StopIteration
        return json.loads(line)

    def until(self, *types: str) -> list[Json]:
        """Events up to and with the first whose type is one of `types`; all of them if the stream ends first."""
        seen = []
        for event in self:
            seen.append(event)
            if event["type"] in types:
                break
        return seen

    def rest(self) -> list[Json]:
        """Every event until the server ends the stream."""
        return list(self)


@dataclass(kw_only=True)
class Cluster:
    """A running API server. `name` is `real` or `embedded`; requests go out as cluster admin unless told otherwise."""

    name: str
    url: str
    token: str
    ca_file: Path
    kubeconfig: Path
    folder: Path
    _local: threading.local = field(default_factory=threading.local, repr=False)
    _tls: ssl.SSLContext | None = field(default=None, repr=False)

    def _connect(self, timeout_s: float) -> http.client.HTTPSConnection:
        if self._tls is None:
            self._tls = ssl.create_default_context(cafile=str(self.ca_file))
        address = urlsplit(self.url)
        return http.client.HTTPSConnection(
            address.hostname or "", address.port or 443, timeout=timeout_s, context=self._tls
        )

    def _headers(self, headers: Mapping[str, str] | None, token: str | None) -> dict[str, str]:
        given = {name: value for name, value in (headers or {}).items() if value is not None}
        bearer = self.token if token is None else token
        return ({"Authorization": f"Bearer {bearer}"} if bearer else {}) | given

    def http(
        self,
        method: str,
        path: str,
        body: Json | bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        token: str | None = None,
        timeout_s: float = 60,
    ) -> Reply:
        """Send one request. A body that is not bytes or text is sent as JSON; `token=""` sends none."""
        sent = self._headers(headers, token)
        if body is not None and not isinstance(body, bytes | str):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        for attempt in (1, 2):
            kept = getattr(self._local, "connection", None)
            connection = kept or self._connect(timeout_s)
            self._local.connection = connection
            connection.timeout = timeout_s
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            try:
                connection.request(method, path, body=body, headers=sent)
                response = connection.getresponse()
                content = response.read()
                break
            except (http.client.HTTPException, ConnectionError, ssl.SSLError):
                # A kept connection may have been closed by the server meanwhile; a fresh one may not.
                self.close()
                if kept is None or attempt == 2:
                    raise
            except BaseException:
                self.close()
                raise
        names = {name.lower(): value for name, value in response.getheaders()}
        if names.get("connection", "").lower() == "close":
            self.close()
        return Reply(status=response.status, headers=names, body=content)

    def watch(
        self,
        path: str,
        params: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout_s: float = 20,
    ) -> Watch:
        """Open a chunked watch on a collection; `timeout_s` bounds the silence between two events."""
        connection = self._connect(timeout_s)
        query = urlencode({"watch": "true", **(params or {})})
        try:
            connection.request("GET", f"{path}?{query}", headers=self._headers(headers, None))
            return Watch(connection, connection.getresponse())
        except BaseException:
            connection.close()
            raise

    def get(self, path: str) -> Json:
        return self._expect("GET", path, None)

    def create(self, path: str, body: Json) -> Json:
        return self._expect("POST", path, body)

    def _expect(self, method: str, path: str, body: Json) -> Json:
        reply = self.http(method, path, body)
        assert reply.status < 300, f"{method} {path}: {reply.status} {reply.body[:500]!r}"
        return reply.json

    def eventually(self, path: str, accept: Any, *, timeout_s: float = PATIENCE_S) -> Reply:
        """The first answer to GET `path` that `accept(reply)` is true of; asked again until then."""
        deadline = time.monotonic() + timeout_s
        while True:
            reply = self.http("GET", path)
            if accept(reply):
                return reply
            assert time.monotonic() < deadline, f"{path} after {timeout_s} s: {reply.status} {reply.body[:800]!r}"
            time.sleep(0.05)

    def namespace(self, prefix: str = "t-") -> str:
        """A fresh namespace in which pods can be created."""
        name: str = self.create("/api/v1/namespaces", {"metadata": {"generateName": prefix}})["metadata"]["name"]
        self.eventually(f"/api/v1/namespaces/{name}/serviceaccounts/default", lambda reply: reply.status == 200)
        return name

    def kubectl(
        self, *args: str, stdin: str | None = None, env: Mapping[str, str] | None = None, timeout_s: float = 60
    ) -> Finished:
        """Run the real kubectl against this server, with a home of its own."""
        done = subprocess.run(
            [str(assets() / "kubectl"), *args],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env=self.kubectl_env() | dict(env or {}),
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def kubectl_env(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(home), "KUBECONFIG": str(self.kubeconfig)}

    def close(self) -> None:
        """Give up this thread's kept connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None
