"""Everything served that is not a resource: version, health, discovery, OpenAPI, keys for tokens."""

from __future__ import annotations

import platform

from tidegate.kube.wire import Request, Response
from tidegate.local.apiserver.answers import encode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.discovery import discover
from tidegate.local.apiserver.negotiate import shape_of
from tidegate.local.errors import NoPageError, method_not_allowed

KUBERNETES = "v1.36.3"
"""The version whose API this is; clients choose their behaviour by it."""
_HEALTH = ("/healthz", "/livez", "/readyz")
_CHECKS = ("ping", "store", "etcd", "log")


def document(api: Api, request: Request) -> Response:
    path = request.path.rstrip("/") or "/"
    if path.startswith(_HEALTH):
        return _health(path, request)
    if request.method not in ("GET", "HEAD"):
        raise method_not_allowed() if path.startswith(("/api", "/version", "/openapi")) else NoPageError()
    if path in ("/api", "/apis") or path.startswith(("/api/", "/apis/")):
        return discover(api.registry, request)
    if path.startswith("/openapi/"):
        return api.openapi.answer(request)
    match path:
        case "/version":
            shape_of(request.headers.get("accept", ""))
            return Response(200, encode(version()))
        case "/":
            return Response(200, encode({"paths": _paths(api)}))
        case "/.well-known/openid-configuration":
            return Response(200, encode(_issuer()))
        case "/openid/v1/jwks":
            return Response(200, encode(_keys(api)), {"content-type": "application/jwk-set+json"})
        case "/metrics":
            return Response(200, _metrics(api), {"content-type": "text/plain; version=0.0.4"})
    raise NoPageError()


def version() -> dict[str, str]:
    major, minor, _ = KUBERNETES[1:].split(".")
    return {
        "major": major, "minor": minor, "emulationMajor": major, "emulationMinor": minor,
        "minCompatibilityMajor": major, "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": KUBERNETES, "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }  # fmt: skip


def _health(path: str, request: Request) -> Response:
    if path.count("/") > 1 and path.rpartition("/")[2] not in _CHECKS:
        raise NoPageError()
    headers = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
    if "verbose" in request.query:
        return Response(200, b"[+]ping ok\n[+]store ok\n%b check passed\n" % path.strip("/").encode(), headers)
    return Response(200, b"ok", headers)


def _paths(api: Api) -> list[str]:
    groups = {f"/apis/{served.group}" for served in api.registry.all() if served.group}
    versions = {f"/apis/{served.api_version}" for served in api.registry.all() if served.group}
    fixed = {"/api", "/api/v1", "/apis", "/healthz", "/livez", "/readyz", "/openapi/v2", "/openapi/v3", "/version"}
    return sorted(groups | versions | fixed)


def _issuer() -> dict[str, object]:
    from tidegate.local.access.tokens import ISSUER

    return {
        "issuer": ISSUER, "jwks_uri": f"{ISSUER}/openid/v1/jwks", "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
    }  # fmt: skip


def _keys(api: Api) -> dict[str, object]:
    from jwt.algorithms import ECAlgorithm

    key = ECAlgorithm.to_jwk(api.access.tokens.public_key(), as_dict=True)
    return {"keys": [key | {"use": "sig", "alg": "ES256", "kid": api.access.tokens.key_id()}]}


def _metrics(api: Api) -> bytes:
    lines = ["# TYPE apiserver_storage_objects gauge"]
    for served in api.registry.stored():
        lines.append(f'apiserver_storage_objects{{resource="{served.qualified}"}} {api.store.count(served.prefix)}')
    lines += ["# TYPE tidegate_store_revision counter", f"tidegate_store_revision {api.store.revision}", ""]
    return "\n".join(lines).encode()
