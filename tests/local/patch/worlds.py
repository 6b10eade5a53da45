"""Small worlds of objects: for each kind a way to draw a random configuration from few names and values.

Few names make managers meet: they apply the same labels, containers and keys with different values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tidegate.local.patch import FieldSet, reset_fields
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.node import Schema

Object = dict[str, Any]


def some(random: Random, names: list[str], draw: Callable[[], Any], chance: float = 0.5) -> Object:
    return {name: draw() for name in names if random.random() < chance}


def maybe(random: Random, obj: Object, chance: float = 0.5) -> Object:
    """Each field of `obj` with this chance."""
    return {key: value for key, value in obj.items() if random.random() < chance}


@dataclass(frozen=True, kw_only=True)
class World:
    """One kind, and how to draw objects of it. `late`: fields the server sets after it has noted who set what."""

    group: str
    version: str
    kind: str
    plural: str
    schema: Schema
    draw: Callable[[Random], Object]
    draw_status: Callable[[Random], Object] | None = None
    late: tuple[str, ...] = ()
    custom: bool = False
    strategic: bool = True
    exact: bool = False
    """The server adds nothing: results can be compared whole."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, name: str = "", subresource: str = "") -> str:
        base = f"/apis/{self.group}" if self.group else "/api"
        parts = [base, self.version, "namespaces/default", self.plural, name, subresource]
        return "/".join(part for part in parts if part)

    def reset(self, subresource: str = "") -> FieldSet:
        has_status = self.draw_status is not None or not self.exact
        return reset_fields(self.group, self.kind, subresource, has_status=has_status, custom=self.custom)

    def config(self, random: Random, name: str) -> Object:
        drawn = self.draw(random)
        metadata = {"name": name, **_metadata(random), **drawn.pop("metadata", {})}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **drawn}


def _metadata(random: Random) -> Object:
    labels = some(random, ["app", "tier", "track"], lambda: random.choice(["a", "b"]), 0.4)
    annotations = some(random, ["x.io/one", "x.io/two"], lambda: random.choice(["1", "2"]), 0.3)
    finalizers = [name for name in ("x.io/f", "x.io/g") if random.random() < 0.2]
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": f"owner-{uid}", "uid": uid}
        for uid in ("u1", "u2")
        if random.random() < 0.15
    ]
    made = {"labels": labels, "annotations": annotations, "finalizers": finalizers, "ownerReferences": owners}
    return {key: value for key, value in made.items() if value or random.random() < 0.1}


def _config_map(random: Random) -> Object:
    data = some(random, ["a", "b", "c"], lambda: random.choice(["1", "2"]))
    binary = some(random, ["d", "e"], lambda: random.choice(["MQ==", "Mg=="]), 0.2)
    return maybe(random, {"data": data, "binaryData": binary}, 0.8)


def _env(random: Random) -> list[Object]:
    names = [name for name in ("A", "B", "C") if random.random() < 0.5]
    random.shuffle(names)
    return [{"name": name, "value": random.choice(["1", "2"])} for name in names]


def _ports(random: Random) -> list[Object]:
    made = []
    for number in (80, 81):
        for protocol in ("TCP", "UDP"):
            if random.random() < 0.3:
                port: Object = {"containerPort": number}
                if protocol != "TCP" or random.random() < 0.5:
                    port["protocol"] = protocol
                made.append(port | maybe(random, {"name": f"p{number}{protocol.lower()}"}))
    return made


def _container(random: Random, name: str) -> Object:
    more: Object = {
        "env": _env(random),
        "ports": _ports(random),
        "command": random.choice([["sh"], ["sh", "-c"], []]),
        "resources": maybe(random, {"limits": some(random, ["cpu", "memory"], lambda: random.choice(["1", "2"]))}),
        "imagePullPolicy": random.choice(["Always", "IfNotPresent"]),
        "tty": random.choice([True, False]),
        "securityContext": maybe(random, {"runAsUser": random.choice([1, 2]), "privileged": False}),
        "volumeMounts": [{"name": "v", "mountPath": path} for path in ("/m", "/n") if random.random() < 0.4],
    }
    return {"name": name, "image": random.choice(["i:1", "i:2"]), **maybe(random, more, 0.3)}


