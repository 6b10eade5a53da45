"""Laws of the published documents, whoever reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from tests.local.schema.published import GROUP, KINDS, published
from tidegate.local.schema.openapi import openapi_hash, openapi_v2, openapi_v3, openapi_v3_index, openapi_v3_paths


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


@pytest.mark.parametrize("path", openapi_v3_paths(KINDS))
def test_every_reference_of_a_document_leads_somewhere(path: str) -> None:
    document = openapi_v3(path, KINDS)
    names = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(_references(document)) <= names


def test_every_reference_of_version_2_leads_somewhere() -> None:
    document = openapi_v2(KINDS)
    assert set(_references(document)) <= {f"#/definitions/{name}" for name in document["definitions"]}


@pytest.mark.parametrize("path", ["api/v1", "apis/batch/v1", f"apis/{GROUP}/v1"])
def test_every_patch_takes_field_validation(path: str) -> None:
    """Without it kubectl refuses to create or apply anything."""
    patches = [item["patch"] for item in openapi_v3(path, KINDS)["paths"].values() if "patch" in item]
    assert patches
    for patch in patches:
        assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}


def test_only_built_in_kinds_are_patched_strategically() -> None:
    def kinds_of_patch(path: str) -> set[str]:
        paths = openapi_v3(path, KINDS)["paths"].values()
        return {kind for item in paths if "patch" in item for kind in item["patch"]["requestBody"]["content"]}

    strategic = "application/strategic-merge-patch+json"
    assert strategic in kinds_of_patch("apis/apps/v1")
    assert strategic not in kinds_of_patch(f"apis/{GROUP}/v1")


def test_a_changed_crd_changes_the_hash_of_its_document_alone() -> None:
    changed = [dataclasses.replace(KINDS[0], schema={"type": "object"}), *KINDS[1:]]
    before, after = openapi_v3_index(KINDS)["paths"], openapi_v3_index(changed)["paths"]
    assert {path for path in before if before[path] != after[path]} == {f"apis/{GROUP}/v1"}
    assert openapi_hash(KINDS) != openapi_hash(changed)


def test_a_schema_is_not_changed_by_being_published() -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "nullable": True, "default": {}}}}
    kind = published("Ripple", schema)
    openapi_v2([kind])
    openapi_v3(f"apis/{GROUP}/v1", [kind])
    assert schema == {"type": "object", "properties": {"spec": {"type": "object", "nullable": True, "default": {}}}}
