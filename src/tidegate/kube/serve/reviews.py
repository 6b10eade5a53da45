"""AdmissionReview v1: a question taken apart, and the answer put together."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.model.json_patch import changes

_LONGEST_WARNING = 250
"""Servers cut longer ones."""


class NotAReviewError(ValueError):
    """What was sent is not an AdmissionReview v1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One write that the API server asks about."""

    review: Object
    """Everything as it was sent."""
    uid: str
    operation: str
    obj: Object
    """Empty when it is deleted."""
    old: Object
    """As it is stored now; empty when it is created."""
    name: str
    namespace: str
    user: str
    groups: tuple[str, ...]
    dry_run: bool


def parse(body: bytes) -> Asked:
    """What is asked. NotAReviewError says what is wrong with it."""
    try:
        review = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise NotAReviewError(f"the body is not JSON ({error})") from None
    said = review if isinstance(review, dict) else {}
    if said.get("kind") != "AdmissionReview" or said.get("apiVersion") != "admission.k8s.io/v1":
        raise NotAReviewError("the body is not an AdmissionReview of admission.k8s.io/v1")
    request = said.get("request")
    if not isinstance(request, dict) or not isinstance(request.get("uid"), str) or not request["uid"]:
        raise NotAReviewError("request.uid is missing")
    obj, old, who = (request.get(key) or {} for key in ("object", "oldObject", "userInfo"))
    if not all(isinstance(each, dict) for each in (obj, old, who)) or not isinstance(obj.get("metadata") or {}, dict):
        raise NotAReviewError("request.object, request.oldObject or request.userInfo is not an object")
    meta = obj.get("metadata") or {}
    return Asked(
        review=said,
        uid=request["uid"],
        operation=str(request.get("operation") or ""),
        obj=obj,
        old=old,
        name=str(request.get("name") or meta.get("name") or meta.get("generateName") or ""),
        namespace=str(request.get("namespace") or ""),
        user=str(who.get("username") or ""),
        groups=tuple(str(each) for each in who.get("groups") or ()),
        dry_run=bool(request.get("dryRun")),
    )


def allowed(asked: Asked, wanted: Object | None = None, *, warnings: tuple[str, ...] = ()) -> Object:
    """Yes, and as `wanted` says where that differs from what was sent."""
    response: dict[str, Any] = {"uid": asked.uid, "allowed": True}
    if wanted is not None and (patch := list(changes(asked.obj, wanted))):
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(msgspec.json.encode(patch)).decode()}
    if warnings:
        response["warnings"] = [each[:_LONGEST_WARNING] for each in warnings]
    return answer(response)


def refused(asked: Asked, message: str, *, code: int = 403, reason: str = "Forbidden") -> Object:
    """No, and why."""
    status = {"code": code, "reason": reason, "message": message}
    return answer({"uid": asked.uid, "allowed": False, "status": status})


def answer(response: Object) -> Object:
    """The review that carries a response."""
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
