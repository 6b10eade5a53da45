"""An admission webhook for tests: a small HTTPS server on loopback that answers as each test tells it to."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.harness import certificates

Json = Any
Verdict = Callable[[Json], Json]


def allow(_: Json) -> Json:
    return {"allowed": True}


def deny(message: str, code: int = 403) -> Verdict:
    return lambda _: {"allowed": False, "status": {"message": message, "code": code}}


def patch(*operations: Json) -> Verdict:
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


class WebhookServer:
    """`verdicts[path]` decides; every review that came is kept in `reviews`."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Verdict] = {}
        self.reviews: list[tuple[str, Json]] = []
        self._folder = tempfile.TemporaryDirectory(prefix="webhook-")
        self._tls = certificates.serving(Path(self._folder.name))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        # A server under test that gives up on a slow answer is no error here.
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._tls.cert, self._tls.key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> WebhookServer:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._folder.cleanup()

    def client_config(self, path: str) -> Json:
        bundle = base64.b64encode(self._tls.ca.read_bytes()).decode()
        return {"url": f"https://127.0.0.1:{self._server.server_address[1]}{path}", "caBundle": bundle}

    def asked(self, path: str) -> list[Json]:
        """The requests that came to `path` so far."""
        return [request for where, request in self.reviews if where == path]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.split("?")[0]
                server.reviews.append((path, review["request"]))
                response = server.verdicts[path](review["request"]) | {"uid": review["request"]["uid"]}
                body = json.dumps({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                pass

        return Handler
