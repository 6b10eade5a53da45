"""What the client puts on the wire and what it makes of the answers, with a transport in its own process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import msgspec
import pytest

from tidegate.kube.client import Client, Event, StatusError
from tidegate.kube.codec import codec_for
from tidegate.kube.metadata import Meta, identity
from tidegate.kube.resources import CONFIGMAPS, NODES, PODS
from tidegate.kube.wire import Request, Response


class Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class Pod(msgspec.Struct):
    metadata: Meta
    spec: Spec


TYPED_PODS = replace(PODS, type=Pod)
POD = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "7", "managedFields": [{}]},
    "spec": {"nodeName": "here", "containers": [{"name": "c"}]},
}


@dataclass
class Scripted:
    """A transport that answers what it is told to and remembers what it was asked."""

    answers: list[Response] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        return self.answers.pop(0)

    async def close(self) -> None:
        pass


def answering(body: object, status: int = 200, **headers: str) -> tuple[Client, Scripted]:
    transport = Scripted([Response(status, msgspec.json.encode(body), headers)])
    return Client(transport), transport


def watching(*pieces: bytes) -> Client:
    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return Client(Scripted([Response(200, stream())]))


def line(kind: str, obj: object) -> bytes:
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"


async def test_a_struct_holds_only_the_fields_that_it_declares() -> None:
    client, _ = answering(POD)
    pod = await client.get(TYPED_PODS, "p", "n")
    assert pod == Pod(Meta(name="p", namespace="n", uid="u", resource_version="7"), Spec("here"))
    assert identity(pod) == identity(POD) == ("n", "p", "u", "7")


async def test_an_empty_list_may_be_null() -> None:
    client, transport = answering({"metadata": {"resourceVersion": "9", "continue": "more"}, "items": None})
    page = await client.list(PODS, "n", labels="a=b", fields="c=d", limit=5, proceed="x", resource_version="0")
    assert (page.items, page.resource_version, page.proceed) == ([], "9", "more")
    assert transport.requests[0].path == "/api/v1/namespaces/n/pods"
    assert transport.requests[0].query == {
        "labelSelector": "a=b",
        "fieldSelector": "c=d",
        "limit": "5",
        "continue": "x",
        "resourceVersion": "0",
    }


async def test_a_body_gets_its_kind_and_is_not_touched() -> None:
    client, transport = answering(POD)
    await client.create(PODS, POD, dry_run=True)
    request = transport.requests[0]
    assert (request.method, request.path, request.query) == ("POST", "/api/v1/namespaces/n/pods", {"dryRun": "All"})
    sent = msgspec.json.decode(request.body)
    assert (sent["apiVersion"], sent["kind"], sent["spec"]) == ("v1", "Pod", POD["spec"])
    assert "kind" not in POD


async def test_a_struct_as_a_body_is_written_in_kubernetes_own_words() -> None:
    client, transport = answering(POD)
    await client.apply(TYPED_PODS, Pod(Meta(name="p", namespace="n"), Spec("here")), field_manager="me", force=True)
    request = transport.requests[0]
    assert request.headers["content-type"] == "application/apply-patch+yaml"
    assert request.query == {"fieldManager": "me", "force": "true"}
    assert msgspec.json.decode(request.body) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"nodeName": "here"},
    }


async def test_a_subresource_takes_and_answers_kinds_of_its_own() -> None:
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "namespace": "n"}, "target": {}}
    client, transport = answering({"kind": "Status", "status": "Success"}, 201)
    answer = await client.create(TYPED_PODS, binding, subresource="binding")
    assert transport.requests[0].path == "/api/v1/namespaces/n/pods/p/binding"
    assert answer == {"kind": "Status", "status": "Success"}


@pytest.mark.parametrize(
    ("kind", "content_type"),
    [
        ("merge", "application/merge-patch+json"),
        ("json", "application/json-patch+json"),
        ("strategic", "application/strategic-merge-patch+json"),
    ],
)
async def test_each_patch_says_what_it_is(kind: str, content_type: str) -> None:
    client, transport = answering(POD)
    await client.patch(PODS, "p", {"status": {}}, "n", type=kind, subresource="status")  # type: ignore[arg-type]
    request = transport.requests[0]
    assert (request.method, request.path) == ("PATCH", "/api/v1/namespaces/n/pods/p/status")
    assert request.headers["content-type"] == content_type


async def test_a_deletion_carries_its_conditions() -> None:
    client, transport = answering({})
    await client.delete(NODES, "x", propagation="Orphan", grace_period_s=0, uid="u", resource_version="3")
    assert transport.requests[0].path == "/api/v1/nodes/x"
    assert msgspec.json.decode(transport.requests[0].body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u", "resourceVersion": "3"},
    }


async def test_an_empty_name_never_addresses_the_collection() -> None:
    client, transport = answering({})
    with pytest.raises(ValueError, match="needs a name"):
        await client.delete(PODS, "", "n")
    with pytest.raises(ValueError, match="needs a name"):
        await client.update(PODS, {"metadata": {}})
    assert transport.requests == []


async def test_a_refusal_has_what_programs_branch_on() -> None:
    status = {"kind": "Status", "code": 409, "reason": "Conflict", "message": "no", "details": {"name": "p"}}
    client, _ = answering(status, 409)
    with pytest.raises(StatusError, match="no") as refused:
        await client.get(PODS, "p", "n")
    assert (refused.value.code, refused.value.reason, refused.value.status) == (409, "Conflict", status)
    assert refused.value.retry_after_s is None


@pytest.mark.parametrize("body", [b"upstream is away", b"", b"\xff\xfe", b"[1]"])
async def test_a_refusal_need_not_be_a_status(body: bytes) -> None:
    client = Client(Scripted([Response(503, body, {"retry-after": "4"})]))
    with pytest.raises(StatusError) as refused:
        await client.get(PODS, "p", "n")
    assert (refused.value.code, refused.value.retry_after_s) == (503, 4.0)
    assert refused.value.message


async def test_an_answer_that_is_not_json_is_a_fault_of_the_connection() -> None:
    client = Client(Scripted([Response(200, b"<html>") for _ in range(3)]))
    with pytest.raises(ConnectionError):
        await client.get(PODS, "p", "n")
    with pytest.raises(ConnectionError):
        await client.list(PODS)
    with pytest.raises(ConnectionError):
        await client.raw("GET", "/version")


async def test_lines_may_be_cut_anywhere() -> None:
    whole = b"".join(line("ADDED", {"metadata": {"name": f"ü{i}", "resourceVersion": str(i)}}) for i in range(5))
    for size in (1, 2, 3, 7, len(whole)):
        pieces = [whole[i : i + size] for i in range(0, len(whole), size)]
        events = [event async for event in watching(*pieces).watch(PODS)]
        assert [event.resource_version for event in events] == ["0", "1", "2", "3", "4"]
        assert events[3].object["metadata"]["name"] == "ü3"


async def test_a_bookmark_need_not_look_like_the_type() -> None:
    end = {"metadata": {"resourceVersion": "8", "annotations": {"k8s.io/initial-events-end": "true"}}}
    client = watching(
        line("ADDED", POD), line("BOOKMARK", {"metadata": {"resourceVersion": "7"}}), line("BOOKMARK", end)
    )
    events = [event async for event in client.watch(TYPED_PODS, initial=True)]
    assert isinstance(events[0].object, Pod)
    assert events[1:] == [Event("BOOKMARK", None, "7"), Event("BOOKMARK", None, "8", initial_end=True)]


@pytest.mark.parametrize("resource", [PODS, TYPED_PODS])
async def test_an_error_in_the_stream_is_raised(resource: object) -> None:
    client = watching(line("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}))
    with pytest.raises(StatusError, match="too old") as refused:
        async for _ in client.watch(resource):  # type: ignore[arg-type]
            pass
    assert refused.value.code == 410


async def test_an_object_that_does_not_fit_its_type_is_told_from_a_broken_stream() -> None:
    with pytest.raises(msgspec.ValidationError):
        async for _ in watching(line("ADDED", {"metadata": {}, "spec": {"nodeName": 7}})).watch(TYPED_PODS):
            pass


async def test_metadata_that_cannot_tell_who_an_object_is_is_refused() -> None:
    class Nameless(msgspec.Struct):
        name: str = ""

    class Thing(msgspec.Struct):
        metadata: Nameless

    with pytest.raises(TypeError, match="must declare namespace, uid, resourceVersion"):
        identity(Thing(Nameless()))


async def test_a_watch_left_early_closes_its_stream() -> None:
    closed = []

    async def stream() -> AsyncIterator[bytes]:
        try:
            while True:
                yield line("ADDED", POD)
        finally:
            closed.append(True)

    events = Client(Scripted([Response(200, stream())])).watch(PODS)
    async for _ in events:
        break
    await events.aclose()
    assert closed == [True]


def test_a_codec_is_built_once() -> None:
    assert codec_for(Pod) is codec_for(Pod)


def test_the_client_is_cheap_to_import() -> None:
    """A program that talks to the embedded server in its own process needs neither HTTP nor YAML."""
    program = (
        "import sys, tidegate.kube.informer, tidegate.kube.workqueue, tidegate.kube.leases, tidegate.kube.events\n"
        "print(*(name for name in ('aiohttp', 'yaml', 'cryptography') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


async def test_namespaces_of_the_call_win_over_the_body() -> None:
    client, transport = answering(POD)
    await client.create(CONFIGMAPS, {"metadata": {"generateName": "x-"}}, "elsewhere")
    assert transport.requests[0].path == "/api/v1/namespaces/elsewhere/configmaps"
