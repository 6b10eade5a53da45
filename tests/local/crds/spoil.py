"""Definitions with something wrong in them, more often than not."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

Json = Any

WRONG: dict[str, list[Json]] = {
    "type": ["", "string", "object", "array", "integer", "null", "foo"],
    "nullable": [True],
    "default": [1, "a", {}, [], {"zz": 1}, [1, "a"]],
    "description": ["d"],
    "title": ["t"],
    "x-kubernetes-preserve-unknown-fields": [True, False],
    "x-kubernetes-embedded-resource": [True],
    "x-kubernetes-int-or-string": [True],
    "x-kubernetes-list-type": ["set", "map", "atomic", "foo"],
    "x-kubernetes-list-map-keys": [["a"], ["k", "k"], ["zz"]],
    "x-kubernetes-map-type": ["atomic", "granular", "foo"],
    "items": [{"type": "string"}, {"type": "object"}, {}],
    "properties": [
        {"a": {"type": "string"}},
        {"metadata": {"type": "object"}},
        {"metadata": {"type": "string", "properties": {"name": {"type": "string"}}}},
        {"kind": {"type": "integer"}},
        {},
    ],
    "additionalProperties": [True, False, {"type": "string"}, {}],
    "pattern": ["(", "(?=a)", "a{1001}", "[a", "a**", "^a$"],
    "uniqueItems": [True],
    "required": [["a"]],
    "allOf": [
        [{"properties": {"q": {"minimum": 1}}}],
        [{"anyOf": [{"type": "integer"}, {"type": "string"}]}],
        [{"description": "x"}],
        [{"default": 1}],
    ],
    "anyOf": [[{"type": "integer"}, {"type": "string"}], [{"required": ["x"]}], [{"items": {"minimum": 1}}]],
    "not": [{"type": "string"}, {"required": ["a"]}, {"properties": {"metadata": {}}}],
    "x-kubernetes-validations": [
        [{"rule": ""}],
        [{"rule": "true", "fieldPath": ".a"}],
        [{"rule": "true", "reason": "x"}],
        [{"rule": "self =", "message": "x"}],
        [{"rule": "true", "message": "a\nb"}],
        [{"rule": "true", "optionalOldSelf": True}],
        [{"rule": "self == oldSelf"}],
    ],
    "enum": [["a"]],
    "maximum": [1],
    "format": ["date-time", "foo"],
}


def nodes(schema: Json) -> list[Json]:
    """Every node of a schema."""
    children = [
        *(schema.get("properties") or {}).values(),
        *(schema.get(key) for key in ("items", "additionalProperties", "not")),
    ]
    children += [clause for key in ("allOf", "anyOf", "oneOf") for clause in schema.get(key) or ()]
    return [schema, *(node for child in children if isinstance(child, dict) for node in nodes(child))]


def spoiled(rng: Random, crd: Json) -> Json:
    """The definition with up to two random changes to its schema and perhaps to its versions."""
    made = copy.deepcopy(crd)
    version = made["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    for _ in range(rng.choice([0, 1, 1, 2])):
        key = rng.choice(sorted(WRONG))
        rng.choice(nodes(schema))[key] = copy.deepcopy(rng.choice(WRONG[key]))
    for node in nodes(schema):
        if node.get("type"):  # both at once means one thing for defaults and another for objects
            node.pop("x-kubernetes-int-or-string", None)
    if rng.random() < 0.2:
        version["subresources"] = rng.choice([{"status": {}}, {"scale": {"specReplicasPath": "x"}}])
    if rng.random() < 0.1:
        version["additionalPrinterColumns"] = [{"name": "a", "type": rng.choice(["date", "x"]), "jsonPath": "y"}]
    if rng.random() < 0.1:
        version["selectableFields"] = [{"jsonPath": rng.choice([".spec.x", ".metadata.name", "x", ".spec"])}]
    if rng.random() < 0.1:
        made["spec"]["versions"].append(
            {"name": rng.choice(["v1", "v2", "V2"]), "served": True, "storage": rng.random() < 0.3,
             "schema": {"openAPIV3Schema": {"type": "object"}}}
        )  # fmt: skip
    if rng.random() < 0.1:
        made["spec"][rng.choice(["scope", "group"])] = rng.choice(["", "Cluster", "x"])
    return made
