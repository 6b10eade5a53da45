"""Kueue: a label on the object where Kueue knows its kind, a pod group where it does not.

It holds objects back itself, so neither `suspend` nor `schedulerName` is written here.
"""

from __future__ import annotations

from dataclasses import replace

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.intent.config import QueueConfig
from tidegate.dialects.intent.meaning import PRIORITY, Meaning, ceilings_noted, meaning
from tidegate.dialects.intent.policy import Word, other_scheduler_noted, unread_noted
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.names import dns_name, label_value
from tidegate.dialects.targets import kueue_rules
from tidegate.model.jobs import Form, inside, peek, pod_group, put
from tidegate.model.jobs.language.paths import sequence
from tidegate.model.jobs.pods.spark import spark_cores

PREFIX = "kueue.x-k8s.io"
QUEUE_NAME, PRIORITY_CLASS = f"{PREFIX}/queue-name", f"{PREFIX}/priority-class"
ELASTIC, MIN_PARALLELISM = f"{PREFIX}/elastic-job", f"{PREFIX}/job-min-parallelism"
GROUP_NAME, GROUP_TOTAL = f"{PREFIX}/pod-group-name", f"{PREFIX}/pod-group-total-count"
FAST_ADMISSION, RETRIABLE = f"{PREFIX}/pod-group-fast-admission", f"{PREFIX}/retriable-in-group"
RAY = ("RayCluster", "RayJob", "RayService")
_UNREAD = {
    Word.QUEUE: "Kueue reads its own label, which names the LocalQueue",
    Word.MEMBERS: "Kueue waits for all pods",
    Word.RESOURCES: "Kueue counts the pods itself",
    Word.TIMEOUT: "set waitForPodsReady in Kueue's configuration",
}


class Kueue:
    """Labels and annotations for Kueue."""

    name = "kueue"

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        kueue_rules.refuse_what_kueue_refuses(draft)
        draft.check_pods(written=False)
        if draft.entry.kind == "RayJob" and not peek(draft.obj, ("spec", "shutdownAfterJobFinishes")):
            at = ("spec", "shutdownAfterJobFinishes")
            why = "Kueue takes only jobs whose cluster goes with them, so it was set to true"
            draft = replace(draft, obj=put(draft.obj, at, True)).noted(Fate.CHANGED, ".".join(at), why)
        return _spark_spelled_out(draft)

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        stated = draft.stated(QUEUE_NAME)
        said = submission.queue or submission.organisation or submission.job_type or not stated
        queue = label_value(dns_name(settled.queue if said else stated, "the queue"), "the queue")
        labels = {QUEUE_NAME: queue}
        if priority := draft.stated(PRIORITY):
            labels[PRIORITY_CLASS] = label_value(priority, "the priority class")
            draft = draft.noted(Fate.NEEDS, PRIORITY, f"there must be a WorkloadPriorityClass {priority}")
        draft = _noted(draft, submission, settled)
        if kueue_rules.is_integrated(draft):
            return draft.on_object(labels=labels)
        # Labels of the object would be copied to each of its Deployments, which Kueue would then admit one by one.
        return draft.on_pods(labels=labels)

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        group = pod_group(draft.entry, draft.obj)
        if group is not None:
            name = label_value(group.name, "the pod group")
            return draft.on_pods(labels={GROUP_NAME: name}, annotations={GROUP_TOTAL: str(group.size)})
        if not kueue_rules.is_integrated(draft):
            return _as_group(draft)
        if draft.entry.kind in RAY:
            draft = _elastic_ray(draft)
        elif draft.entry.kind == "Job":
            return _elastic_job(draft)
        return _floors_noted(draft)


def _noted(draft: Draft, submission: Submission, settled: Meaning) -> Draft:
    if submission.organisation:
        draft = draft.noted(
            Fate.NEEDS,
            "organisation",
            f"the LocalQueue {settled.queue} must lead to ClusterQueue {submission.organisation}",
        )
    if submission.user:
        draft = draft.noted(
            Fate.DROPPED, "user", "Kueue keeps no account of users; use RBAC on the LocalQueue's namespace"
        )
    if settled.job is not None and settled.job.gang is not None:
        draft = draft.noted(
            Fate.CHANGED, "gangscheduling", f"quota is given whole; nothing else of {settled.job.gang} exists"
        )
    if settled.job is not None and settled.job.allow_preemption is not None:
        draft = draft.noted(Fate.DROPPED, "allow-preemption", "set preemption on the ClusterQueue")
    draft = unread_noted(other_scheduler_noted(draft, ""), _UNREAD)
    for kind, what in kueue_rules.OFF_BY_DEFAULT.items():
        if kind in (draft.entry.kind, draft.entry.makes.kind if draft.entry.makes else ""):
            draft = draft.noted(Fate.NEEDS, kind, what)
    return draft


