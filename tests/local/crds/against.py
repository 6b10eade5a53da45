"""A real API server's judgement and ours, in one form, so that a test can compare them."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

from tests.harness import Cluster, Reply
from tidegate.local.crds.checks import validate_crd_create
from tidegate.local.crds.definition import Definition, default_crd, prepare_create
from tidegate.local.crds.objects import CustomResource
from tidegate.local.errors import FieldError

Json = Any
GROUP = "against.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True)
class Judgement:
    """What came of a request: its status, the fields that were refused and why, and the object."""

    status: int
    causes: tuple[tuple[str, str, str], ...] = ()
    result: Json = None


def definition(plural: str, schema: Json, **version: Json) -> Json:
    kind = plural.removesuffix("s").capitalize()
    made = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [made],
        },
    }


def with_spec(fields: Json, **more: Json) -> Json:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}, **more}}


def install(cluster: Cluster, crd: Json) -> Definition:
    """Creates a definition and waits until its objects are served."""
    name = crd["metadata"]["name"]
    cluster.create(DEFINITIONS, crd)
    served = cluster.eventually(f"{DEFINITIONS}/{name}", lambda reply: Definition.parse(reply.json).established)
    plural = crd["spec"]["names"]["plural"]
    cluster.eventually(f"/apis/{GROUP}/v1/{plural}", lambda reply: reply.status == 200)
    return Definition.parse(served.json)


def theirs(reply: Reply, keys: tuple[str, ...] = ("spec",)) -> Judgement:
    if reply.status == 422:
        causes = reply.json["details"].get("causes", [])
        found = {(cause.get("field", ""), cause["reason"], cause["message"]) for cause in causes}
        return Judgement(422, tuple(sorted(found)))
    if reply.status >= 400:
        return Judgement(reply.status)
    return Judgement(reply.status, (), {key: reply.json.get(key) for key in keys})


def ours(found: list[FieldError], obj: Json, *, status: int, keys: tuple[str, ...] = ("spec",)) -> Judgement:
    if found:
        said = {(error.field, error.cause["reason"], error.cause["message"]) for error in found}
        return Judgement(422, tuple(sorted(said)))
    return Judgement(status, (), {key: obj.get(key) for key in keys})


def our_create(resource: CustomResource, obj: Json, *, strict: bool) -> Judgement:
    try:
        decoded = resource.decode(json.dumps(obj).encode())
    except ValueError:
        return Judgement(400)
    if strict and decoded.complaints:
        return Judgement(400)
    resource.default(decoded.obj)
    return ours(resource.validate_create(decoded.obj), decoded.obj, status=201)


def our_definition(crd: Json) -> list[FieldError]:
    made = copy.deepcopy(crd)
    default_crd(made)
    prepare_create(made)
    return validate_crd_create(made)
