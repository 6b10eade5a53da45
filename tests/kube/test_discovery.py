"""Resources are found by the words people use for them, in both forms that servers tell of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.faultserver import FaultServer, running
from tidegate.kube.client import Client
from tidegate.kube.discovery import find_resource
from tidegate.kube.resources import DEPLOYMENTS, EVENTS, EVENTS_V1, NAMESPACES, PODS

TOLD = [
    ("", "v1", "namespaces", "namespace", "Namespace", False, ["ns"]),
    ("", "v1", "pods", "pod", "Pod", True, ["po"]),
    ("", "v1", "events", "event", "Event", True, ["ev"]),
    ("apps", "v1", "deployments", "deployment", "Deployment", True, ["deploy"]),
    ("events.k8s.io", "v1", "events", "event", "Event", True, ["ev"]),
]


def aggregated() -> dict[tuple[str, str], tuple[int, Any]]:
    def items(groups: list[str]) -> dict[str, Any]:
        return {"kind": "APIGroupDiscoveryList", "items": [_group(group) for group in groups]}

    return {("GET", "/api"): (200, items([""])), ("GET", "/apis"): (200, items(["apps", "events.k8s.io"]))}


def _group(group: str) -> dict[str, Any]:
    resources = [
        {
            "resource": plural,
            "responseKind": {"group": "", "version": "", "kind": kind},
            "scope": "Namespaced" if namespaced else "Cluster",
            "singularResource": singular,
            "shortNames": short,
        }
        for of, _, plural, singular, kind, namespaced, short in TOLD
        if of == group
    ]
    return {"metadata": {"name": group} if group else {}, "versions": [{"version": "v1", "resources": resources}]}


def legacy() -> dict[tuple[str, str], tuple[int, Any]]:
    groups = [
        {
            "name": name,
            "versions": [{"version": "v1beta1"}, {"version": "v1"}],
            "preferredVersion": {"version": "v1"},
        }
        for name in ("apps", "events.k8s.io")
    ]
    canned: dict[tuple[str, str], tuple[int, Any]] = {
        ("GET", "/api"): (200, {"kind": "APIVersions", "versions": ["v1"]}),
        ("GET", "/apis"): (200, {"kind": "APIGroupList", "groups": groups}),
    }
    for group, path in (("", "/api/v1"), ("apps", "/apis/apps/v1"), ("events.k8s.io", "/apis/events.k8s.io/v1")):
        resources: list[dict[str, Any]] = [
            {"name": plural, "singularName": singular, "kind": kind, "namespaced": namespaced, "shortNames": short}
            for of, _, plural, singular, kind, namespaced, short in TOLD
            if of == group
        ]
        resources.append({"name": "pods/log", "kind": "Pod", "namespaced": True})
        canned["GET", path] = (200, {"resources": resources})
        canned["GET", path.replace("v1", "v1beta1")] = (200, {"resources": resources})
    return canned


@pytest.mark.parametrize("form", [aggregated, legacy])
async def test_a_word_finds_its_resource(form: Any) -> None:
    server = FaultServer(canned=form())
    async with running(server) as transport:
        client = Client(transport)
        for word in ("pods", "pod", "Pod", "po", "pods.v1"):
            assert await find_resource(client, word) == PODS
        for word in ("deploy", "deployments.apps", "Deployment.v1.apps"):
            assert await find_resource(client, word) == DEPLOYMENTS
        assert await find_resource(client, "ns") == NAMESPACES
        assert await find_resource(client, "events") == EVENTS
        assert await find_resource(client, "events.events.k8s.io") == EVENTS_V1
        with pytest.raises(LookupError, match="no resource called 'log'"):
            await find_resource(client, "log")
