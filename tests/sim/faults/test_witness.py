"""The judge is judged: it sees every kind of breach, and blames nobody for what nobody could have known."""

from __future__ import annotations

from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.store import Change
from tidegate.local.store.log import Row
from tidegate.sim.faults.laws.witness import JOBS, PODS, WORKLOADS, Witness
from tidegate.workloads import FLAVOR, POD_SET, WORKLOAD

Json = Any
CONFIG: dict[str, list[Object]] = {
    "tidegate.dev/clusterqueues/": [
        {
            "metadata": {"name": "x"},
            "spec": {"quotas": [{"flavor": "default", "resources": {"cpu": {"nominalQuota": "2"}}}]},
        }
    ],
    "tidegate.dev/queues/": [{"metadata": {"name": "default", "namespace": "a"}, "spec": {"clusterQueue": "x"}}],
}


class Court:
    """A witness of a queue of two cpus, and what is committed before its eyes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.witness = Witness(lambda: self.now)
        self.witness.start(lambda prefix: CONFIG.get(prefix, []))

    def commit(self, prefix: str, obj: Object, *, deleted: bool = False) -> None:
        key = f"{prefix}{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        self.witness.heard(Change(Row(1, key, 1, msgspec.json.encode(obj)), deleted, None))

    @property
    def found(self) -> str:
        return "; ".join(self.witness.breaches)


def workload(name: str, count: int, granted: int, *, least: int | None = None, admitted: str = "12:00:00") -> Object:
    pods = {"name": "main", "count": count, "minCount": count if least is None else least, "requests": {"cpu": "1"}}
    said = {"type": "Admitted", "status": "True", "reason": "Granted", "observedGeneration": 1}
    return {
        "metadata": {"name": name, "namespace": "a", "generation": 1},
        "spec": {"queue": "default", "podSets": [pods]},
        "status": {
            "podSets": [{"name": "main", "granted": granted, "flavors": {"default": granted}}] if granted else [],
            "conditions": [{**said, "lastTransitionTime": f"2026-01-01T{admitted}Z"}] if granted else [],
        },
    }


def pod(name: str, of: str, **metadata: Json) -> Object:
    marks = {WORKLOAD: of, POD_SET: "main", FLAVOR: "default"}
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    return {
        "metadata": {"name": name, "namespace": "a", "annotations": marks, **metadata},
        "spec": {"containers": [container]},
    }


def test_granted_beyond_the_quota() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 2))
    assert not court.found
    court.commit(WORKLOADS, workload("two", 1, 1))
    assert "a/two" in court.found
    assert "granted" in court.found


def test_room_counts_until_pods_are_gone() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 2))
    for number in range(2):
        court.commit(PODS, pod(f"one-{number}", "one"))
    court.commit(WORKLOADS, workload("one", 2, 0))
    assert not court.found
    court.commit(WORKLOADS, workload("two", 1, 1))
    assert "in use" in court.found


def test_more_pods_than_were_granted() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("one", 1, 1))
    court.commit(PODS, pod("one-0", "one"))
    assert not court.found
    court.commit(PODS, pod("one-1", "one"))
    assert "has 2 pods" in court.found


def test_what_was_on_its_way_when_its_grant_was_taken_back_keeps_its_room() -> None:
    """Seed 320: the gate of a pod was being lifted as its grant was taken back, and it came late. It may be there, and
    whoever is given its room was given too much."""
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 1, least=0))
    court.commit(WORKLOADS, workload("one", 2, 0, least=0))
    court.commit(PODS, pod("one-0", "one"))
    assert not court.found
    court.commit(WORKLOADS, workload("two", 2, 2))
    assert "in use" in court.found


def test_what_hangs_in_the_server_is_judged_by_when_it_was_sent() -> None:
    """Seed 305: the gate of a pod was being lifted, which hung in the server for four seconds; meanwhile people took
    its Queue away, and it was evicted. It had been granted when that was sent. Who sends it later has no excuse."""
    for sent_at, is_breach in ((17.3, False), (19.6, True)):
        court = Court()
        court.witness.hanging = {"/api/v1/namespaces/a/pods/one-0": sent_at}
        court.now = 17.2
        court.commit(WORKLOADS, workload("one", 1, 1))
        court.now = 19.5
        court.commit(WORKLOADS, workload("one", 1, 0))
        court.now = 21.0
        court.commit(PODS, pod("one-0", "one"))
        assert bool(court.found) is is_breach, (sent_at, court.found)


def test_what_is_sent_after_its_grant_was_taken_back() -> None:
    """Gates of a gang were lifted one after another; its grant was taken back when the first was, and the others were
    lifted all the same, seconds later. No request is under way that long."""
    for later_s, is_breach in ((0.5, False), (0.7, True)):
        court = Court()
        court.commit(WORKLOADS, workload("one", 2, 2, least=0))
        court.commit(PODS, pod("one-0", "one"))
        court.commit(WORKLOADS, workload("one", 2, 1, least=0))
        court.now += later_s
        court.commit(PODS, pod("one-1", "one"))
        assert bool(court.found) is is_breach


def test_pods_that_come_back_after_a_shrink() -> None:
    """It had two pods once, and was shrunk to one; that it once might have had two is no excuse for two again."""
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 2, least=0))
    for number in range(2):
        court.commit(PODS, pod(f"one-{number}", "one"))
    court.commit(WORKLOADS, workload("one", 2, 1, least=0))
    court.commit(PODS, pod("one-1", "one"), deleted=True)
    court.now += 5
    court.commit(PODS, pod("one-2", "one"))
    assert "has 2 pods" in court.found


def test_a_job_that_is_let_go_with_more_than_is_granted() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("job-one", 2, 1, least=1))
    court.commit(JOBS, HELD)
    court.commit(JOBS, JOB)
    assert not court.found
    court.commit(JOBS, {**JOB, "spec": {**JOB["spec"], "parallelism": 2}})
    assert "may make 2 pods" in court.found


def test_a_job_makes_no_more_pods_than_it_has_left_to_do() -> None:
    """Seed 97: three of four had ended, which its Workload did not tell yet. The Job was left as it wanted to be, three
    at a time, and that was called too much; it can make one."""
    court = Court()
    court.commit(WORKLOADS, workload("job-one", 2, 1, least=1))
    court.commit(JOBS, JOB)
    spec = {**JOB["spec"], "parallelism": 2, "completions": 4}
    court.commit(JOBS, {**JOB, "spec": spec, "status": {"succeeded": 3}})
    assert not court.found
    court.commit(JOBS, {**JOB, "spec": {**spec, "completions": 5}, "status": {"succeeded": 3}})
    assert "may make 2 pods" in court.found


def test_a_job_that_does_not_say_how_often_makes_no_more_pods_once_one_has_ended_well() -> None:
    """Seed 75: with two of its four pods done it was left as it wanted to be, four at a time. It can make none."""
    court = Court()
    court.commit(WORKLOADS, workload("job-one", 2, 1, least=1))
    court.commit(JOBS, JOB)
    spec = {**JOB["spec"], "parallelism": 2}
    court.commit(JOBS, {**JOB, "spec": spec, "status": {"active": 1, "succeeded": 1}})
    assert not court.found
    court.commit(JOBS, {**JOB, "spec": spec | {"parallelism": 3}, "status": {"active": 2}})
    assert "may make 3 pods" in court.found


def test_half_a_floor() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 1))
    assert "floor" in court.found


def test_a_floor_that_is_raised_while_it_runs_waits_for_the_rest() -> None:
    """Seed 91: a Job was made larger by hand, and what it had was called half a floor once that was seen."""
    court = Court()
    court.commit(WORKLOADS, workload("one", 1, 1))
    court.commit(WORKLOADS, workload("one", 2, 1))
    assert not court.found
    court.commit(WORKLOADS, workload("one", 3, 2))
    assert "floor" in court.found


def test_a_floor_is_judged_by_the_size_that_was_seen() -> None:
    """Its size was changed a moment before it was granted something: what was granted must be a floor of the size that
    whoever granted it had seen. Once it was not looked at at all then, and not later either."""
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 0))
    larger = workload("one", 3, 2)
    larger["metadata"]["generation"] = 2
    court.commit(WORKLOADS, larger)
    assert not court.found, "a floor of the size before"
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 0))
    larger["status"]["podSets"] = workload("one", 3, 1)["status"]["podSets"]
    court.commit(WORKLOADS, larger)
    assert "floor" in court.found, "of neither"


def test_admitted_twice() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("one", 1, 1))
    court.commit(WORKLOADS, workload("one", 1, 1, admitted="12:00:07"))
    assert "again" in court.found


def test_two_pods_in_one_place_of_a_gang() -> None:
    court = Court()
    court.commit(WORKLOADS, workload("one", 2, 2))
    for number in range(2):
        made = pod(f"one-{number}", "one")
        made["metadata"]["annotations"]["tidegate.dev/task-index"] = "0"
        court.commit(PODS, made)
    assert "place 0" in court.found


def of_a(kind: str) -> Json:
    return {"ownerReferences": [{"apiVersion": "v1", "kind": kind, "name": "one", "controller": True}]}


JOB: Object = {
    "metadata": {"name": "one", "namespace": "a"},
    "spec": {"parallelism": 1, "template": {"metadata": {"annotations": {FLAVOR: "default"}}, "spec": {}}},
}
HELD: Object = {**JOB, "spec": {**JOB["spec"], "suspend": True}}


def test_pods_of_a_job_that_is_gone_are_nobodys_fault() -> None:
    """A Job was deleted, and with it its Workload, while its controller was making its pods. They came, and were
    collected; the operator was blamed for pods that nobody had granted."""
    court = Court()
    granted = workload("job-one", 1, 1)
    court.commit(WORKLOADS, granted)
    court.commit(JOBS, JOB)
    court.commit(JOBS, JOB, deleted=True)
    court.commit(WORKLOADS, granted, deleted=True)
    court.commit(PODS, pod("one-0", "job-one", **of_a("Job")))
    assert not court.found


def test_pods_of_a_job_whose_controller_was_behind_count_when_it_asks_for_them_again() -> None:
    """A Job was let go and held again before its controller had made its pod, which then came and stayed a while."""
    court = Court()
    court.commit(WORKLOADS, workload("job-one", 1, 1))
    court.commit(JOBS, JOB)
    court.commit(JOBS, HELD)
    court.commit(WORKLOADS, workload("job-one", 1, 0))
    court.commit(PODS, pod("one-0", "job-one", **of_a("Job")))
    court.now = 5.0
    court.commit(WORKLOADS, workload("job-one", 1, 0))
    assert not court.found
    court.commit(WORKLOADS, workload("two", 2, 2))
    assert not court.found
    court.commit(JOBS, JOB)
    assert "has 1 pods" in court.found


def test_a_pod_in_the_place_of_one_that_its_job_should_not_have_deleted() -> None:
    """Seed 346: of three pods one was too many. The controller of the Job had not heard that a fourth had failed, and
    deleted two; room for one was given away, and then it made another. What it should have deleted counts as ever."""
    court = Court()
    two = {**JOB, "spec": {**JOB["spec"], "parallelism": 2}}
    court.commit(WORKLOADS, workload("job-one", 2, 2, least=0))
    court.commit(JOBS, two)
    for number in range(2):
        court.commit(PODS, pod(f"one-{number}", "job-one", **of_a("Job")))
    court.commit(WORKLOADS, workload("job-one", 2, 1, least=0))
    court.commit(JOBS, JOB)
    going = {"deletionTimestamp": "2026-01-01T12:00:00Z", **of_a("Job")}
    court.commit(PODS, pod("one-0", "job-one", **going))
    court.commit(PODS, pod("one-0", "job-one", **going), deleted=True)
    court.commit(WORKLOADS, workload("two", 1, 1))
    court.commit(PODS, pod("one-1", "job-one", **going))
    court.commit(PODS, pod("one-2", "job-one", **of_a("Job")))
    assert not court.found
    court.commit(WORKLOADS, workload("three", 1, 1))
    assert "in use" in court.found


def test_of_pods_that_are_too_many_any_may_go() -> None:
    """Seed 973: a Job was made smaller as its controller was making two pods anew. Both came, and it took back the
    first, not the one that was too many: for that moment the two were counted, and the operator was blamed. Where none
    of them is taken back and the Job comes to ask for both, both count."""
    for is_taken in (True, False):
        court = Court()
        two = {**JOB, "spec": {**JOB["spec"], "parallelism": 2}}
        court.commit(WORKLOADS, workload("job-one", 2, 2, least=0))
        court.commit(JOBS, two)
        court.commit(WORKLOADS, workload("job-one", 2, 1, least=0))
        court.commit(JOBS, JOB)
        for number in range(2):
            court.commit(PODS, pod(f"one-{number}", "job-one", **of_a("Job")))
        court.commit(WORKLOADS, workload("two", 1, 1))
        assert not court.found
        if is_taken:
            court.commit(PODS, pod("one-0", "job-one", deletionTimestamp="2026-01-01T12:00:00Z", **of_a("Job")))
            assert not court.found, "the one that stays counts, the one that goes does not"
            court.commit(WORKLOADS, workload("three", 1, 1))
        else:
            court.commit(JOBS, two)
        assert "in use" in court.found


def test_pods_of_a_flavor_that_their_job_does_not_ask_for_any_more_are_nobodys_fault() -> None:
    """Seed 953: a Job was let go, held, and let go with another flavor before its controller had heard of any of it but
    the first. Its pods of the first flavor came when nobody knew of them. Those of the one that it asks for count."""
    court = Court()
    court.commit(WORKLOADS, workload("job-one", 2, 2))
    court.commit(JOBS, HELD)
    for number in range(2):
        made = pod(f"one-{number}", "job-one", **of_a("Job"))
        made["metadata"]["annotations"][FLAVOR] = "slow"
        court.commit(PODS, made)
    court.commit(JOBS, {**JOB, "spec": {**JOB["spec"], "parallelism": 2}})
    assert not court.found
    for number in range(2, 5):
        court.commit(PODS, pod(f"one-{number}", "job-one", **of_a("Job")))
    assert not court.found, "the last of them is a stray"
    court.commit(JOBS, {**JOB, "spec": {**JOB["spec"], "parallelism": 3}})
    assert "has 3 pods of ('main', 'default'), and 2 might start" in court.found


def test_a_pod_under_way_as_its_gang_is_deleted() -> None:
    """The QueueJob was deleted, its Workload with it, while the operator's last pod for it was on its way."""
    court = Court()
    court.commit(WORKLOADS, workload("queuejob-one", 1, 1))
    court.commit(WORKLOADS, workload("queuejob-one", 1, 1), deleted=True)
    court.commit(PODS, pod("one-0", "queuejob-one", **of_a("QueueJob")))
    assert not court.found
    court.now += 5
    court.commit(WORKLOADS, workload("two", 2, 2))
    assert not court.found, "it takes nobody's room"


