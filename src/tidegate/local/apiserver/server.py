"""The story of a request: who asks, may they, what for, and which verb answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from tidegate.kube.wire import Request, Response
from tidegate.local.access.rbac import Question
from tidegate.local.access.users import LOOPBACK, User
from tidegate.local.apiserver.answers import encode, warned
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.create import create
from tidegate.local.apiserver.deadline import asked_s, in_time
from tidegate.local.apiserver.delete import delete, delete_collection
from tidegate.local.apiserver.documents import document
from tidegate.local.apiserver.front import Peer
from tidegate.local.apiserver.get import get
from tidegate.local.apiserver.list import list_
from tidegate.local.apiserver.negotiate import shape_of
from tidegate.local.apiserver.patch import patch
from tidegate.local.apiserver.routes import Route, route_of, verb_of
from tidegate.local.apiserver.served import Served
from tidegate.local.apiserver.subresources import special
from tidegate.local.apiserver.update import update
from tidegate.local.apiserver.watch import watch
from tidegate.local.errors import (
    ApiError,
    NoPageError,
    bad_request,
    internal,
    method_not_allowed,
    not_found,
    page_not_found,
)
from tidegate.local.store import NotStoredError

log = logging.getLogger(__name__)

Verb = Callable[[Api, Call], Coroutine[Any, Any, Response]]

VERBS: dict[str, Verb] = {
    "get": get,
    "list": list_,
    "watch": watch,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}
_PLAIN_SUBRESOURCES = {"", "status"}
_STREAMED = {"log", "exec", "attach", "portforward", "proxy"}
"""Subresources that are no objects, so that no shape is asked for."""


class Server:
    """Answers requests. `handle` is what a socket calls, `send` what a client in the same process calls."""

    def __init__(self, api: Api) -> None:
        self.api = api

    async def handle(self, request: Request, peer: Peer) -> Response:
        try:
            user = self.api.access.user_of(request, peer.certificate)
            return await self.answer(request, user)
        except ApiError as error:
            return refused(error)

    async def answer(self, request: Request, user: User) -> Response:
        """The answer for a user that is known, whatever happens on the way."""
        try:
            return await self._answer(request, user)
        except ApiError as error:
            return refused(error)
        except NotStoredError as error:
            # One line: a disk that is full has no room for more.
            log.error("%s %s was not stored: %s", request.method, request.path, error)
            return refused(internal(f"it could not be stored: {error}; make room on the server's disk"))
        except Exception as error:
            log.exception("%s %s failed", request.method, request.path)
            return refused(internal(f"{type(error).__name__}: see the server's log"))

    async def _answer(self, request: Request, user: User) -> Response:
        route = route_of(request.path)
        if route is None:
            self.api.access.authorize(user, Question(request.method.lower(), path=request.path))
            return document(self.api, request)
        verb = verb_of(request.method, route, request.query)
        self.api.access.authorize(user, _question(verb, route, request))
        call = self._call(request, user, route, verb)
        if route.subresource not in _STREAMED:
            shape_of(request.headers.get("accept", ""))
        try:
            if route.rest and route.subresource != "proxy":
                raise page_not_found()
            if rule := special(call):
                return await rule(self.api, call)
            if route.subresource not in _PLAIN_SUBRESOURCES:
                raise page_not_found()
            within_s = asked_s(request) if call.verb != "watch" else None
            return await in_time(VERBS[call.verb](self.api, call), within_s)
        except ApiError as error:
            return refused(error, call.warnings)

    def _call(self, request: Request, user: User, route: Route, verb: str) -> Call:
        served = self.api.registry.find(route.group, route.version, route.plural)
        if served is None or (route.namespace and not served.namespaced):
            raise self.api.registry.missing(route.group)
        verbs = served.verbs
        if route.subresource:
            sub = served.subresources.get(route.subresource)
            if sub is None:
                raise _no_subresource(served, route)
            verbs = sub.verbs
        everywhere = served.namespaced and not route.namespace
        if everywhere and route.name:
            raise self.api.registry.missing(route.group)
        if served.custom:
            verb = "create" if verb == "create elsewhere" else verb  # The name in the path is not looked at.
            _check_custom(served, route, verb, verbs)
        if verb not in verbs or (everywhere and verb not in ("list", "watch") and not _reviewed(route)):
            raise method_not_allowed()
        warnings = [served.warning] if served.warning else []
        return Call(request, user, verb, route, served, self.api.now(), warnings)


def _no_subresource(served: Served, route: Route) -> ApiError:
    """A custom object's missing subresource is told as if the object were missing."""
    if served.custom:
        return not_found(served.group, served.plural, route.name)
    return page_not_found()


def _check_custom(served: Served, route: Route, verb: str, verbs: Sequence[str]) -> None:
    """Methods that custom resources refuse in words of their own."""
    if verb in ("update elsewhere", "patch elsewhere"):
        raise bad_request("name must be provided")
    if route.subresource and verb not in verbs:
        message = f'{verb} is not supported on resources of kind "{served.qualified}"'
        raise ApiError(405, "MethodNotAllowed", message, {"group": served.group, "kind": served.plural})


def _reviewed(route: Route) -> bool:
    return route.group == "authorization.k8s.io"


def _question(verb: str, route: Route, request: Request) -> Question:
    name = route.name
    if not name and verb in ("list", "watch", "deletecollection"):
        # A list of exactly one name is authorised like a get of it.
        selector = request.query.get("fieldSelector", "")
        if selector.startswith("metadata.name=") and "," not in selector:
            name = selector.removeprefix("metadata.name=").lstrip("=")
    namespace = route.namespace
    if route.plural == "namespaces" and not route.group:
        namespace = route.name
    return Question(verb, route.group, route.plural, route.subresource, namespace, name)


def refused(error: ApiError, warnings: Sequence[str] = ()) -> Response:
    headers = {"content-type": "application/json", "cache-control": "no-cache, private"}
    if warnings:
        headers["warning"] = warned(warnings)
    if error.code == 401:
        headers["www-authenticate"] = 'Bearer realm="tidegate"'
    if error.code in (429, 503, 504):
        headers["retry-after"] = str((error.details or {}).get("retryAfterSeconds", 1))
    if isinstance(error, NoPageError):
        text = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
        return Response(error.code, f"{error.message}\n".encode(), headers | text)
    return Response(error.code, encode(error.status()), headers)


class InProcess:
    """A Transport for clients in the server's own process: the same answers, and no socket in between."""

    def __init__(self, server: Server, user: User = LOOPBACK) -> None:
        self._server = server
        self._user = user

    async def send(self, request: Request) -> Response:
        return await self._server.answer(request, self._user)

    async def close(self) -> None:
        """Nothing to close: the server is not ours."""
