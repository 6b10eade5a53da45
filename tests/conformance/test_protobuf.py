"""Protobuf request bodies, which kubectl and every Go operator send for built-in kinds."""

from __future__ import annotations

from tests.conformance.objects import core
from tests.harness import Cluster

PROTOBUF = {"Content-Type": "application/vnd.kubernetes.protobuf", "Accept": "application/json"}


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, content: bytes | str | int) -> bytes:
    """One field of a message: numbers as varints, all else with its length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    raw = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def envelope(api_version: str, kind: str, message: bytes) -> bytes:
    return b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, message)


def metadata(name: str) -> bytes:
    # Go writes empty strings and zero times too, and servers must not take them for values.
    return field(1, field(1, name) + field(2, "") + field(3, "") + field(8, b""))


def entry(key: str, value: str) -> bytes:
    return field(1, key) + field(2, value)


def test_a_namespace_is_created(cluster: Cluster, namespace: str) -> None:
    name = f"{namespace}-pb"
    body = envelope("v1", "Namespace", metadata(name) + field(2, b"") + field(3, field(1, "")))
    reply = cluster.http("POST", "/api/v1/namespaces", body, PROTOBUF)
    assert (reply.status, reply.json["metadata"]["name"]) == (201, name)
    cluster.http("DELETE", f"/api/v1/namespaces/{name}")


def test_maps_numbers_and_times_are_understood(cluster: Cluster, namespace: str) -> None:
    config = envelope("v1", "ConfigMap", metadata("cm") + field(2, entry("a", "1")) + field(2, entry("b", "2")))
    reply = cluster.http("POST", core(namespace, "configmaps"), config, PROTOBUF)
    assert (reply.status, reply.json["data"]) == (201, {"a": "1", "b": "2"})
    instant = field(1, 1_577_836_800) + field(2, 5000)
    spec = field(1, "me") + field(2, 15) + field(4, instant)
    lease = envelope("coordination.k8s.io/v1", "Lease", metadata("lease") + field(2, spec))
    reply = cluster.http("POST", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", lease, PROTOBUF)
    assert reply.status == 201
    assert reply.json["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "renewTime": "2020-01-01T00:00:00.000005Z",
    }


def test_a_pod_with_quantities_and_nested_lists(cluster: Cluster, namespace: str) -> None:
    requests = field(2, field(1, "cpu") + field(2, field(1, "500m")))
    env = field(7, field(1, "A") + field(2, "b"))
    container = field(1, "main") + field(2, "host") + field(3, "sleep") + field(3, "9") + env + field(8, requests)
    body = envelope("v1", "Pod", metadata("p") + field(2, field(2, container) + field(3, "Never") + field(4, 0)))
    reply = cluster.http("POST", core(namespace, "pods"), body, PROTOBUF)
    assert reply.status == 201
    (main,) = reply.json["spec"]["containers"]
    assert main["command"] == ["sleep", "9"]
    assert main["env"] == [{"name": "A", "value": "b"}]
    assert main["resources"] == {"requests": {"cpu": "500m"}}
    assert reply.json["spec"]["terminationGracePeriodSeconds"] == 0


def test_delete_options_in_protobuf(cluster: Cluster, namespace: str) -> None:
    made = cluster.create(core(namespace, "configmaps"), {"metadata": {"name": "cm"}})
    wrong = envelope("v1", "DeleteOptions", field(2, field(1, "not-this-uid")))
    path = core(namespace, "configmaps/cm")
    assert cluster.http("DELETE", path, wrong, PROTOBUF).status == 409
    right = envelope("v1", "DeleteOptions", field(2, field(1, made["metadata"]["uid"])) + field(4, "Background"))
    assert cluster.http("DELETE", path, right, PROTOBUF).status == 200


def test_rubbish_is_a_bad_request(cluster: Cluster, namespace: str) -> None:
    for body in (b"k8s\x00\xff\xff\xff", b"no magic at all", b"k8s\x00"):
        assert cluster.http("POST", core(namespace, "configmaps"), body, PROTOBUF).status == 400
