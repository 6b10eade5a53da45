"""Rows of what makes pods, and of what watches over them."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.tables.times import Since, human, parsed
from tidegate.local.tables.words import (
    NONE,
    UNSET,
    condition_is_true,
    containers,
    created,
    labels,
    name_of,
    part,
    selector,
    truth,
)

_JOB_ENDS = ("Complete", "Failed")
_JOB_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _template(obj: Object) -> tuple[str, str]:
    return containers(part(obj, "spec", "template", "spec"))


def deployment(obj: Object, since: Since) -> list[Any]:
    spec, status = part(obj, "spec"), part(obj, "status")
    return [
        name_of(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        since(created(obj)),
        *_template(obj),
        selector(spec.get("selector")),
    ]


def replica_set(obj: Object, since: Since) -> list[Any]:
    return [*_replicas(obj, since), *_template(obj), selector(part(obj, "spec").get("selector")) or NONE]


def replication_controller(obj: Object, since: Since) -> list[Any]:
    return [*_replicas(obj, since), *_template(obj), labels(part(obj, "spec").get("selector"))]


def _replicas(obj: Object, since: Since) -> list[Any]:
    status = part(obj, "status")
    return [
        name_of(obj),
        part(obj, "spec").get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        since(created(obj)),
    ]


def stateful_set(obj: Object, since: Since) -> list[Any]:
    ready = f"{part(obj, 'status').get('readyReplicas', 0)}/{part(obj, 'spec').get('replicas', 0)}"
    return [name_of(obj), ready, since(created(obj)), *_template(obj)]


def daemon_set(obj: Object, since: Since) -> list[Any]:
    spec, status = part(obj, "spec"), part(obj, "status")
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name_of(obj),
        *[status.get(count, 0) for count in counts],
        labels(part(spec, "template", "spec").get("nodeSelector")),
        since(created(obj)),
        *_template(obj),
        selector(spec.get("selector")) or NONE,
    ]


def job(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    return [
        name_of(obj),
        _job_state(obj),
        _job_completions(spec, part(obj, "status").get("succeeded", 0)),
        _job_duration(part(obj, "status"), since),
        since(created(obj)),
        *_template(obj),
        selector(spec.get("selector")) or NONE,
    ]


def _job_state(obj: Object) -> str:
    for state in _JOB_ENDS:
        if condition_is_true(obj, state):
            return state
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    return next((state for state in _JOB_STATES if condition_is_true(obj, state)), "Running")


def _job_completions(spec: Object, succeeded: int) -> str:
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(status: Object, since: Since) -> str:
    began, ended = status.get("startTime"), status.get("completionTime")
    if not began:
        return ""
    if not ended:
        return since(began)
    first, last = parsed(began), parsed(ended)
    return human((last - first).total_seconds()) if first and last else ""


def cron_job(obj: Object, since: Since) -> list[Any]:
    spec, status = part(obj, "spec"), part(obj, "status")
    last = status.get("lastScheduleTime")
    job_spec = part(spec, "jobTemplate", "spec")
    return [
        name_of(obj),
        spec.get("schedule", ""),
        spec["timeZone"] if spec.get("timeZone") is not None else NONE,
        truth(spec.get("suspend")),
        len(status.get("active") or []),
        since(last) if last else NONE,
        since(created(obj)),
        *containers(part(job_spec, "template", "spec")),
        selector(job_spec.get("selector")) or NONE,
    ]


def pod_template(obj: Object, since: Since) -> list[Any]:
    template = part(obj, "template")
    return [name_of(obj), *containers(part(template, "spec")), labels(part(template, "metadata").get("labels"))]


def controller_revision(obj: Object, since: Since) -> list[Any]:
    owners = obj["metadata"].get("ownerReferences") or []
    owner = next((item for item in owners if item.get("controller")), None)
    text = NONE
    if owner:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = f"{owner['kind']}.{group}" if group else owner["kind"]
        text = f"{kind.lower()}/{owner['name']}"
    return [name_of(obj), text, obj.get("revision", 0), since(created(obj))]


def disruption_budget(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    limits = [str(spec[key]) if spec.get(key) is not None else "N/A" for key in ("minAvailable", "maxUnavailable")]
    return [name_of(obj), *limits, part(obj, "status").get("disruptionsAllowed", 0), since(created(obj))]


def autoscaler(obj: Object, since: Since) -> list[Any]:
    spec, status = part(obj, "spec"), part(obj, "status")
    target = part(spec, "scaleTargetRef")
    least = spec.get("minReplicas")
    return [
        name_of(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _metrics(*_metrics_of(spec, status)),
        UNSET if least is None else str(least),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        since(created(obj)),
    ]


def _metrics_of(spec: Object, status: Object) -> tuple[list[Object], list[Object]]:
    """Metrics in the form of autoscaling/v2; version 1 knows only one."""
    if "targetCPUUtilizationPercentage" not in spec:
        return spec.get("metrics") or [], status.get("currentMetrics") or []
    wanted = {"averageUtilization": spec["targetCPUUtilizationPercentage"]}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": wanted}}]
    current = status.get("currentCPUUtilizationPercentage")
    if current is None:
        return metrics, []
    return metrics, [{"resource": {"name": "cpu", "current": {"averageUtilization": current}}}]


def _metrics(wanted: list[Object], found: list[Object]) -> str:
    if not wanted:
        return NONE
    texts = [_metric(metric, found[at] if at < len(found) else {}) for at, metric in enumerate(wanted)]
    text = ", ".join(texts[:2])
    return f"{text} + {len(texts) - 2} more..." if len(texts) > 2 else text


def _metric(wanted: Object, found: Object) -> str:
    kind = wanted.get("type", "")
    field = kind[:1].lower() + kind[1:]
    if field not in ("external", "pods", "object", "resource", "containerResource"):
        return "<unknown type>"
    target = part(wanted, field, "target")
    current = (found.get(field) or {}).get("current") or {}
    if field in ("resource", "containerResource"):
        name = part(wanted, field).get("name", "")
        if "averageValue" in target:
            return f"{name}: {current.get('averageValue', '<unknown>')}/{target['averageValue']}"
        return f"{name}: {_percent(current, '<unknown>')}/{_percent(target, '<auto>')}"
    if field == "pods" or "averageValue" not in target:
        key = "averageValue" if field == "pods" else "value"
        return f"{current.get(key, '<unknown>')}/{target.get(key, '0')}"
    return f"{current.get('averageValue', '<unknown>')}/{target['averageValue']} (avg)"


def _percent(values: Object, otherwise: str) -> str:
    value = values.get("averageUtilization")
    return otherwise if value is None else f"{value}%"
