"""A front before a real API server that answers for OpenAPI itself and passes everything else on."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.harness import Cluster, certificates
from tests.harness.realkube import write_kubeconfig
from tidegate.local.schema.openapi import PublishedKind, openapi_v2, openapi_v3, openapi_v3_index, openapi_v3_paths

HOP = {"connection", "content-length", "transfer-encoding", "host", "authorization", "accept-encoding"}


@contextmanager
def openapi_front(behind: Cluster, kinds: list[PublishedKind], folder: Path) -> Iterator[tuple[Cluster, list[str]]]:
    """The front as a cluster for kubectl, and the OpenAPI requests it got so far."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            path = urlsplit(self.path).path
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size) if size else None
            if path.startswith("/openapi/"):
                asked.append(f"{self.path} {self.headers['Accept']}")
                self._send(*_openapi(path, kinds, self.headers["Accept"] or ""), {"Content-Type": "application/json"})
                return
            passed = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            reply = behind.http(self.command, self.path, body, passed)
            behind.close()
            self._send(reply.status, reply.body, {k: v for k, v in reply.headers.items() if k not in HOP})

        def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Silence."""

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    tls = certificates.serving(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.cert, tls.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    url = f"https://127.0.0.1:{server.server_port}"
    write_kubeconfig(folder / "kubeconfig", url=url, ca=tls.ca, token=behind.token)
    front = Cluster(
        name="front", url=url, token=behind.token, ca_file=tls.ca, kubeconfig=folder / "kubeconfig", folder=folder
    )
    try:
        yield front, asked
    finally:
        server.shutdown()
        server.server_close()


def _openapi(path: str, kinds: list[PublishedKind], accept: str) -> tuple[int, bytes]:
    if "protobuf" in accept and "json" not in accept:
        return 406, b""
    if path == "/openapi/v2":
        return 200, json.dumps(openapi_v2(kinds)).encode()
    if path == "/openapi/v3":
        return 200, json.dumps(openapi_v3_index(kinds)).encode()
    inner = path.removeprefix("/openapi/v3/")
    return (200, json.dumps(openapi_v3(inner, kinds)).encode()) if inner in openapi_v3_paths(kinds) else (404, b"")
