"""OpenAPI documents, made when asked for and kept until what is served changes."""

from __future__ import annotations

from tidegate.kube.wire import Request, Response
from tidegate.local.apiserver.registry import Registry
from tidegate.local.errors import page_not_found


class OpenApi:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def answer(self, request: Request) -> Response:
        raise page_not_found()
