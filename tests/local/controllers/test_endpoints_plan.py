"""Which addresses a Service shows, and how."""

from __future__ import annotations

from typing import Any

import msgspec

from tidegate.local.controllers.endpoints.objects import Service
from tidegate.local.controllers.endpoints.plan import endpoints_for, slices_for
from tidegate.local.controllers.pods import Pod


def service(**spec: Any) -> Service:
    ports = [{"port": 80, "targetPort": "http", "protocol": "TCP"}]
    body = {
        "metadata": {"name": "s", "namespace": "n", "uid": "s"},
        "spec": {"selector": {"app": "s"}, "clusterIP": "10.0.0.1", "ports": ports, **spec},
    }
    return msgspec.convert(body, Service)


def pod(name: str, ip: str, *, ready: bool = True, port: int = 8080, going: bool = False, **spec: Any) -> Pod:
    containers = [{"name": "c", "ports": [{"name": "http", "containerPort": port}]}]
    body = {
        "metadata": {"name": name, "namespace": "n", "uid": name},
        "spec": {"containers": containers, "nodeName": "node", **spec},
        "status": {
            "phase": "Running",
            "podIPs": [{"ip": ip}],
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }
    if going:
        body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return msgspec.convert(body, Pod)


def addresses(endpoints: dict[str, Any], kind: str = "addresses") -> list[str]:
    return [each["ip"] for subset in endpoints["subsets"] for each in subset.get(kind, ())]


def test_ready_and_unready_pods_are_kept_apart() -> None:
    shown = endpoints_for(service(), [pod("a", "10.1.0.1"), pod("b", "10.1.0.2", ready=False)])
    assert addresses(shown) == ["10.1.0.1"]
    assert addresses(shown, "notReadyAddresses") == ["10.1.0.2"]
    assert shown["subsets"][0]["ports"] == [{"port": 8080, "protocol": "TCP"}]


def test_publish_not_ready_addresses_shows_all_as_ready() -> None:
    pods = [pod("a", "10.1.0.1", ready=False), pod("b", "10.1.0.2", going=True)]
    shown = endpoints_for(service(publishNotReadyAddresses=True), pods)
    assert addresses(shown) == ["10.1.0.1", "10.1.0.2"]
    slices = slices_for(service(publishNotReadyAddresses=True), pods)
    assert [each["conditions"]["ready"] for each in slices[0]["endpoints"]] == [True, True]


def test_terminating_pods_are_only_in_slices_and_not_ready() -> None:
    pods = [pod("a", "10.1.0.1", going=True)]
    assert endpoints_for(service(), pods)["subsets"] == []
    conditions = slices_for(service(), pods)[0]["endpoints"][0]["conditions"]
    assert conditions == {"ready": False, "serving": True, "terminating": True}


def test_pods_with_other_port_numbers_get_slices_of_their_own() -> None:
    slices = slices_for(service(), [pod("a", "10.1.0.1", port=1), pod("b", "10.1.0.2", port=2)])
    assert sorted(each["ports"][0]["port"] for each in slices) == [1, 2]
    assert len({each["metadata"]["name"] for each in slices}) == 2


def test_a_headless_service_names_its_hosts() -> None:
    headless = service(clusterIP="None", ports=[])
    shown = endpoints_for(headless, [pod("a", "10.1.0.1", hostname="a0", subdomain="s")])
    assert shown["subsets"][0]["addresses"][0]["hostname"] == "a0"
    assert shown["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    slices = slices_for(headless, [pod("a", "10.1.0.1", hostname="a0", subdomain="s")])
    assert slices[0]["endpoints"][0]["hostname"] == "a0"


def test_a_service_without_pods_has_one_empty_slice() -> None:
    slices = slices_for(service(), [])
    assert [each["endpoints"] for each in slices] == [[]]


def test_a_slice_holds_a_hundred() -> None:
    slices = slices_for(service(), [pod(f"p{at:03}", f"10.1.{at // 100}.{at % 100 + 1}") for at in range(250)])
    assert [len(each["endpoints"]) for each in slices] == [100, 100, 50]


def test_each_address_family_has_its_own_slices() -> None:
    both = service(ipFamilies=["IPv4", "IPv6"])
    slices = slices_for(both, [pod("a", "10.1.0.1"), pod("b", "fd00::1")])
    assert {each["addressType"]: each["endpoints"][0]["addresses"] for each in slices} == {
        "IPv4": ["10.1.0.1"],
        "IPv6": ["fd00::1"],
    }
