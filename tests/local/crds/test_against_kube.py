"""The same definitions and objects, random and chosen, given to a real API server and to us: the same comes of both."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.crds import generate
from tests.local.crds.against import (
    DEFINITIONS,
    GROUP,
    Judgement,
    definition,
    install,
    our_create,
    our_definition,
    ours,
    theirs,
    with_spec,
)
from tests.local.crds.rule_cases import CASES, FAULTY, TRANSITIONS
from tests.local.crds.spoil import spoiled
from tidegate.local.crds.definition import Definition

Json = Any

pytestmark = pytest.mark.kube


def valid_schema(cluster: Cluster, rng: Random, *, defaults: bool = True) -> Json:
    """A random schema that the real server takes."""
    for _ in range(50):
        made = generate.schema(rng, 3, defaults=defaults)
        if cluster.http("POST", f"{DEFINITIONS}?dryRun=All", definition("tries", with_spec({"x": made}))).status == 201:
            return made
    raise AssertionError("no valid schema in 50 attempts")


def an_object(kind: str, name: str, **more: Json) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, **more}


@pytest.mark.parametrize("seed", range(4))
def test_random_objects_are_taken_pruned_filled_in_or_refused_alike(real_cluster: Cluster, seed: int) -> None:
    """Same status, same causes word for word, same resulting object."""
    rng = Random(seed)
    schemas = [valid_schema(real_cluster, rng) for _ in range(25)]
    plural = f"random{seed}s"
    made = install(real_cluster, definition(plural, with_spec({f"s{index}": one for index, one in enumerate(schemas)})))
    path = f"/apis/{GROUP}/v1/namespaces/default/{plural}"
    for index, one in enumerate(schemas):
        for _ in range(20):
            value = generate.value(rng, one, wrong=rng.choice([0, 0.03, 0.1]))
            mode = rng.choice(["Strict", "Ignore", "Ignore"])
            obj = an_object(made.kind, "x", spec={f"s{index}": value})
            reply = real_cluster.http("POST", f"{path}?dryRun=All&fieldValidation={mode}", obj)
            assert our_create(made.resource("v1"), obj, strict=mode == "Strict") == theirs(reply), (one, value)


@pytest.mark.parametrize("seed", range(3))
def test_updates_forgive_alike_what_was_wrong_before(real_cluster: Cluster, seed: int) -> None:
    """Objects made under a loose schema are changed under a strict one, in spec and in status."""
    rng = Random(1000 + seed)
    schemas = [valid_schema(real_cluster, rng, defaults=False) for _ in range(20)]
    fields = {f"s{index}": one for index, one in enumerate(schemas)}
    loose = {name: generate.loosened(one) for name, one in fields.items()}
    plural = f"ratchet{seed}s"
    status = {"type": "object", "properties": loose}
    install(real_cluster, definition(plural, with_spec(loose, status=status), subresources={"status": {}}))
    path = f"/apis/{GROUP}/v1/namespaces/default/{plural}"
    kept = [(index, old) for index, one in enumerate(schemas) for old in _stored(real_cluster, path, rng, index, one)]
    made = _tightened(real_cluster, plural, fields)
    for index, old in kept:
        for key in ("spec", "status"):
            new = copy.deepcopy(old)
            former = (old.get(key) or {}).get(f"s{index}")
            new.setdefault(key, {})[f"s{index}"] = generate.changed(rng, former, schemas[index])
            _compare_update(real_cluster, path, made, key, (new, old))


def _stored(cluster: Cluster, path: str, rng: Random, index: int, schema: Json) -> list[Json]:
    found = []
    kind = path.rsplit("/", 1)[1].removesuffix("s").capitalize()
    for number in range(5):
        value = generate.value(rng, schema, wrong=0.03)
        reply = cluster.http("POST", path, an_object(kind, f"o{index}-{number}", spec={f"s{index}": value}))
        if reply.status == 201:
            obj = reply.json | {"status": {f"s{index}": generate.value(rng, schema, wrong=0.03)}}
            written = cluster.http("PUT", f"{path}/{obj['metadata']['name']}/status", obj)
            found.append(written.json if written.status == 200 else reply.json)
    return found


def _tightened(cluster: Cluster, plural: str, fields: Json) -> Definition:
    """Gives the definition its strict schema and waits until it rules."""
    fields = fields | {"marker": {"type": "string", "enum": ["on"]}}
    crd = cluster.get(f"{DEFINITIONS}/{plural}.{GROUP}")
    schema = with_spec(fields, status={"type": "object", "properties": fields})
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    reply = cluster.http("PUT", f"{DEFINITIONS}/{plural}.{GROUP}", crd)
    assert reply.status == 200, reply.body
    made = Definition.parse(reply.json)
    path = f"/apis/{GROUP}/v1/namespaces/default/{plural}?dryRun=All"
    for _ in range(200):
        if cluster.http("POST", path, an_object(made.kind, "probe", spec={"marker": "off"})).status == 422:
            return made
    raise AssertionError("the new schema does not rule after 200 requests")


def _compare_update(cluster: Cluster, path: str, made: Definition, key: str, change: tuple[Json, Json]) -> None:
    new, old = change
    resource = made.resource("v1")
    resource.default(old)  # as a server does with what it reads from its store
    target = f"{path}/{old['metadata']['name']}{'/status' if key == 'status' else ''}"
    reply = cluster.http("PUT", f"{target}?dryRun=All&fieldValidation=Ignore", new)
    try:
        resource.admit(new)
    except ValueError:
        assert reply.status == 400
        return
    resource.default(new)
    validate = resource.validate_status if key == "status" else resource.validate_update
    assert ours(validate(new, old), new, status=200, keys=(key,)) == theirs(reply, (key,)), (old, new)


@pytest.mark.parametrize("seed", range(3))
def test_random_definitions_good_and_spoiled_are_judged_alike(real_cluster: Cluster, seed: int) -> None:
    """The same fields refused for the same reasons; how much a rule may cost is not modelled."""
    rng = Random(2000 + seed)
    for _ in range(120):
        crd = spoiled(rng, definition("spoils", with_spec({}) | {"properties": {"spec": generate.schema(rng, 3)}}))
        reply = real_cluster.http("POST", f"{DEFINITIONS}?dryRun=All", crd)
        if reply.status == 400 or b"exceeds budget" in reply.body:
            continue
        judged = theirs(reply, ())
        mine = sorted({(error.field, error.cause["reason"]) for error in our_definition(crd)})
        assert mine == sorted({cause[:2] for cause in judged.causes}), (crd["spec"], reply.body[:2000])


def ruled(schema: Json, rule: Json) -> Json:
    return schema | {"x-kubernetes-validations": [{"rule": rule} if isinstance(rule, str) else rule]}


def test_rules_say_the_same_of_the_same_values(real_cluster: Cluster) -> None:
    """Verdict and message of every rule for every value."""
    fields = {f"s{index}": ruled(schema, rule) for index, (schema, rule, _) in enumerate(CASES)}
    crd = definition("rules", with_spec(fields))
    assert our_definition(crd) == []
    made = install(real_cluster, crd)
    path = f"/apis/{GROUP}/v1/namespaces/default/rules?dryRun=All"
    for index, (_, rule, values) in enumerate(CASES):
        for value in values:
            obj = an_object(made.kind, "x", spec={f"s{index}": value})
            reply = real_cluster.http("POST", path, obj)
            mine = ours(made.resource("v1").validate_create(obj), obj, status=201)
            assert mine == theirs(reply), (rule, value)


def test_transition_rules_say_the_same_of_the_same_changes(real_cluster: Cluster) -> None:
    """Rules on oldSelf, optional or not, and rules that a value broke already."""
    loose = {f"t{index}": schema for index, (schema, *_) in enumerate(TRANSITIONS)}
    install(real_cluster, definition("steps", with_spec(loose)))
    path = f"/apis/{GROUP}/v1/namespaces/default/steps"
    kept = []
    for index, (_, _, before, _) in enumerate(TRANSITIONS):
        spec = {} if before is None else {f"t{index}": before}
        kept.append(real_cluster.create(path, an_object("Step", f"t{index}", spec=spec)))
    fields = {f"t{index}": ruled(schema, rule) for index, (schema, rule, *_) in enumerate(TRANSITIONS)}
    made = _tightened(real_cluster, "steps", fields)
    for index, (_, rule, _, after) in enumerate(TRANSITIONS):
        new = copy.deepcopy(kept[index])
        new["spec"][f"t{index}"] = after
        reply = real_cluster.http("PUT", f"{path}/t{index}?dryRun=All", new)
        mine = ours(made.resource("v1").validate_update(new, kept[index]), new, status=200)
        assert mine == theirs(reply), (rule, kept[index]["spec"], after)


def test_rules_that_cannot_be_compiled_are_refused_alike(real_cluster: Cluster) -> None:
    """The same rule of the same field is refused, whatever the words."""
    for schema, rule in FAULTY:
        crd = definition("faults", with_spec({"x": ruled(schema, rule)}))
        judged: Judgement = theirs(real_cluster.http("POST", f"{DEFINITIONS}?dryRun=All", crd), ())
        mine = sorted({(error.field, error.cause["reason"]) for error in our_definition(crd)})
        assert mine == sorted({cause[:2] for cause in judged.causes}), rule


def test_bodies_that_say_a_field_twice_are_refused_alike(real_cluster: Cluster) -> None:
    """`duplicate field` with the same path, also in lists and where unknown fields are kept."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    made = install(real_cluster, definition("twices", with_spec({"a": {"type": "string"}, "free": free})))
    path = f"/apis/{GROUP}/v1/namespaces/default/twices?dryRun=All&fieldValidation=Strict"
    head = f'{{"apiVersion":"{GROUP}/v1","kind":"{made.kind}","metadata":{{"name":"x","namespace":"default"}},"spec":'
    for spec in (
        '{"a":"1","a":"2"}',
        '{"free":{"x":1,"x":2,"x":3}}',
        '{"free":{"l":[{"y":1,"y":1}]},"a":"1","a":"1"}',
        '{"zz":1,"zz":2}',
        '{"a":"1"}',
    ):
        body = f"{head}{spec}}}".encode()
        reply = real_cluster.http("POST", path, body, {"Content-Type": "application/json"})
        complaints = made.resource("v1").decode(body).complaints
        said = f"strict decoding error: {', '.join(complaints)}" if complaints else ""
        assert bool(said) == (reply.status == 400)
        assert said in reply.json.get("message", ""), reply.json["message"]
