"""What is known of Kubernetes' own kinds, and that it is still what Kubernetes says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.local.schema.builtin import builtin_kind, builtin_resources, builtin_schema
from tools.generate_schema import KUBERNETES, TARGET, generate, module_cache


def test_the_file_is_what_the_generator_makes_of_kubernetes() -> None:
    modules = module_cache()
    if modules is None:
        pytest.skip(f"Kubernetes {KUBERNETES} is not in the Go module cache; `make kube` puts it there")
    assert TARGET.read_text() == generate(modules), "run `python tools/generate_schema.py`"


def test_the_file_holds_facts_and_no_prose() -> None:
    text = TARGET.read_text()
    assert "description" not in json.dumps([list(node) for node in json.loads(text)["definitions"].values()])
    assert len(text) < 600_000


def test_every_resource_and_subresource_has_a_shape() -> None:
    streamed = {"NodeProxyOptions", "PodAttachOptions", "PodExecOptions", "PodPortForwardOptions", "PodProxyOptions"}
    for resource in builtin_resources():
        assert builtin_schema((resource.group, resource.version, resource.kind)).type == "object"
        if "list" in resource.verbs:
            assert builtin_kind(resource.group, resource.version, f"{resource.kind}List")
        for below in resource.subresources:
            known = builtin_kind(below.group, below.version, below.kind)
            assert known or below.kind in streamed | {"ServiceProxyOptions"}, below


def test_names_of_resources_are_those_kubectl_knows() -> None:
    deployments = next(each for each in builtin_resources() if each.plural == "deployments")
    assert (deployments.api_version, deployments.singular, deployments.namespaced) == ("apps/v1", "deployment", True)
    assert (deployments.short_names, deployments.categories) == (("deploy",), ("all",))
    assert [below.name for below in deployments.subresources] == ["scale", "status"]


def test_merge_facts_of_lists_are_there() -> None:
    spec = builtin_schema("io.k8s.api.core.v1.PodSpec").properties
    containers, volumes = spec["containers"], spec["volumes"]
    assert (containers.list_type, containers.map_keys) == ("map", ("name",))
    assert (containers.patch_strategy, containers.patch_merge_key) == (("merge",), "name")
    assert volumes.patch_strategy == ("merge", "retainKeys")
    ports = builtin_schema("io.k8s.api.core.v1.Container").properties["ports"]
    assert ports.map_keys == ("containerPort", "protocol")
    assert ports.items is not None
    assert ports.items.properties["protocol"].default == "TCP"
    assert spec["nodeSelector"].map_type == "atomic"


def test_a_shape_that_contains_itself_is_one_node() -> None:
    schema = builtin_schema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
    assert schema.properties["properties"].values is schema
    assert schema.properties["not"] is schema


def test_embedded_fields_stand_among_their_parents() -> None:
    volume = builtin_schema("io.k8s.api.core.v1.Volume")
    assert {"name", "emptyDir", "hostPath"} <= volume.properties.keys()


def test_an_unheard_of_kind_is_a_key_error() -> None:
    assert builtin_kind("apps", "v1", "Unheard") is None
    with pytest.raises(KeyError):
        builtin_schema(("apps", "v1", "Unheard"))


def test_all_shapes_together_take_less_than_8_megabytes() -> None:
    """Measured in a fresh process: the control plane is idle most of its life and should be small then."""
    program = """
import resource, msgspec, dataclasses, datetime, importlib.resources
from tidegate.local.schema.node import Schema
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import decode_value
from tidegate.local.schema.definitions import kinds
for name in kinds().values():
    decode_value({}, builtin_schema(name))
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert int(done.stdout) < 8 * 1024