def _pod_spec(random: Random) -> Object:
    names = [name for name in ("one", "two", "three") if random.random() < 0.5] or ["one"]
    random.shuffle(names)
    more: Object = {
        "nodeSelector": some(random, ["zone", "disk"], lambda: random.choice(["a", "b"])),
        "tolerations": [{"key": key, "operator": "Exists"} for key in ("k", "l") if random.random() < 0.5],
        "hostNetwork": False,
        "terminationGracePeriodSeconds": random.choice([10, 30]),
        "securityContext": maybe(random, {"fsGroup": random.choice([1, 2])}),
        "imagePullSecrets": [{"name": name} for name in ("s", "t") if random.random() < 0.5],
        "hostAliases": [{"ip": ip, "hostnames": ["h"]} for ip in ("1.1.1.1", "2.2.2.2") if random.random() < 0.5],
    }
    volumes = [{"name": "v", **random.choice([{"emptyDir": {}}, {"configMap": {"name": "cm"}}])}]
    return {"containers": [_container(random, name) for name in names], "volumes": volumes} | maybe(random, more, 0.3)


def _deployment(random: Random) -> Object:
    template = {"metadata": {"labels": {"app": "x"} | some(random, ["v"], lambda: random.choice(["1", "2"]))}}
    spec: Object = {"selector": {"matchLabels": {"app": "x"}}, "template": template | {"spec": _pod_spec(random)}}
    more: Object = {
        "replicas": random.choice([0, 1, 2]),
        "paused": random.choice([True, False]),
        "minReadySeconds": random.choice([0, 5]),
        "strategy": random.choice(
            [{"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}, {"type": "RollingUpdate"}]
        ),
    }
    return {"spec": spec | maybe(random, more, 0.4)}


def _conditions(random: Random) -> list[Object]:
    return [
        {"type": name, "status": random.choice(["True", "False"]), "reason": random.choice(["R", "S"])}
        for name in ("Available", "Progressing")
        if random.random() < 0.6
    ]


def _deployment_status(random: Random) -> Object:
    drawn: Object = {"replicas": 1, "observedGeneration": random.choice([1, 2]), "conditions": _conditions(random)}
    return maybe(random, drawn, 0.7)


def _pod(random: Random) -> Object:
    return {"spec": _pod_spec(random)}


def _service(random: Random) -> Object:
    ports = [
        {
            "port": number,
            "name": f"n{number}",
            **maybe(random, {"targetPort": random.choice([1, "x"]), "protocol": "TCP"}),
        }
        for number in (80, 81, 82)
        if random.random() < 0.6
    ] or [{"port": 80, "name": "n80"}]
    more: Object = {
        "selector": some(random, ["app", "tier"], lambda: random.choice(["a", "b"])),
        "publishNotReadyAddresses": random.choice([True, False]),
    }
    return {"spec": {"ports": ports} | maybe(random, more, 0.5)}


def _widget(random: Random) -> Object:
    items = [
        {"name": name, **maybe(random, {"zone": "z"}), **maybe(random, {"size": random.choice([1, 2])})}
        for name in ("a", "b", "c")
        if random.random() < 0.5
    ]
    random.shuffle(items)
    tags = [tag for tag in ("x", "y", "<z>") if random.random() < 0.5]
    random.shuffle(tags)
    spec: Object = {
        "items": items,
        "tags": tags,
        "steps": random.choice([["1"], ["1", "2"], []]),
        "pair": maybe(random, {"left": random.choice([1, 2]), "right": random.choice([1, 2])}),
        "whole": maybe(random, {"left": random.choice([1, 2]), "right": random.choice([1, 2])}),
        "table": some(random, ["p", "q"], lambda: maybe(random, {"n": random.choice([1, 2])})),
        "free": random.choice([{"a": 1}, {"a": {"b": 1}}, {"a": {"b": 2, "c": [1]}}, {"a": [1, 2]}, {}]),
        "size": random.choice([1, 2]),
    }
    return maybe(random, {"spec": maybe(random, spec)}, 0.9)


def _widget_status(random: Random) -> Object:
    return maybe(random, {"phase": random.choice(["A", "B"]), "conditions": _conditions(random)}, 0.7)


_INT = {"type": "integer"}
_PAIR = {"type": "object", "properties": {"left": _INT, "right": _INT}}
_ITEM = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "zone": {"type": "string", "default": "here"}, "size": _INT},
}
_CONDITION = {"type": "object", "properties": {name: {"type": "string"} for name in ("type", "status", "reason")}}
_WIDGET_SPEC = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": _ITEM,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "zone"],
        },
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "steps": {"type": "array", "items": {"type": "string"}},
        "pair": _PAIR,
        "whole": _PAIR | {"x-kubernetes-map-type": "atomic"},
        "table": {"type": "object", "additionalProperties": {"type": "object", "properties": {"n": _INT}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "size": _INT,
    },
}
_WIDGET_STATUS = {
    "type": "object",
    "properties": {
        "phase": {"type": "string"},
        "conditions": {
            "type": "array",
            "items": _CONDITION | {"required": ["type"]},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    },
}
WIDGET_CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.patch.test"},
    "spec": {
        "group": "patch.test",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": _WIDGET_SPEC, "status": _WIDGET_STATUS},
                    }
                },
            }
        ],
    },
}


