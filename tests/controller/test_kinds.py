"""Other kinds through the table: held, let go when admitted, held again, and as they were."""

from __future__ import annotations

from typing import Any

import pytest

from tests.controller.house import House
from tests.model.jobs.samples import KINDS, sample
from tidegate.controller.kinds import CLUSTER_QUEUES
from tidegate.kube import resources as r
from tidegate.kube.client import StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import builtin, is_suspended, put, with_suspend

Json = Any
SUSPENDABLE = [
    kind
    for kind in KINDS
    if (entry := builtin().of(sample(kind))).suspend is not None and entry.makes is None and entry.group != "batch"
]


async def serve(house: House, resource: Resource[Object]) -> None:
    """A definition that takes anything, where the kind's own is not there."""
    version = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    names = {"kind": resource.kind, "plural": resource.plural}
    spec = {"group": resource.group, "scope": "Namespaced", "names": names, "versions": [version]}
    # Groups like jobset.x-k8s.io are kept for what Kubernetes approved, or says that it did not.
    notes = {"api-approved.kubernetes.io": "unapproved, for tests"}
    meta = {"name": f"{resource.plural}.{resource.group}", "annotations": notes}
    try:
        await house.client.create(r.CRDS, {"metadata": meta, "spec": spec})
    except StatusError as refused:
        assert refused.code == 409

    async def is_served() -> bool:
        try:
            await house.client.list(resource, house.namespace)
        except StatusError:
            return False
        return True

    await house.until(is_served)


@pytest.mark.parametrize("kind", SUSPENDABLE)
async def test_every_kind_with_suspend_is_queued_by_its_entry_alone(house: House, kind: str) -> None:
    entry = builtin().of(sample(kind))
    resource: Resource[Object] = Resource(entry.group, entry.versions[0], entry.plural, kind)
    await serve(house, resource)
    await house.client.patch(
        CLUSTER_QUEUES,
        house.namespace,
        {"spec": {"quotas": [{"flavor": "default", "resources": _plenty("cpu", "memory")}]}},
    )
    obj = with_suspend(entry, put(sample(kind), ("metadata",), {"name": "app"}), True)
    made = await house.client.create(resource, obj, house.namespace)
    name = f"{kind.lower()}-app"
    await house.state(name, "Admitted")
    started = await house.see(resource, "app", lambda app: not is_suspended(entry, app))
    assert started["metadata"]["annotations"]["tidegate.dev/workload"] == name
    await house.client.patch(CLUSTER_QUEUES, house.namespace, {"spec": {"stop": "HoldAndDrain"}})
    held = await house.see(
        resource, "app", lambda app: is_suspended(entry, app) and "annotations" not in app["metadata"]
    )
    assert held["spec"] == made["spec"]


def _plenty(*resources: str) -> Json:
    return {name: {"nominalQuota": "1000Gi" if name == "memory" else "1000"} for name in resources}
