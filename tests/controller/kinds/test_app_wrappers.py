"""AppWrappers on a server whose webhook forbids, as their own does, that what they carry is changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controller.house import House
from tests.controller.kinds.life import Life
from tests.harness import Cluster
from tests.harness.webhook import WebhookServer, allow
from tidegate.kube import resources as r
from tidegate.kube.client import StatusError

Json = Any
MESSAGE = "attempt to change immutable field"


def unchanged(request: Json) -> Json:
    """`validateAppWrapperUpdate` of AppWrapper v1.2.2."""
    old, new = ([_fixed(each) for each in request[which]["spec"]["components"]] for which in ("oldObject", "object"))
    return {"allowed": True} if old == new else {"allowed": False, "status": {"message": MESSAGE, "code": 403}}


def _fixed(component: Json) -> Json:
    declared = [(each.get("replicas", 1), each["path"]) for each in component.get("podSets") or ()]
    return component["template"], declared


@pytest.fixture
async def guarded(house: House) -> AsyncIterator[WebhookServer]:
    """The webhook, asked about everything in the house."""
    with WebhookServer() as server:
        server.verdicts |= {"/wrappers": unchanged, "/ready": allow}
        hooks = [
            _hook(house, server.client_config("/wrappers"), "UPDATE", "workload.codeflare.dev", "appwrappers"),
            _hook(house, server.client_config("/ready"), "CREATE", "", "configmaps"),
        ]
        made = {"metadata": {"name": house.namespace}, "webhooks": hooks}
        await house.client.create(r.VALIDATINGWEBHOOKCONFIGURATIONS, made)
        names = iter(range(10_000))

        async def is_asked() -> bool:
            """Servers read configurations with a delay."""
            await house.client.create(r.CONFIGMAPS, {"metadata": {"name": f"probe-{next(names)}"}}, house.namespace)
            return bool(server.asked("/ready"))

        await house.until(is_asked)
        yield server
        await house.client.delete(r.VALIDATINGWEBHOOKCONFIGURATIONS, house.namespace)


def _hook(house: House, server: Json, verb: str, group: str, plural: str) -> Json:
    return {
        "name": f"{plural}.example.com",
        "clientConfig": server,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [group], "apiVersions": ["*"], "operations": [verb], "resources": [plural]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": house.namespace}},
    }


async def test_one_is_admitted_evicted_and_brought_back_with_its_templates_as_they_were(
    cluster: Cluster, house: House, guarded: WebhookServer
) -> None:
    """What was granted was written into the templates, which its own webhook refuses: none was ever let go."""
    life = Life(house, "AppWrapper", real=cluster.name == "real")
    await life.begin()
    await life.runs()
    running = await house.get(life.resource, "app")
    assert [len(each["podSetInfos"]) for each in running["spec"]["components"]] == [1, 1]
    await life.evicted()
    await life.comes_back()
    await life.ends()
    asked = guarded.asked("/wrappers")
    assert asked, "it was guarded all the time"
    assert [each["object"]["metadata"] for each in asked if not unchanged(each)["allowed"]] == []
    last = await house.get(life.resource, "app")
    last["spec"]["components"][0]["template"]["spec"]["parallelism"] = 1
    with pytest.raises(StatusError, match=MESSAGE):
        await house.client.update(life.resource, last)
