"""Who owns what after a create and a status write, for objects of many kinds in many states."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.tables.samples import samples
from tidegate.local.patch import FieldSet, reset_fields, track_update
from tidegate.local.patch.apply.fieldset import paths
from tidegate.local.schema.builtin import builtin_resources, builtin_schema
from tidegate.local.schema.definitions import BuiltinResource

pytestmark = pytest.mark.kube

Object = dict[str, Any]
KINDS = {(found.api_version, found.kind): found for found in builtin_resources()}
# What the server fills in after it has noted who set what: addresses it gives out, what its plugins add.
LATE = {
    "Node": (".spec.taints",),
    "Job": (".metadata.labels", ".spec.selector", ".spec.template.metadata.labels"),
    "Service": (".spec.clusterIP", ".spec.ipFamil", '.spec.ports[port=80,protocol="'),
    "PersistentVolume": (".metadata.finalizers",),
    "PersistentVolumeClaim": (".metadata.finalizers",),
}
# Lists that were sent empty, which the answer no longer shows.
SENT_EMPTY = {"EndpointSlice": ".endpoints", "Role": ".rules", "CSINode": ".spec.drivers", "LimitRange": ".spec.limits"}


def owned(obj: Object, manager: str) -> set[str]:
    entries = obj["metadata"].get("managedFields", [])
    fields: FieldSet = next((entry["fieldsV1"] for entry in entries if entry["manager"] == manager), {})
    return set(paths(fields))


def tracked(old: Object | None, new: Object, manager: str, kind: BuiltinResource, subresource: str = "") -> Object:
    has_status = any(found.name == "status" for found in kind.subresources)
    return track_update(
        old,
        new,
        manager=manager,
        api_version=kind.api_version,
        schema=builtin_schema((kind.group, kind.version, kind.kind)),
        now="2026-01-01T00:00:00Z",
        subresource=subresource,
        reset=reset_fields(kind.group, kind.kind, subresource, has_status=has_status, custom=False),
    )


def path_of(kind: BuiltinResource) -> str:
    base = f"/apis/{kind.api_version}" if kind.group else "/api/v1"
    return f"{base}/namespaces/kinds/{kind.plural}" if kind.namespaced else f"{base}/{kind.plural}"


def expect_same_owner(theirs: Object, ours: Object, manager: str, kind: str) -> None:
    more = {
        path for path in owned(ours, manager) - owned(theirs, manager) if not path.startswith(LATE.get(kind, ("-",)))
    }
    less = owned(theirs, manager) - owned(ours, manager) - {SENT_EMPTY.get(kind, "")}
    assert (more, less) == (set(), set())


@pytest.fixture(scope="module", autouse=True)
def namespace_of_their_own(quiet_cluster: Cluster) -> None:
    """A quota among the samples would bind the pods of other tests."""
    quiet_cluster.create("/api/v1/namespaces", {"metadata": {"name": "kinds"}})


@pytest.mark.parametrize("obj", samples(), ids=lambda obj: f"{obj['kind']}-{obj['metadata']['name']}")
def test_a_creator_and_a_status_writer_own_the_same_fields(quiet_cluster: Cluster, obj: Object) -> None:
    kind = KINDS[obj["apiVersion"], obj["kind"]]
    manifest = json.loads(json.dumps({key: obj[key] for key in obj if key != "status"}).replace('"default"', '"kinds"'))
    manifest["metadata"] = manifest["metadata"] | {"name": f"x-{obj['metadata']['name']}"}
    made = quiet_cluster.create(f"{path_of(kind)}?fieldManager=maker", manifest)
    unowned = made | {"metadata": {k: v for k, v in made["metadata"].items() if k != "managedFields"}}
    expect_same_owner(made, tracked(None, unowned, "maker", kind), "maker", kind.kind)
    if obj.get("status"):
        path = f"{path_of(kind)}/{manifest['metadata']['name']}/status?fieldManager=teller"
        body = json.dumps(made | {"status": obj["status"]})
        told = quiet_cluster.http("PUT", path, body, {"Content-Type": "application/json"}).json
        expect_same_owner(told, tracked(made, told, "teller", kind, "status"), "teller", kind.kind)
