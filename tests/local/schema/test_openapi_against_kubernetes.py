"""The published OpenAPI documents against those of a real API server that serves the same kinds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.schema.published import GROUP, KINDS
from tidegate.local.schema.openapi import openapi_v2, openapi_v3, openapi_v3_paths

pytestmark = pytest.mark.kube


def _facts(node: Any, *, named: bool = False) -> Any:
    """A schema without its prose, and with lists whose order says nothing in one order."""
    if isinstance(node, list):
        return [_facts(item) for item in node]
    if not isinstance(node, dict):
        return node
    prose = set() if named else {"description", "x-kubernetes-unions"}
    kept = {key: _facts(value, named=key == "properties") for key, value in node.items() if key not in prose}
    if not named and list(kept) == ["allOf"] and len(kept["allOf"]) == 1:
        # Nothing but prose stood beside the reference.
        return kept["allOf"][0]
    for key in ("required", "enum"):
        if not named and isinstance(kept.get(key), list):
            kept[key] = sorted(kept[key])
    return kept


@pytest.mark.parametrize("path", openapi_v3_paths())
def test_components_of_built_in_kinds_are_kubernetes_own(publisher: Cluster, path: str) -> None:
    theirs = publisher.get(f"/openapi/v3/{path}")["components"]["schemas"]
    _forget_what_is_not_taken_over(theirs)
    for name, ours in openapi_v3(path)["components"]["schemas"].items():
        # Some kinds of meta/v1 belong to every group there is; we name them once.
        _without_many_groups(ours, theirs[name])
        assert _facts(ours) == _facts(theirs[name]), name


def _forget_what_is_not_taken_over(theirs: dict[str, Any]) -> None:
    """The one enum whose values are constants of another package."""
    if "io.k8s.api.discovery.v1.EndpointSlice" in theirs:
        del theirs["io.k8s.api.discovery.v1.EndpointSlice"]["properties"]["addressType"]["enum"]


def _without_many_groups(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    if len(theirs.get("x-kubernetes-group-version-kind", [])) > 1:
        del ours["x-kubernetes-group-version-kind"], theirs["x-kubernetes-group-version-kind"]


@pytest.mark.parametrize("path", openapi_v3_paths())
def test_every_operation_is_one_that_kubernetes_has(publisher: Cluster, path: str) -> None:
    theirs = publisher.get(f"/openapi/v3/{path}")["paths"]
    _compare_operations(openapi_v3(path)["paths"], theirs)


def _compare_operations(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for path, item in ours.items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            other = theirs[path][method]
            for key in ("x-kubernetes-action", "x-kubernetes-group-version-kind", "operationId"):
                assert operation[key] == other.get(key), (path, method)
            known = _names(other.get("parameters", [])) | _names(theirs[path].get("parameters", []))
            assert _names(operation["parameters"]) <= known, (path, method)
            assert set(operation["responses"]) <= set(other["responses"]), (path, method)
            assert _contents(operation) <= _contents(other), (path, method)


def _names(parameters: list[dict[str, Any]]) -> set[str]:
    return {each["name"] for each in parameters}


def _contents(operation: dict[str, Any]) -> set[str]:
    return set(operation.get("requestBody", {}).get("content", {}))


def test_a_crd_is_published_in_version_3_as_kubernetes_does(publisher: Cluster) -> None:
    ours, theirs = openapi_v3(f"apis/{GROUP}/v1", KINDS), publisher.get(f"/openapi/v3/apis/{GROUP}/v1")
    for kind in KINDS:
        for name in (kind.definition, kind.list_definition):
            assert _facts(ours["components"]["schemas"][name]) == _facts(theirs["components"]["schemas"][name])
    for name, ours_node in ours["paths"].items():
        assert ours_node.keys() == theirs["paths"][name].keys()


def test_a_crd_is_published_in_version_2_as_kubernetes_does(publisher: Cluster) -> None:
    ours, theirs = openapi_v2(KINDS)["definitions"], publisher.get("/openapi/v2")["definitions"]
    for kind in KINDS:
        for name in (kind.definition, kind.list_definition):
            assert _facts(ours[name]) == _facts(theirs[name])


def test_definitions_of_version_2_are_kubernetes_own(publisher: Cluster) -> None:
    theirs = publisher.get("/openapi/v2")["definitions"]
    _forget_what_is_not_taken_over(theirs)
    for name, ours in openapi_v2()["definitions"].items():
        _without_many_groups(ours, theirs[name])
        assert _facts(ours) == _facts(theirs[name]), name
