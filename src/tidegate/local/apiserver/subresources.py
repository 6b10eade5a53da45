"""Subresources and questions that are not plain reads and writes of an object: each has its own small rule."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tidegate.kube.wire import Response
from tidegate.local.apiserver import accounts, pods, reviews
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.get import get
from tidegate.local.apiserver.patch import patch
from tidegate.local.apiserver.scale import scale
from tidegate.local.apiserver.update import update

Special = Callable[[Api, Call], Awaitable[Response]]


async def _plain(api: Api, call: Call) -> Response:
    """A subresource that is a view of the object itself; its kind's strategy knows what it may change."""
    return await {"get": get, "update": update, "patch": patch}[call.verb](api, call)


_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"

SPECIAL: dict[tuple[str, str, str], Special] = {
    ("", "bindings", ""): pods.bind,
    ("", "pods", "binding"): pods.bind,
    ("", "pods", "eviction"): pods.evict,
    ("", "pods", "log"): pods.log,
    ("", "pods", "exec"): pods.connect,
    ("", "pods", "attach"): pods.connect,
    ("", "pods", "portforward"): pods.forward,
    ("", "pods", "ephemeralcontainers"): _plain,
    ("", "pods", "resize"): _plain,
    ("", "namespaces", "finalize"): _plain,
    ("", "serviceaccounts", "token"): accounts.request_token,
    ("certificates.k8s.io", "certificatesigningrequests", "approval"): _plain,
    (_AUTHENTICATION, "tokenreviews", ""): reviews.token_review,
    (_AUTHENTICATION, "selfsubjectreviews", ""): reviews.self_subject_review,
    (_AUTHORIZATION, "selfsubjectaccessreviews", ""): reviews.self_subject_access_review,
    (_AUTHORIZATION, "subjectaccessreviews", ""): reviews.subject_access_review,
    (_AUTHORIZATION, "localsubjectaccessreviews", ""): reviews.subject_access_review,
    (_AUTHORIZATION, "selfsubjectrulesreviews", ""): reviews.self_subject_rules_review,
}


def special(call: Call) -> Special | None:
    """The rule for this resource and subresource, where it has one of its own."""
    if call.subresource == "scale":
        return scale
    return SPECIAL.get((call.served.group, call.served.plural, call.subresource))
