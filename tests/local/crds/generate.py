"""Random structural schemas, and random values for them, good and bad: same seed, same case."""

from __future__ import annotations

from random import Random
from typing import Any

Json = Any

NAMES = ("a", "b", "c", "d-e", "f.g", "kind", "metadata", "name", "namespace")
WORDS = ("", "a", "b", "ab", "abc", "foo", "Foo", "x y", "ünïcode", "1", "12", "true", "null", "a\n")
FORMATS: dict[str, tuple[str, ...]] = {
    "date-time": ("2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5+01:00", "2020-02-30T00:00:00Z", "2020-01-01", "x"),
    "date": ("2020-01-01", "2020-13-01", "0000-02-29", "20-1-1"),
    "duration": ("1h", "1h30m", "3 days", "-1.5s", "1w", "0", "1", "h", "1 lightyear"),
    "byte": ("YQ==", "YWJj", "", "@@@@", "YQ"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "123"),
    "uuid4": ("123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
    "ipv4": ("1.2.3.4", "01.2.3.4", "1.2.3", "256.1.1.1", "::ffff:1.2.3.4"),
    "ipv6": ("::1", "fe80::1%eth0", "1.2.3.4", "2001:db8::g"),
    "cidr": ("10.0.0.0/8", "10.0.0.1/33", "::/0", "10.0.0.0", "010.0.0.0/8"),
    "email": ("a@b.c", "Jo <a@b>", "a.b", "a@", "@b", "a b@c", '"a b"@c'),
    "hostname": ("example.com", "a", "-a", "a_b", "a.b", "a..b", "1.2.3.4", "ex.x1"),
    "uri": ("http://a.b/c", "/a", "a", "mailto:x@y", "http://[::1", "http://a b/", "%zz"),
    "mac": ("01:23:45:67:89:ab", "0123.4567.89ab", "01-23-45-67-89-ab", "01:23:45"),
    "isbn": ("0321751043", "978-0321751041", "123"),
    "isbn10": ("0321751043", "0321751044"),
    "isbn13": ("978-0321751041", "9780321751042"),
    "creditcard": ("4220855426222389", "4220855426213389"),
    "ssn": ("123-45-6789", "123456789", "12-34"),
    "hexcolor": ("#fff", "fff", "#ffff", "#ABCDEF"),
    "rgbcolor": ("rgb(0,31,255)", "rgb(01,31,255)", "rgb(0, 31 ,255)"),
    "bsonobjectid": ("507f1f77bcf86cd799439011", "507f"),
    "password": ("x", ""),
    "k8s-short-name": ("abc", "ABC", "a-", "a.b"),
    "k8s-long-name": ("a.b", "a..b", "A"),
    "quantity": ("1Gi", "x"),
    "int32": ("1",),
}
PATTERNS = (
    "^a",
    "b$",
    "^[a-z]+$",
    "^(ab)*$",
    r"^\d+$",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "",
    r"^(foo|bar)\z",
    "[[:alpha:]]",
)


def schema(rng: Random, depth: int = 3, *, defaults: bool = True) -> Json:
    """A structural schema node; at depth 0 a scalar."""
    makers = [_string, _string, _integer, _number, _boolean, _int_or_string]
    if depth > 0:
        makers += [_object, _object, _object, _array, _array, _map, _anything, _embedded]
    node: Json = rng.choice(makers)(rng, depth)
    if rng.random() < 0.15:
        node["nullable"] = True
    if rng.random() < 0.15:
        _combine(rng, node)
    if defaults and rng.random() < 0.2:
        node["default"] = value(rng, node, wrong=0.0, depth=2)
        if node["default"] is None:
            del node["default"]
    return node


def _string(rng: Random, depth: int) -> Json:
    node: Json = {"type": "string"}
    if rng.random() < 0.3:
        node["format"] = rng.choice(list(FORMATS))
    if rng.random() < 0.2:
        node["minLength"] = rng.randint(0, 3)
    if rng.random() < 0.2:
        node["maxLength"] = rng.randint(0, 4)
    if rng.random() < 0.2:
        node["pattern"] = rng.choice(PATTERNS)
    if rng.random() < 0.15:
        node["enum"] = [rng.choice(WORDS) for _ in range(rng.randint(1, 3))]
    return node


def _bounds(rng: Random, node: Json, pick: Any) -> Json:
    for key in ("minimum", "maximum"):
        if rng.random() < 0.3:
            node[key] = pick()
            if rng.random() < 0.3:
                node[f"exclusive{key.capitalize()}"] = True
    if rng.random() < 0.2:
        node["multipleOf"] = rng.choice([1, 2, 3, 0.5, 0.1, 2.5])
    return node


def _integer(rng: Random, depth: int) -> Json:
    node = _bounds(rng, {"type": "integer"}, lambda: rng.choice([-5, 0, 1, 3, 10, 2.5, 3000000000]))
    if rng.random() < 0.3:
        node["format"] = rng.choice(["int32", "int64", "strange"])
    if rng.random() < 0.1:
        node["enum"] = [1, 2, 3]
    return node


def _number(rng: Random, depth: int) -> Json:
    node = _bounds(rng, {"type": "number"}, lambda: rng.choice([-1.5, 0, 0.1, 2, 1e6, 1e300]))
    if rng.random() < 0.3:
        node["format"] = rng.choice(["float", "double"])
    if rng.random() < 0.1:
        node["enum"] = [1, 2.5]
    return node


def _boolean(rng: Random, depth: int) -> Json:
    return {"type": "boolean"} | ({"enum": [True]} if rng.random() < 0.2 else {})


def _int_or_string(rng: Random, depth: int) -> Json:
    node: Json = {"x-kubernetes-int-or-string": True}
    if rng.random() < 0.5:
        node["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if rng.random() < 0.3:
        node["pattern"] = "^[0-9]+%$"
    if rng.random() < 0.2:
        node["maximum"] = 10
    return node


def _object(rng: Random, depth: int) -> Json:
    names = rng.sample(NAMES, rng.randint(0, 4))
    node: Json = {"type": "object", "properties": {name: schema(rng, depth - 1) for name in names}}
    if names and rng.random() < 0.3:
        node["required"] = rng.sample(names, rng.randint(1, len(names)))
    if rng.random() < 0.15:
        node["x-kubernetes-preserve-unknown-fields"] = True
    if rng.random() < 0.1:
        node["minProperties"] = rng.randint(0, 2)
    if rng.random() < 0.1:
        node["maxProperties"] = rng.randint(0, 3)
    if rng.random() < 0.2:
        node["x-kubernetes-map-type"] = rng.choice(["atomic", "granular"])
    return node


def _map(rng: Random, depth: int) -> Json:
    inner = rng.choice([True, schema(rng, depth - 1), schema(rng, depth - 1), schema(rng, depth - 1)])
    node: Json = {"type": "object", "additionalProperties": inner}
    if rng.random() < 0.2:
        node["maxProperties"] = rng.randint(0, 2)
    return node


def _array(rng: Random, depth: int) -> Json:
    node: Json = {"type": "array", "items": schema(rng, depth - 1)}
    if rng.random() < 0.2:
        node["minItems"] = rng.randint(0, 2)
    if rng.random() < 0.2:
        node["maxItems"] = rng.randint(0, 3)
    how = rng.random()
    if how < 0.2:
        node["items"] = rng.choice([_string, _integer])(rng, 0)
        node["x-kubernetes-list-type"] = "set"
    elif how < 0.5:
        item: Json = {"type": "object", "properties": {"k": {"type": "string"}, "l": {"type": "integer"}}}
        keys = rng.choice([["k"], ["k", "l"]])
        item["properties"]["v"] = schema(rng, depth - 1)
        item["required"] = keys
        node |= {"items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
    elif how < 0.6:
        node["x-kubernetes-list-type"] = "atomic"
    return node


def _anything(rng: Random, depth: int) -> Json:
    return {"x-kubernetes-preserve-unknown-fields": True} | ({"type": "object"} if rng.random() < 0.5 else {})


def _embedded(rng: Random, depth: int) -> Json:
    node: Json = {"type": "object", "x-kubernetes-embedded-resource": True}
    if rng.random() < 0.5:
        node["x-kubernetes-preserve-unknown-fields"] = True
    else:
        node["properties"] = {"spec": schema(rng, depth - 1)}
    return node


def _combine(rng: Random, node: Json) -> None:
    """Adds an allOf, anyOf, oneOf or not that speaks only of what the node already has."""
    if node.get("x-kubernetes-int-or-string"):
        return
    key = rng.choice(["allOf", "anyOf", "oneOf", "not"])
    clauses = [_clause(rng, node) for _ in range(rng.randint(1, 3))]
    node[key] = clauses[0] if key == "not" else clauses


def _clause(rng: Random, node: Json) -> Json:
    kind = node.get("type")
    if kind == "string":
        return rng.choice(
            [{"minLength": 2}, {"pattern": "^a"}, {"enum": ["a", "foo"]}, {"maxLength": 2}, {"format": "date"}]
        )
    if kind in ("integer", "number"):
        return rng.choice([{"minimum": 2}, {"maximum": 3}, {"multipleOf": 2}, {"enum": [1, 2]}])
    if kind == "array":
        return rng.choice([{"minItems": 1}, {"maxItems": 1}, {"items": {"minLength": 1, "minimum": 1}}])
    if kind == "object" and node.get("properties"):
        name = rng.choice(sorted(node["properties"]))
        if name == "metadata":
            return {"minProperties": 1}
        inner = node["properties"][name]
        return rng.choice([{"required": [name]}, {"properties": {name: _clause(rng, inner)}}, {"minProperties": 1}])
    return {"enum": [True]} if kind == "boolean" else {"minProperties": 1}


def anything(rng: Random, depth: int) -> Json:
    """Any JSON at all."""
    makers: list[Any] = [
        lambda: rng.choice(WORDS),
        lambda: rng.choice([-1, 0, 1, 2, 7, 2**31, 2**40, -(2**63)]),
        lambda: rng.choice([0.5, -1.25, 2.5, 1e30]),
        lambda: rng.choice([True, False]),
        lambda: None,
    ]
    if depth > 0:
        makers += [
            lambda: {name: anything(rng, depth - 1) for name in rng.sample(NAMES, rng.randint(0, 3))},
            lambda: [anything(rng, depth - 1) for _ in range(rng.randint(0, 3))],
        ]
    return rng.choice(makers)()


def value(rng: Random, node: Json, *, wrong: float = 0.1, depth: int = 4) -> Json:
    """A value that more or less fits the node; each part is anything at all with probability `wrong`."""
    if rng.random() < wrong:
        return anything(rng, 2)
    if node.get("nullable") and rng.random() < 0.2:
        return None
    if node.get("enum") and rng.random() < 0.8:
        return rng.choice(node["enum"])
    if node.get("x-kubernetes-int-or-string"):
        return rng.choice([1, 20, "50%", "x"])
    makers: dict[str, Any] = {
        "string": _string_value, "integer": _integer_value, "number": _number_value, "array": _array_value,
        "object": _object_value,
    }  # fmt: skip
    if node.get("type") == "boolean":
        return rng.choice([True, False])
    if node.get("type") in makers:
        return makers[node["type"]](rng, node, wrong, depth)
    return anything(rng, 2)


def _string_value(rng: Random, node: Json, wrong: float, depth: int) -> Json:
    form = node.get("format")
    return rng.choice(FORMATS[form]) if form in FORMATS and rng.random() < 0.9 else rng.choice(WORDS)


def _integer_value(rng: Random, node: Json, wrong: float, depth: int) -> Json:
    return rng.choice([-6, -1, 0, 1, 2, 3, 4, 6, 10, 11])


def _number_value(rng: Random, node: Json, wrong: float, depth: int) -> Json:
    return rng.choice([-2, 0, 1, 2.5, 0.3, 5, 1.75, 1e7])


def _array_value(rng: Random, node: Json, wrong: float, depth: int) -> Json:
    return [value(rng, node["items"], wrong=wrong, depth=depth - 1) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]


def _object_value(rng: Random, node: Json, wrong: float, depth: int) -> Json:
    made: Json = {}
    if node.get("x-kubernetes-embedded-resource"):
        made |= {"apiVersion": rng.choice(["v1", "a/v1", "a/b/c"]), "kind": rng.choice(["Pod", "pod-x", "_"])}
        made["metadata"] = rng.choice(
            [{}, {"name": "x"}, {"name": "a/b"}, {"labels": {"a": "b"}, "strange": 1}, {"labels": {"@": "b"}}]
        )
        if rng.random() < 0.1:
            made.pop(rng.choice(list(made)))
    for name, child in (node.get("properties") or {}).items():
        if rng.random() < (0.95 if name in node.get("required", ()) else 0.6):
            made[name] = value(rng, child, wrong=wrong, depth=depth - 1)
    others = node.get("additionalProperties")
    if others is not None:
        for name in rng.sample(NAMES, rng.randint(0, 2)):
            made[name] = (
                value(rng, others, wrong=wrong, depth=depth - 1) if isinstance(others, dict) else anything(rng, 1)
            )
    if rng.random() < wrong * 2:
        made[rng.choice(("zz", "a"))] = anything(rng, 2)
    return made


def loosened(node: Json) -> Json:
    """The same shape without what narrows its values."""
    if not isinstance(node, dict):
        return node
    shape = {
        key: value for key, value in node.items() if key in ("type", "nullable") or key.startswith("x-kubernetes-")
    }
    if "items" in node:
        shape["items"] = loosened(node["items"])
    if "properties" in node:
        shape["properties"] = {name: loosened(child) for name, child in node["properties"].items()}
    if "additionalProperties" in node:
        shape["additionalProperties"] = loosened(node["additionalProperties"])
    if shape.get("x-kubernetes-list-type") == "map":
        shape["items"]["required"] = node["items"]["required"]
    return shape


def changed(rng: Random, old: Json, node: Json) -> Json:
    """A value near `old`: often one part of it is another, sometimes nothing is."""
    how = rng.random()
    if isinstance(old, dict) and old and how < 0.7:
        name = rng.choice(list(old))
        inner = (node.get("properties") or {}).get(name) or node.get("additionalProperties")
        return old | ({name: changed(rng, old[name], inner)} if isinstance(inner, dict) else {})
    if isinstance(old, list) and old and how < 0.7:
        if rng.random() < 0.3:
            return old[::-1]
        place = rng.randrange(len(old))
        fresh = changed(rng, old[place], node["items"]) if isinstance(node.get("items"), dict) else old[place]
        return [*old[:place], fresh, *old[place + 1 :]]
    return value(rng, node, wrong=0.05) if how < 0.9 else old