def schema_of(openapi: Object) -> Schema:
    """A small reader of OpenAPI nodes, enough for the CRD above."""
    schema = Schema(openapi.get("type", ""))
    schema.properties = {key: schema_of(node) for key, node in openapi.get("properties", {}).items()}
    if "items" in openapi:
        schema.items = schema_of(openapi["items"])
    if "additionalProperties" in openapi:
        schema.values = schema_of(openapi["additionalProperties"])
    if "default" in openapi:
        schema.default = openapi["default"]
    schema.preserve_unknown = openapi.get("x-kubernetes-preserve-unknown-fields", False)
    schema.list_type = openapi.get("x-kubernetes-list-type", "atomic")
    schema.map_keys = tuple(openapi.get("x-kubernetes-list-map-keys", ()))
    schema.map_type = openapi.get("x-kubernetes-map-type", "granular")
    return schema


def widget_schema() -> Schema:
    schema = schema_of({"type": "object", "properties": {"spec": _WIDGET_SPEC, "status": _WIDGET_STATUS}})
    schema.properties |= {
        "apiVersion": Schema("string"),
        "kind": Schema("string"),
        "metadata": builtin_schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
    }
    return schema


def worlds() -> dict[str, World]:
    return {
        "configmap": World(
            group="", version="v1", kind="ConfigMap", plural="configmaps", draw=_config_map, exact=True,
            schema=builtin_schema(("", "v1", "ConfigMap")),
        ),
        "deployment": World(
            group="apps", version="v1", kind="Deployment", plural="deployments", draw=_deployment,
            draw_status=_deployment_status, schema=builtin_schema(("apps", "v1", "Deployment")),
        ),
        "pod": World(
            group="", version="v1", kind="Pod", plural="pods", draw=_pod, schema=builtin_schema(("", "v1", "Pod")),
        ),
        "service": World(
            group="", version="v1", kind="Service", plural="services", draw=_service,
            schema=builtin_schema(("", "v1", "Service")),
            late=("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"),
        ),
        "widget": World(
            group="patch.test", version="v1", kind="Widget", plural="widgets", draw=_widget,
            draw_status=_widget_status, schema=widget_schema(), custom=True, strategic=False, exact=True,
        ),
    }  # fmt: skip