def test_an_operator_that_was_cut_off_goes_by_what_it_knew() -> None:
    """People deleted a Workload while the operator could not hear of it. When it was back it lifted a gate at once; it
    had kept the room for it. So long nobody is cut off, though, that this could happen two minutes later."""
    for later_s, is_breach in ((60, False), (120, True)):
        court = Court()
        court.commit(WORKLOADS, workload("one", 1, 1))
        court.commit(WORKLOADS, workload("one", 1, 1), deleted=True)
        court.now += later_s
        court.commit(PODS, pod("one-0", "one"))
        assert bool(court.found) is is_breach


def test_a_job_that_is_let_go_by_a_workload_that_people_have_deleted() -> None:
    """Seed 183: somebody deleted the Workload of a Job that was granted and not let go yet. The operator heard of that
    late and let the Job go, as it would have started a pod; only for pods that was forgiven. So long nobody is cut off,
    though, that this could happen two minutes later, and a Workload that is there and holds nothing is no excuse."""
    for later_s, is_deleted, is_breach in ((60, True, False), (120, True, True), (60, False, True)):
        court = Court()
        court.commit(WORKLOADS, workload("job-one", 1, 1))
        court.commit(JOBS, HELD)
        court.commit(WORKLOADS, workload("job-one", 1, 1 if is_deleted else 0), deleted=is_deleted)
        court.now += later_s
        court.commit(JOBS, JOB)
        assert ("may make 1 pods" in court.found) is is_breach


def test_what_runs_counts_as_before() -> None:
    """A LimitRange was changed, and what ran counted for more, or less, than it was granted."""
    court = Court()
    court.commit(WORKLOADS, workload("one", 1, 1))
    larger = workload("one", 1, 1)
    larger["spec"]["podSets"][0]["requests"] = {"cpu": "2"}
    court.commit(WORKLOADS, larger)
    assert "a/one counted {'cpu': '1'} for a pod of main, and {'cpu': '2'} while it runs" in court.found
    court = Court()
    court.commit(WORKLOADS, workload("one", 1, 0))
    court.commit(WORKLOADS, {**larger, "status": workload("one", 1, 0)["status"]})
    court.commit(WORKLOADS, larger)
    assert not court.found, "who waits may ask for something else"
