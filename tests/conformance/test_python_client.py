"""The official Python client and its informer, unmodified, on both servers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.objects import core
from tests.harness import Cluster

pytest.importorskip("kubernetes")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from kubernetes import client, config, dynamic, watch
    from kubernetes.client.exceptions import ApiException

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def api(cluster: Cluster) -> Iterator[Any]:
    with config.new_client_from_config(str(cluster.kubeconfig)) as made:
        yield made


def test_typed_create_read_patch_delete(api: Any, namespace: str) -> None:
    core_v1 = client.CoreV1Api(api)
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="cm"), data={"a": "1"})
    made = core_v1.create_namespaced_config_map(namespace, body)
    assert made.metadata.uid
    core_v1.patch_namespaced_config_map("cm", namespace, {"data": {"b": "2"}})
    assert core_v1.read_namespaced_config_map("cm", namespace).data == {"a": "1", "b": "2"}
    core_v1.delete_namespaced_config_map("cm", namespace)
    with pytest.raises(ApiException) as missing:
        core_v1.read_namespaced_config_map("cm", namespace)
    assert missing.value.status == 404


def test_jobs_and_pods_are_listed_typed(api: Any, namespace: str) -> None:
    container = client.V1Container(name="main", image="host", command=["true"])
    template = client.V1PodTemplateSpec(spec=client.V1PodSpec(restart_policy="Never", containers=[container]))
    spec = client.V1JobSpec(suspend=True, template=template)
    client.BatchV1Api(api).create_namespaced_job(
        namespace, client.V1Job(metadata=client.V1ObjectMeta(name="j"), spec=spec)
    )
    (job,) = client.BatchV1Api(api).list_namespaced_job(namespace).items
    assert job.spec.suspend
    assert client.CoreV1Api(api).list_namespaced_pod(namespace).items == []


def test_a_watch_ends_and_resumes(api: Any, cluster: Cluster, namespace: str) -> None:
    cluster.create(core(namespace, "secrets"), {"metadata": {"name": "a"}})
    lister = client.CoreV1Api(api).list_namespaced_secret
    stream = watch.Watch()
    events = [
        (event["type"], event["object"].metadata.name) for event in stream.stream(lister, namespace, timeout_seconds=1)
    ]
    assert events == [("ADDED", "a")]


def test_the_dynamic_client_discovers_and_applies(api: Any, namespace: str) -> None:
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {"a": "1"}}
    made = maps.server_side_apply(body=body, namespace=namespace, field_manager="test")
    assert made.data.to_dict() == {"a": "1"}
    assert len(maps.get(namespace=namespace).items) >= 1


def test_the_shared_informer_follows_every_change(api: Any, cluster: Cluster, namespace: str) -> None:
    from kubernetes.informer import SharedInformer

    path = core(namespace, "secrets")
    cluster.create(path, {"metadata": {"name": "first"}})
    seen: list[tuple[str, str]] = []
    listed, done = threading.Event(), threading.Event()

    def note(kind: str) -> Any:
        def handler(*objects: Any) -> None:
            seen.append((kind, objects[-1].metadata.name))
            listed.set()
            if kind == "deleted":
                done.set()

        return handler

    informer = SharedInformer(list_func=client.CoreV1Api(api).list_namespaced_secret, namespace=namespace)
    for kind in ("ADDED", "MODIFIED", "DELETED"):
        informer.add_event_handler(kind, note(kind.lower()))
    informer.start()
    try:
        assert listed.wait(20)
        cluster.create(path, {"metadata": {"name": "second"}})
        merge = {"Content-Type": "application/merge-patch+json"}
        cluster.http("PATCH", f"{path}/second", {"metadata": {"labels": {"a": "b"}}}, merge)
        cluster.http("DELETE", f"{path}/second")
        assert done.wait(20), seen
    finally:
        informer.stop()
    assert ("added", "first") in seen
    assert ("deleted", "second") in seen
