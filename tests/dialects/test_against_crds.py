"""What is rendered, asked of a real API server with the definitions that the other projects publish.

Fields are checked strictly: one that a definition does not have is an error, not a warning.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

from tests.dialects.published import MODULES, definitions
from tests.dialects.test_referred import runtime
from tests.dialects.trees import COMPANY
from tests.harness import Cluster
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import BUILTIN, Submission, render
from tidegate.dialects.queues import TARGETS, drifts, from_kueue, parse_tree

pytestmark = pytest.mark.kube
Json = Any
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Dask's definitions are not in a Go module, and Tidegate's own have tests of their own.
ELSEWHERE = {"DaskCluster", "DaskJob", "QueueJob"}
FOREIGN = {("TrainJob", one) for one in ("yunikorn", "volcano", "scheduler-plugins")}


@pytest.fixture(scope="module")
def server(real_cluster: Cluster) -> Cluster:
    """A real server that knows everybody's kinds."""
    waiting = []
    for module in MODULES:
        for definition in definitions(module):
            # Two projects define MPIJob; the one that is kept up is mpi-operator's.
            if module.endswith("training-operator") and definition["spec"]["names"]["kind"] == "MPIJob":
                continue
            reply = real_cluster.http("POST", CRDS, definition)
            assert reply.status in (201, 409), f"{definition['metadata']['name']}: {reply.body[:600]!r}"
            waiting.append(_collection(definition))
    for path in waiting:
        real_cluster.eventually(path, lambda reply: reply.status == 200)
    return real_cluster


def _collection(definition: Json) -> str:
    spec = definition["spec"]
    version = next(one["name"] for one in spec["versions"] if one.get("served"))
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"


@lru_cache(maxsize=1)
def _plurals() -> dict[str, tuple[str, bool]]:
    known = {"Pod": ("pods", True), "Job": ("jobs", True), "CronJob": ("cronjobs", True)}
    known |= {"Deployment": ("deployments", True), "StatefulSet": ("statefulsets", True)}
    for module in MODULES:
        for definition in definitions(module):
            names, group = definition["spec"]["names"], definition["spec"]["group"]
            known[f"{group} {names['kind']}"] = (names["plural"], definition["spec"]["scope"] == "Namespaced")
    return known


def _try(server: Cluster, namespace: str, obj: Json) -> None:
    """Create it without keeping it; everything the server has to say against it is an error."""
    api = "api" if obj["apiVersion"] == "v1" else "apis"
    group = obj["apiVersion"].rpartition("/")[0]
    plural, namespaced = _plurals().get(f"{group} {obj['kind']}") or _plurals()[obj["kind"]]
    where = f"/namespaces/{namespace}" if namespaced else ""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "namespace"}
    path = f"/{api}/{obj['apiVersion']}{where}/{plural}?dryRun=All&fieldValidation=Strict"
    reply = server.http("POST", path, {**obj, "metadata": metadata})
    assert reply.status == 201, f"{obj['kind']}: {reply.body[:800]!r}"


@pytest.fixture(scope="module")
def space(server: Cluster) -> str:
    return server.namespace()


PAIRS = [
    (kind, scheduler)
    for kind in KINDS
    for scheduler in BUILTIN
    if kind not in ELSEWHERE and (kind, scheduler) not in FOREIGN
]


@pytest.mark.parametrize(("kind", "scheduler"), PAIRS)
def test_rendered_objects_are_still_what_their_own_definitions_ask_for(
    server: Cluster, space: str, kind: str, scheduler: str
) -> None:
    config = {"scheduler": scheduler, "jobs": [{"type": "ray", "gangscheduling": "gangSchedulingStyle=Hard"}]}
    for told in (scheduler, config):
        done = render(sample(kind), Submission(organisation="org1", user="u", id="7"), told)
        for obj in done.objects:
            _try(server, space, obj)


@pytest.mark.parametrize("scheduler", ["yunikorn", "volcano", "scheduler-plugins"])
def test_a_train_job_and_the_copy_of_its_runtime_are_what_the_trainer_asks_for(
    server: Cluster, space: str, scheduler: str
) -> None:
    done = render(sample("TrainJob"), Submission(organisation="org1", id="7"), scheduler, referred=runtime())
    for obj in done.objects:
        _try(server, space, obj)


def test_the_server_does_refuse_what_a_definition_does_not_have(server: Cluster, space: str) -> None:
    """So that the tests above mean something."""
    for kind, field in (("SparkApplication", "driver"), ("RayCluster", "headGroupSpec")):
        wrong = sample(kind)
        wrong["spec"][field]["lables"] = {}
        with pytest.raises(AssertionError, match="unknown field"):
            _try(server, space, wrong)


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_rendered_queues_are_what_their_definitions_ask_for(server: Cluster, space: str, scheduler: str) -> None:
    for obj in TARGETS[scheduler](parse_tree(COMPANY)).objects:
        _try(server, space, obj)


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_what_a_server_fills_in_is_no_drift(server: Cluster, space: str, scheduler: str) -> None:
    """A live configuration was said to have drifted in fields that nobody had written."""
    wanted = TARGETS[scheduler](parse_tree(COMPANY)).objects
    group = wanted[0]["apiVersion"].partition("/")[0]
    live = []
    for obj in wanted:
        plural, namespaced = _plurals()[f"{group} {obj['kind']}"]
        where, metadata = f"/namespaces/{space}" if namespaced else "", dict(obj["metadata"])
        namespace = metadata.pop("namespace", None)
        path = f"/apis/{obj['apiVersion']}{where}/{plural}?dryRun=All"
        kept = server.http("POST", path, {**obj, "metadata": metadata}).json
        if namespace:
            kept["metadata"]["namespace"] = namespace
        live.append(kept)
    assert [str(drift) for drift in drifts(scheduler, wanted, live)] == []


def test_queues_that_kueue_keeps_come_back_as_they_were(server: Cluster, space: str) -> None:
    """The real server fills in Kueue's defaults; the tree that is read back is still the same."""
    wanted = TARGETS["kueue"](parse_tree(COMPANY)).objects
    kept = []
    for obj in wanted:
        plural, namespaced = _plurals()[f"kueue.x-k8s.io {obj['kind']}"]
        where = f"/namespaces/{space}" if namespaced else ""
        path = f"/apis/{obj['apiVersion']}{where}/{plural}"
        metadata = {key: value for key, value in obj["metadata"].items() if key != "namespace"}
        reply = server.http("POST", f"{path}?fieldValidation=Strict", {**obj, "metadata": metadata})
        assert reply.status == 201, reply.body[:500]
        kept.append(reply.json)
    again = parse_tree(from_kueue(kept).objects)
    before = parse_tree(COMPANY)
    assert [(node.metadata.name, node.spec.parent, node.spec.weight, node.spec.quotas) for node in again.nodes] == [
        (node.metadata.name, node.spec.parent, node.spec.weight, node.spec.quotas) for node in before.nodes
    ]
    assert {door.metadata.namespace for door in again.doors} == {space}