def _spark_spelled_out(draft: Draft) -> Draft:
    """Kueue counts only what a Spark application states: without these it would count no cores and no executors."""
    for shape in draft.shapes:
        if shape.place is None or shape.place.form is not Form.SPARK:
            continue
        *app, role = shape.place.pod
        spec, stated = inside(draft.obj, tuple(app)), inside(draft.obj, shape.place.pod)
        wanted: dict[str, object] = {"coreRequest": spark_cores(spec, str(role), tuple(app))}
        if shape.name == "executor":
            wanted["instances"] = shape.count
        for field, value in wanted.items():
            if stated.get(field) is None:
                about = ".".join(map(str, (*shape.place.pod, field)))
                draft = replace(draft, obj=put(draft.obj, (*shape.place.pod, field), value))
                draft = draft.noted(Fate.CHANGED, about, f"{value} was written out, since Kueue counts what is stated")
        memory = stated.get("memory") or "no memory"
        about, taken = ".".join(map(str, (*shape.place.pod, "memory"))), shape.requests.quantities()["memory"]
        draft = draft.noted(Fate.CHANGED, about, f"Kueue counts {memory} without overhead, and a pod takes {taken}")
    return draft


def _as_group(draft: Draft) -> Draft:
    """A kind that Kueue does not know: its pods as one group of fixed size."""
    total = sum(shape.count for shape in draft.shapes)
    if not total:
        return draft
    draft = draft.sharing_noted()
    name = label_value(draft.name, "the pod group")
    annotations = {GROUP_TOTAL: str(total)}
    if draft.entry.group == "kubernetes.dask.org":
        # Not all pods are made at once, and some never end: neither may keep the group from starting or from ending.
        annotations |= {FAST_ADMISSION: "true", RETRIABLE: "false"}
        draft = draft.noted(
            Fate.CHANGED, "pod group", f"all {total} pods are counted like the first, and the number cannot change"
        )
    draft = draft.on_pods(labels={GROUP_NAME: name}, annotations=annotations)
    return _floors_noted(draft)


def _elastic_ray(draft: Draft) -> Draft:
    # Kueue refuses an autoscaler without this, also one that has nothing to scale.
    if not any(shape.ceiling is not None or shape.extra for shape in draft.shapes):
        return draft
    gate = {"name": ELASTIC}
    for shape in draft.shapes:
        if shape.place is None or shape.later:
            continue
        gates = [
            one for one in sequence(shape.place.pod_content.get("schedulingGates"), shape.place.pod) if one != gate
        ]
        draft = draft.on_pods(spec={"schedulingGates": [*gates, gate]}, only=shape.name)
        if shape.extra:
            added = ", ".join(f"{amount} {name}" for name, amount in shape.extra.quantities().items())
            draft = draft.noted(
                Fate.CHANGED, f"pod set {shape.role}", f"Kueue counts the autoscaler in it, too: {added}"
            )
    draft = draft.noted(Fate.NEEDS, ELASTIC, "Kueue's feature gate ElasticJobsViaWorkloadSlices must be on")
    return draft.on_object(annotations={ELASTIC: "true"})


def _elastic_job(draft: Draft) -> Draft:
    (shape,) = draft.shapes
    if shape.ceiling is not None and shape.ceiling > shape.count:
        draft = draft.noted(Fate.NEEDS, ELASTIC, "Kueue's feature gate ElasticJobsViaWorkloadSlices must be on")
        return _floors_noted(draft.on_object(annotations={ELASTIC: "true"}))
    if shape.floor < shape.count:
        least = max(shape.floor, 1)
        draft = draft.on_object(annotations={MIN_PARALLELISM: str(least)})
        return draft.noted(
            Fate.CHANGED,
            f"floor of {shape.role}",
            f"Kueue may start {least} of {shape.count} pods, and never adds the rest",
        )
    return draft


def _floors_noted(draft: Draft) -> Draft:
    draft = draft if draft.entry.kind == "Job" else ceilings_noted(draft)
    for shape in draft.shapes:
        # A Deployment's pods are admitted one by one, which is what a floor of 0 means.
        if shape.floor < shape.count and draft.entry.kind != "Deployment":
            draft = draft.noted(
                Fate.DROPPED, f"floor of {shape.role}", f"Kueue waits for all {shape.count} pods, not for {shape.floor}"
            )
    return draft
