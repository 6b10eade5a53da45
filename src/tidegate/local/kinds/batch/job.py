"""The kind Job: defaults, the selector made for it, and which parts of it may change."""

from __future__ import annotations

import copy

from tidegate.kube.wire import Object
from tidegate.local.errors import invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.batch import job_status
from tidegate.local.kinds.batch.job_spec import check_job_spec, default_job_spec, is_indexed
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import pod_spec
from tidegate.local.kinds.rules import IMMUTABLE, Errors, child, same, unchanged
from tidegate.local.kinds.selectors import label_selector, matches

LEGACY_LABELS = ("controller-uid", "job-name")
LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name")
_NEVER_CHANGE = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")


class Job(BuiltIn):
    has_status = True
    generates_generation = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        pod_spec.default_template(spec)
        default_job_spec(spec)
        labels = child(spec, "template", "metadata").get("labels")
        if labels and not child(obj, "metadata").get("labels"):
            # One and the same map: what is added to the template's labels later is added to both.
            obj.setdefault("metadata", {})["labels"] = labels

    def prepare_create(self, obj: Object) -> None:
        """Needs name and uid, which the selector is made of."""
        obj["status"] = {}
        spec = obj["spec"]
        if not spec.get("manualSelector"):
            _make_selector(spec, obj["metadata"])
        pod_spec.drop_disabled(spec["template"]["spec"])

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        pod_spec.drop_disabled(obj["spec"]["template"]["spec"])
        _label_as_template(obj)

    def prepare_status_update(self, obj: Object, old: Object) -> None:
        super().prepare_status_update(obj, old)
        _label_as_template(obj)

    def check(self, obj: Object) -> Errors:
        metadata, spec = child(obj, "metadata"), child(obj, "spec")
        yield from check_job_spec("spec", spec)
        selector = spec.get("selector")
        if selector is None:
            yield required("spec.selector")
        yield from label_selector("spec.selector", selector)
        labels = child(spec, "template", "metadata").get("labels") or {}
        if matches(selector, labels) is False:
            says = "`selector` does not match template `labels`"
            yield invalid("spec.template.metadata.labels", labels, says)
        completions = spec.get("completions") or 0
        if is_indexed(spec) and completions > 0:
            last = f"{metadata.get('name')}-{completions - 1}"
            if names.dns_label(last):
                says = f"will not able to create pod with invalid DNS label: {last}"
                yield invalid("metadata.name", metadata.get("name"), says)

    def check_create(self, obj: Object) -> Errors:
        yield from _made_selector(obj, (*LEGACY_LABELS, *LABELS))

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from self.check(obj)  # Kubernetes judges the whole again as part of the change, and says so twice.
        spec, before = child(obj, "spec"), child(old, "spec")
        had = child(before, "template", "metadata").get("labels") or {}
        yield from _made_selector(obj, (*LEGACY_LABELS, *LABELS) if had.keys() >= set(LABELS) else LEGACY_LABELS)
        yield from _completions(spec, before)
        yield from unchanged("spec", spec, before, "selector")
        yield from _template(spec, before, may_change=_is_at_rest(old))
        yield from unchanged("spec", spec, before, *_NEVER_CHANGE)

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from job_status.check(obj, old)


def _labels_for(metadata: Object) -> dict[str, str]:
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    return dict(zip((*LEGACY_LABELS, *LABELS), (uid, name, uid, name), strict=True))


def _label_as_template(obj: Object) -> None:
    """Read back, a job without labels has those of its template."""
    labels = child(obj, "spec", "template", "metadata").get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def _make_selector(spec: Object, metadata: Object) -> None:
    template = spec["template"].setdefault("metadata", {})
    given = template.get("labels")
    labels = template["labels"] = _labels_for(metadata) | (given or {})
    # Read back, a job has its template's labels; one with a name that cannot be a label is refused before.
    name, has_own = metadata.get("name") or "", metadata.get("labels") and metadata["labels"] is not given
    if not has_own and not names.label_value(name):
        metadata["labels"] = dict(labels)
    selector = dict(spec.get("selector") or {})
    selector["matchLabels"] = {LABELS[0]: metadata.get("uid"), **(selector.get("matchLabels") or {})}
    spec["selector"] = selector


def _made_selector(obj: Object, keys: tuple[str, ...]) -> Errors:
    """Unless the user took charge of it, the selector is the one made here and the pods carry its labels."""
    spec = child(obj, "spec")
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return
    labels = child(spec, "template", "metadata").get("labels") or {}
    expected = {key: value for key, value in _labels_for(child(obj, "metadata")).items() if key in keys}
    for key, value in expected.items():
        at, says = f"spec.template.metadata.labels[{key}]", f"must be '{value}'"
        if key not in labels:
            yield required(at, says)
        elif labels[key] != value:
            yield invalid(at, labels, says)
    if matches(selector, expected) is False:
        yield invalid("spec.selector", selector, "`selector` not auto-generated")


def _is_at_rest(job: Object) -> bool:
    """Suspended, and without pods: nothing runs that a new template would contradict."""
    status = child(job, "status")
    suspended = any(c.get("type") == "Suspended" and c.get("status") == "True" for c in status.get("conditions") or ())
    never_started = status.get("startTime") is None
    return bool(child(job, "spec").get("suspend")) and (never_started or suspended) and not status.get("active")


def _completions(spec: Object, before: Object) -> Errors:
    if not is_indexed(spec):
        yield from unchanged("spec", spec, before, "completions")
    elif (count := spec.get("completions")) not in (None, before.get("completions"), spec.get("parallelism")):
        yield invalid("spec.completions", count, "can only be modified in tandem with spec.parallelism")


def _template(spec: Object, before: Object, *, may_change: bool) -> Errors:
    """At rest, what decides where pods go and how much they ask for may change; nothing else ever."""
    template, allowed = spec["template"], copy.deepcopy(before["template"])
    if not may_change:
        if not same(template, allowed):
            yield invalid("spec.template", template, IMMUTABLE)
        return
    pod, was = template["spec"], allowed["spec"]
    for key in ("nodeSelector", "tolerations", "schedulingGates"):
        was[key] = pod.get(key)
    affinity = {key: value for key, value in child(was, "affinity").items() if key != "nodeAffinity"}
    if (near := child(pod, "affinity").get("nodeAffinity")) is not None:
        affinity["nodeAffinity"] = near
    was["affinity"] = None if pod.get("affinity") is None and not affinity else affinity
    for sort in ("containers", "initContainers"):
        new, old = pod.get(sort) or [], was.get(sort) or []
        for one, other in zip(new, old, strict=False):
            if len(new) == len(old) and one.get("name") == other.get("name"):
                other["resources"] = one.get("resources")
    if not same(pod, was):
        yield invalid("spec.template.spec", pod, IMMUTABLE)
