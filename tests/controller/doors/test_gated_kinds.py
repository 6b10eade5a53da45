"""Kinds that no field holds back are held at the door by their pod templates, so that there is no rollout later."""

from __future__ import annotations

from typing import Any

import pytest

from tests.controller.house import House
from tests.controller.kinds.played import owner_of
from tests.model.jobs.samples import sample
from tidegate.controller.doors.door import Door, RefusedError, Submitter
from tidegate.controller.doors.sight import Seen
from tidegate.controller.namespaces import Managed
from tidegate.kube import resources as r
from tidegate.model.jobs import builtin, is_gated, is_suspended, peek, templates, without

Json = Any
GATE = {"name": "tidegate.dev/quota"}
QUEUED = [entry for entry in builtin().entries if entry.makes is None and entry.kind not in ("Pod", "QueueJob")]
BY = Submitter("ada")


def door() -> Door:
    """A door of a namespace with a Queue."""
    managed = Managed(lambda _: {}, lambda _: {"default"}, everywhere=True)
    return Door(Seen(builtin(), lambda name, namespace: None, lambda name: None, lambda name: None), managed)


@pytest.mark.parametrize("entry", QUEUED, ids=lambda entry: entry.kind)
def test_every_queued_kind_is_held_from_its_first_moment(entry: Any) -> None:
    held = door().judge(sample(entry.kind), "team-a", BY)
    if not is_gated(entry):
        assert is_suspended(entry, held)
        return
    places = templates(entry, held)
    assert places
    for place in places:
        assert GATE in peek(held, (*place.pod, "schedulingGates"))
        assert peek(held, place.annotations)["tidegate.dev/workload"].startswith(f"{entry.kind.lower()}-")


def test_pods_of_a_gated_application_are_gated_though_its_definition_knows_no_gates() -> None:
    """Some definitions prune what they do not know; the mark on the pod is enough. A flavor is what it gets when it is
    let go, so none that it comes with was granted."""
    held = dict(door().judge(sample("DaskCluster"), "team-a", BY))
    held["metadata"] |= {"uid": "1"}
    mark = f"daskcluster-{held['metadata']['name']}"
    pod = sample("Pod")
    pod["metadata"] |= {"ownerReferences": [owner_of(held)], "annotations": {"tidegate.dev/workload": mark}}
    for marks in ({}, {"tidegate.dev/flavor": "default"}):
        pod["metadata"]["annotations"] |= marks
        judged = door().judge(pod, "team-a", BY, above={"1": held})
        assert judged["spec"]["schedulingGates"] == [GATE]
        assert judged["metadata"]["annotations"] == {"tidegate.dev/workload": mark}


def test_a_pod_that_names_an_owner_that_did_not_make_it_waits_like_a_single_pod() -> None:
    """It was neither held nor counted: by naming a Job that waits, everybody could run beside the queue."""
    held = dict(door().judge(sample("Job"), "team-a", BY))
    held["metadata"] |= {"uid": "1"}
    forged = {"tidegate.dev/workload": f"job-{held['metadata']['name']}", "tidegate.dev/flavor": "default"}
    for marks in ({}, forged):
        for above in ({"1": held}, {}):
            pod = sample("Pod")
            pod["metadata"] |= {"ownerReferences": [owner_of(held)], "annotations": marks}
            judged = door().judge(pod, "team-a", BY, above=above)
            assert judged["spec"]["schedulingGates"] == [GATE]
            assert set(judged["metadata"]["annotations"]) == {"tidegate.dev/submitter"}
    pod["spec"]["nodeName"] = "n-0"
    with pytest.raises(RefusedError, match=r"leave spec\.nodeName out"):
        door().judge(pod, "team-a", BY, above={"1": held})


def test_an_owner_that_nobody_queues_and_marks_of_ones_own_do_not_open_the_door() -> None:
    pod = sample("Pod")
    forged = {"tidegate.dev/workload": "job-other", "tidegate.dev/flavor": "default"}
    for owner in (
        {"apiVersion": "v1", "kind": "ConfigMap"},
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"},
    ):
        references = [{**owner, "name": "x", "uid": "1", "controller": True}]
        for marks in ({}, forged):
            pod["metadata"] |= {"ownerReferences": references, "annotations": marks}
            assert door().judge(pod, "team-a", BY)["spec"]["schedulingGates"] == [GATE]


def test_a_pod_that_names_its_node_is_refused_unless_a_node_runs_it_by_itself() -> None:
    pod = sample("Pod")
    pod["spec"]["nodeName"] = "n-0"
    with pytest.raises(RefusedError, match=r"leave spec\.nodeName out"):
        door().judge(pod, "team-a", BY)
    pod["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "1"}
    assert "schedulingGates" not in door().judge(pod, "team-a", BY)["spec"]


def test_what_its_own_operator_would_choke_on_is_refused_by_its_field() -> None:
    with pytest.raises(RefusedError, match=r"spec\.shutdownAfterJobFinishes: KubeRay holds back only RayJobs"):
        door().judge(dict(without(sample("RayJob"), ("spec", "shutdownAfterJobFinishes"))), "team-a", BY)


async def test_a_deployment_is_held_at_the_door_and_never_rolled_out_again(guarded: House) -> None:
    made = await guarded.deployment("web", replicas=2)
    assert GATE in made["spec"]["template"]["spec"]["schedulingGates"]
    await guarded.state("deployment-web", "Admitted", granted=2)

    async def are_free() -> bool:
        pods = await guarded.list(r.PODS, "app=web")
        return len(pods) == 2 and not any(pod["spec"].get("schedulingGates") for pod in pods)

    await guarded.until(are_free)
    assert len(await guarded.list(r.REPLICASETS, "app=web")) == 1
