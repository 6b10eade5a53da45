"""What histories full of faults taught: each of these once granted twice, gave away what was taken, or never ended."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import structs

from tests.controller.house import House
from tests.controller.test_pods import gang, pod
from tests.model.jobs.samples import sample
from tidegate.controller.applications.form import allowances, wanted_form
from tidegate.controller.applications.pods_of_job import job_status, to_do
from tidegate.controller.kinds import WORKLOADS, Key
from tidegate.controller.seen.workloads import Facts, being_let_go, seen_workload
from tidegate.controller.underway import Urgency
from tidegate.controller.watch.latest import Latest
from tidegate.controller.writing import StatusWriter
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Request, Response
from tidegate.model.codec import read
from tidegate.model.jobs import builtin
from tidegate.model.kinds import QueueJob, Workload
from tidegate.model.kinds.workload import State, WorkloadStatus
from tidegate.model.resources import Resources
from tidegate.scheduler import PodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import FLAVOR, POD_SET, LetGo, PodFacts, let_go, said_active

Json = Any
ONE = Resources.parse({"cpu": 1})


def seen(**pod_set: Json) -> SeenWorkload:
    pods = PodSet(name="main", count=3, floor=1, requests=ONE, **pod_set)
    return SeenWorkload(name="a/w", queue="a/default", created=0, admitted_at=1, pod_sets=(pods,))


def workload(count: int = 3, **status: Json) -> Workload:
    pods = {"name": "main", "count": count, "minCount": 1, "requests": {"cpu": "1"}}
    told = {"conditions": [{"type": "Admitted", "status": "True", "reason": "Granted", **_AT}], **status}
    return read(Workload, {"metadata": {"name": "w", "namespace": "a"}, "spec": {"podSets": [pods]}, "status": told})


_AT = {"lastTransitionTime": "2026-01-01T00:00:00Z"}


def gang_of(replicas: int, **status: Json) -> QueueJob:
    job = {"name": "main", "replicas": replicas, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
    spec = {"taskSpecs": [job], "backoffLimit": 1}
    return read(QueueJob, {"metadata": {"name": "j", "namespace": "a", "uid": "u"}, "spec": spec, "status": status})


def member(index: int, phase: str, *, attempt: int = 0, going: bool = False) -> Json:
    name = f"j-main-{index}" + (f"-r{attempt}" if attempt else "")
    marks = {POD_SET: "main", FLAVOR: "default", "tidegate.dev/task-index": str(index)}
    meta: Json = {"name": name, "namespace": "a", "annotations": marks}
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": meta, "spec": {"containers": []}, "status": {"phase": phase}}


def test_pods_heard_of_since_the_plan_are_not_made_again() -> None:
    """Two places were granted; the plan knew of no pods, and by the time pods were made both were there. A third was
    made for a place that nobody granted."""
    pods = [member(index, "Pending") for index in range(2)]
    assert not to_do(gang_of(3), seen(granted={"default": 2}), pods, {}).create


def test_whoever_deletes_a_failed_pod_does_not_stop_its_gang() -> None:
    """The first attempt failed and was deleted, the second failed. A third was made with the name of the second, since
    one pod was there: refused as known, for ever."""
    left = [member(0, "Failed", attempt=1)]
    (made,) = to_do(gang_of(1), seen(granted={"default": 1}), left, {}).create
    assert made["metadata"]["name"] == "j-main-0-r2"
    status = job_status(gang_of(1), seen(), left)
    assert (status.failed, status.phase) == (2, "Failed"), "deleting failures does not make them undone"


@pytest.mark.parametrize("ends", ["Succeeded", "Failed"])
def test_a_pod_that_was_told_to_go_has_neither_failed_nor_ended_well(ends: str) -> None:
    """A gang that gave way failed: its pod was taken, and how it ended was counted against its backoffLimit. One that
    ends well when it is told to go was not made again, as if it had done its part."""
    job = structs.replace(gang_of(2), spec=structs.replace(gang_of(2).spec, backoff_limit=0))
    pods = [member(0, "Running"), member(1, ends, going=True)]
    told = job_status(job, seen(granted={"default": 1}), pods)
    assert (told.phase, told.failed, told.succeeded) == ("Running", 0, 0)
    again = seen(granted={"default": 2}, present={"default": 1})
    assert not to_do(job, again, pods, {}).create, "its name is taken until it is gone"
    (made,) = to_do(job, again, pods[:1], {}).create
    assert made["metadata"]["name"] == "j-main-1"


def test_nothing_runs_of_a_gang_that_is_over_and_what_ends_it_is_not_counted() -> None:
    """A gang that had failed said for ever that a pod of it runs, and counted pods that were stopped with those that
    had failed."""
    pods = [member(0, "Running"), member(1, "Failed"), member(1, "Failed", attempt=1)]
    over = job_status(gang_of(2), seen(), pods)
    assert (over.phase, over.failed, over.running, over.task_specs[0].running) == ("Failed", 2, 0, 0)
    later = job_status(structs.replace(gang_of(2), status=over), seen(), [member(0, "Failed", going=True), *pods[1:]])
    assert later == over


def test_whoever_deletes_a_pod_that_ended_well_does_not_have_it_run_again() -> None:
    """Of two, the first ended well and was deleted, the second failed. The first was run again, the second never."""
    told = job_status(gang_of(2), seen(ended=1), [member(0, "Succeeded"), member(1, "Failed")])
    assert told.task_specs[0].completed_indexes == "0"
    job = structs.replace(gang_of(2), status=told)
    (made,) = to_do(job, seen(granted={"default": 1}, ended=1), [member(1, "Failed")], {}).create
    assert made["metadata"]["name"] == "j-main-1-r1"
    ended = job_status(job, seen(ended=1), [member(1, "Failed"), member(1, "Succeeded", attempt=1)])
    assert (ended.phase, ended.failed) == ("Succeeded", 1)


def test_a_gang_of_which_only_its_workload_knows_that_it_ended_has_ended() -> None:
    """Seeds 328 and 989: both pods had ended well. The operator told the Workload so and was killed before it told the
    QueueJob; the node was lost, and the pods with it. The Workload asked for nothing any more, and the QueueJob waited
    for ever for a pod that nobody was to make."""
    told = job_status(gang_of(2), seen(), [member(0, "Succeeded"), member(1, "Running")])
    job = structs.replace(gang_of(2), status=told)
    ended = job_status(job, seen(ended=2), [])
    assert (ended.phase, ended.succeeded, ended.task_specs[0].completed_indexes) == ("Succeeded", 2, "0,1")
    one = job_status(structs.replace(gang_of(3), status=told), seen(ended=2), [])
    assert (one.phase, one.task_specs[0].completed_indexes) == ("Pending", "0"), "which of the other two is not known"


def test_an_application_shrunk_to_nothing_is_held() -> None:
    """Its first pod had ended, so its floor was nothing, and all the rest was taken. Written into the running Job was a
    template without a flavor, which no server takes: it kept running what it had lost."""
    assert allowances(seen(ended=1), {}) is None
    assert allowances(seen(granted={"default": 1}, ended=1), {}) is not None


def test_what_ran_before_it_was_queued_is_held_before_it_is_let_go() -> None:
    """A namespace had lost its Queue, so a Job was not held at the door; it ran as the Queue came back, and was let in
    as soon as it was seen. What it was granted was written into the running Job, which no server takes: refused for
    ever, once a second."""
    job = {**sample("Job"), "apiVersion": "batch/v1", "kind": "Job"}
    job["spec"] |= {"suspend": False, "parallelism": 3}
    admitted = seen(granted={"default": 3}, present={"default": 3})
    held = wanted_form(builtin().of(job), job, admitted, {}, kinds=builtin())
    assert held == {**job, "spec": {**job["spec"], "suspend": True}}
    empty = seen(granted={"default": 3})
    started = wanted_form(builtin().of(job), held, empty, {}, kinds=builtin())
    assert started["spec"]["suspend"] is False
    assert wanted_form(builtin().of(job), started, admitted, {}, kinds=builtin()) == started


def test_what_is_given_another_flavor_is_held_before_it_is_let_go_anew() -> None:
    """Seed 184: a Job lost its flavor and was given another before anybody had held it. A template of the new one was
    written into the running Job, which no server takes: it kept running on what it had lost."""
    job = {**sample("Job"), "apiVersion": "batch/v1", "kind": "Job"}
    job["spec"] |= {"suspend": True, "parallelism": 3}
    runs = wanted_form(builtin().of(job), job, seen(granted={"fast": 3}), {}, kinds=builtin())
    assert runs["spec"]["suspend"] is False
    moved = seen(granted={"slow": 3}, present={"fast": 3})
    held = wanted_form(builtin().of(job), runs, moved, {}, kinds=builtin())
    assert held["spec"] == {**runs["spec"], "suspend": True}
    assert wanted_form(builtin().of(job), held, moved, {}, kinds=builtin()) == held, "while its pods are going"
    anew = wanted_form(builtin().of(job), held, seen(granted={"slow": 3}), {}, kinds=builtin())
    assert anew["spec"]["suspend"] is False
    assert anew["spec"]["template"]["metadata"]["annotations"]["tidegate.dev/flavor"] == "slow"


def test_what_runs_with_pods_of_another_flavor_is_held_until_they_are_gone() -> None:
    """Seed 953: a Job was let go, held, and let go with another flavor while its controller was behind. Pods of the
    first flavor came when it was thought to be empty; it would have kept them, on room that was given away."""
    job = {**sample("Job"), "apiVersion": "batch/v1", "kind": "Job"}
    job["spec"] |= {"suspend": True, "parallelism": 3}
    runs = wanted_form(builtin().of(job), job, seen(granted={"slow": 3}), {}, kinds=builtin())
    behind = seen(granted={"slow": 3}, present={"fast": 2, "slow": 3}, coming={"slow": 3}, mixes=False)
    held = wanted_form(builtin().of(job), runs, behind, {}, kinds=builtin())
    assert held["spec"] == {**runs["spec"], "suspend": True}
    anew = wanted_form(builtin().of(job), held, seen(granted={"slow": 3}), {}, kinds=builtin())
    assert anew["spec"]["suspend"] is False
    right = seen(granted={"slow": 3}, present={"slow": 3}, mixes=False)
    assert wanted_form(builtin().of(job), anew, right, {}, kinds=builtin()) == anew


def test_what_was_let_go_counts_before_it_is_there() -> None:
    """A Job was evicted between being let go and having pods. Its room went to another, and then its pods came."""
    evicted = structs.replace(workload(), status=WorkloadStatus())
    (pods,) = seen_workload(evicted, Facts(let_go={"main": LetGo(2, "spot")})).pod_sets
    assert pods.present == {"spot": 2}
    assert pods.coming == {"spot": 2}, "it is told apart: nobody is told that it runs"
    (pods,) = seen_workload(evicted, Facts()).pod_sets
    assert not pods.present


def test_a_pod_that_goes_has_a_successor_though_it_is_still_there() -> None:
    """A Job of two was shrunk to one; the other pod was still on its way out when the one that stayed ended well, and
    more was to be done. One pod there, one granted: the room of the second was given away, and then it came."""
    leaves = PodFacts("p", "w", "main", "spot", "q", ONE, gated=False, present=True, succeeded=False, going=True)
    told = workload(podSets=[{"name": "main", "granted": 1, "flavors": {"spot": 1}}])
    (pods,) = seen_workload(told, Facts(pods=(leaves,), let_go={"main": LetGo(1, "spot")})).pod_sets
    assert (pods.present, pods.coming) == ({"spot": 2}, {"spot": 1})


def test_who_is_asked_for_fewer_makes_more_until_it_has_heard_of_that() -> None:
    """Seed 973: a Job of two was shrunk to one as both of its pods ended well, with more to be done. Its controller
    made two others before it heard of that: the room of one was given away already, and both were there."""
    job = {**sample("Job"), "apiVersion": "batch/v1", "kind": "Job", "status": {"active": 2}}
    job["spec"] |= {"suspend": False, "parallelism": 1, "completions": 4}
    job["spec"]["template"] = {"metadata": {"annotations": {FLAVOR: "spot"}}, "spec": {"containers": []}}
    told = workload(4, podSets=[{"name": "main", "granted": 1, "flavors": {"spot": 1}}])
    entry = builtin().of(job)
    facts = Facts(let_go=let_go(entry, job), active=said_active(entry, job))
    (pods,) = seen_workload(told, facts).pod_sets
    assert (pods.present, pods.coming) == ({"spot": 2}, {"spot": 2}), "both may come, and none of them runs"
    leaves = PodFacts("p", "w", "main", "spot", "q", ONE, gated=False, present=True, succeeded=False, going=True)
    held = {**job, "spec": {**job["spec"], "suspend": True}}
    facts = Facts(pods=(leaves, leaves), let_go=let_go(entry, held), active=said_active(entry, held))
    (pods,) = seen_workload(told, facts).pod_sets
    assert (pods.present, pods.coming) == ({"spot": 2}, {}), "those that go are the ones that it speaks of"
    has_heard = {**job, "status": {"active": 1}}
    (pods,) = seen_workload(told, Facts(let_go=let_go(entry, job), active=said_active(entry, has_heard))).pod_sets
    assert pods.present == {"spot": 1}


def test_what_is_being_let_go_counts_before_it_is() -> None:
    """A Job was being let go when it was evicted: planned with nothing of it there, its room went to another at once,
    and then its server answered."""
    evicted = structs.replace(workload(), status=WorkloadStatus())
    going = seen(granted={"spot": 2, "default": 1}, held={"spot": 1})
    (pods,) = being_let_go(seen_workload(evicted, Facts()), going).pod_sets
    assert pods.present == {"default": 1, "spot": 1}, "what is held does not start"
    assert pods.coming == pods.present, "none of it runs yet"
    there = seen_workload(evicted, Facts(let_go={"main": LetGo(3, "spot")}))
    (pods,) = being_let_go(there, going).pod_sets
    assert pods.present == {"default": 1, "spot": 3}


def test_a_smaller_application_takes_back_what_ended() -> None:
    """Of five, two had ended and three were still to do; then it was made three at a time. Counted on as ended, two of
    its places were given away while it ran all three."""
    told = workload(reclaimedPodSetPods=[{"name": "main", "count": 2}])
    (pods,) = seen_workload(told, Facts(ended={"main": 0})).pod_sets
    assert (pods.ended, pods.wanted) == (0, 3)
    (pods,) = seen_workload(told, Facts()).pod_sets
    assert (pods.ended, pods.wanted) == (2, 1), "where only pods can tell, what was counted stays counted"


async def test_a_gang_that_lost_a_member_is_over_when_the_others_are(house: House) -> None:
    """Somebody deleted one of two pods; the other ended well, and the place of the first was held for ever."""
    for name in ("x-0", "x-1"):
        await pod(house, name, **gang("x", 2))
    await house.state("podgroup-x", "Admitted", granted=2)
    await house.see(r.PODS, "x-1", lambda obj: not obj["spec"].get("schedulingGates"))
    await house.client.delete(r.PODS, "x-0", house.namespace)
    await house._set(await house.get(r.PODS, "x-1"), {"phase": "Succeeded"})
    await house.state("podgroup-x", "Finished", granted=0)


WHEN = "2026-01-01T00:00:00Z"
NOTHING = WorkloadStatus()


class Late:
    """A wire on which one status write arrives long after its sender was told that it did not."""

    def __init__(self, client: Client) -> None:
        self._transport = client._transport
        self.kept: Request | None = None

    async def send(self, request: Request) -> Response:
        if request.method == "PUT" and self.kept is None:
            self.kept = request
            raise TimeoutError("no answer")
        return await self._transport.send(request)

    async def arrive(self) -> int:
        assert self.kept is not None
        return (await self._transport.send(self.kept)).status

    async def close(self) -> None:
        """It is not ours to close."""


def note(failed: list[Key]) -> Any:
    return lambda step, refused, assumed: failed.append(step.key)


async def test_a_write_without_an_answer_does_not_take_effect_later(house: House) -> None:
    """It was read again, found not to have been written, and its room was given to another; then it arrived."""
    await house.kill()
    await house.workload("w", 1)
    wire = Late(house.client)
    client = Client(wire)
    informer: Informer[Any] = Informer(client, WORKLOADS, house.namespace)
    latest = Latest(informer)
    following = asyncio.create_task(informer.run())
    await informer.synced()
    failed: list[Key] = []
    writer, key = StatusWriter(client, latest, lambda step, is_newest: None, note(failed)), (house.namespace, "w")
    async with asyncio.TaskGroup() as group:
        writer.open(group)
        admitted = WorkloadStatus(state=State.ADMITTED)
        made_from = informer.get("w", house.namespace)
        assert made_from is not None
        writer.underway.put(key, made_from, NOTHING, admitted, urgency=Urgency.TELLS)
        writer.push()
    assert failed == [key]
    assert await wire.arrive() == 409
    following.cancel()
    assert "status" not in await house.get(WORKLOADS, "w")


async def test_a_status_carries_the_version_it_was_made_from_and_not_one_heard_of_since(house: House) -> None:
    """Somebody said that a Workload is over while its status waited to be written. The write took the newer version
    from the cache and was accepted: what had been said was gone, and quota was held for ever."""
    await house.kill()
    await house.workload("w", 1)
    informer: Informer[Any] = Informer(house.client, WORKLOADS, house.namespace)
    following = asyncio.create_task(informer.run())
    await informer.synced()
    made_from = informer.get("w", house.namespace)
    assert made_from is not None
    over = {"type": "Finished", "status": "True", "reason": "ByHand", "message": "", "lastTransitionTime": WHEN}
    heard = asyncio.Event()
    informer.on_change(lambda old, new: heard.set() if (new or {}).get("status") else None)
    await house.client.patch(WORKLOADS, "w", {"status": {"conditions": [over]}}, house.namespace, subresource="status")
    await heard.wait()
    failed: list[Key] = []
    latest, key = Latest(informer), (house.namespace, "w")
    writer = StatusWriter(house.client, latest, lambda step, is_newest: None, note(failed))
    async with asyncio.TaskGroup() as group:
        writer.open(group)
        writer.underway.put(key, made_from, NOTHING, WorkloadStatus(state=State.ADMITTED), urgency=Urgency.TELLS)
        writer.push()
    assert failed == [key]
    following.cancel()
    assert (await house.get(WORKLOADS, "w"))["status"]["conditions"][0]["reason"] == "ByHand"
