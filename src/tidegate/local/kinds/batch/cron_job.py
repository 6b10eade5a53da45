"""The kind CronJob."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidegate.kube.wire import Object
from tidegate.local.errors import invalid, not_supported, required
from tidegate.local.kinds.batch.job_spec import check_job_spec, default_failure_policy
from tidegate.local.kinds.batch.schedule import problem
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import pod_spec
from tidegate.local.kinds.rules import Errors, child, default, not_negative, one_of

_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")
_EXPLICIT = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"


class CronJob(BuiltIn):
    has_status = True
    generates_generation = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        default(spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
        job = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
        pod_spec.default_template(job)
        default_failure_policy(job)

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}
        pod_spec.drop_disabled(obj["spec"]["jobTemplate"]["spec"]["template"]["spec"])

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from not_negative("spec", spec, "startingDeadlineSeconds")
        yield from one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace"))
        path, job = "spec.jobTemplate.spec", child(spec, "jobTemplate", "spec")
        yield from check_job_spec(path, job)
        if job.get("selector") is not None:
            yield invalid(f"{path}.selector", job["selector"], "`selector` will be auto-generated")
        if job.get("manualSelector"):
            yield not_supported(f"{path}.manualSelector", True, ("nil", "false"))
        yield from not_negative("spec", spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")

    def check_create(self, obj: Object) -> Errors:
        spec, name = child(obj, "spec"), child(obj, "metadata").get("name") or ""
        yield from _schedule(spec, had_zone=False)
        yield from _time_zone(spec.get("timeZone"))
        if len(name) > 52:
            yield invalid("metadata.name", name, "must be no more than 52 characters")

    def check_update(self, obj: Object, old: Object) -> Errors:
        spec, before = child(obj, "spec"), child(old, "spec")
        yield from _schedule(spec, had_zone="TZ" in (before.get("schedule") or ""))
        if spec.get("timeZone") != before.get("timeZone"):
            yield from _time_zone(spec.get("timeZone"))


def _schedule(spec: Object, *, had_zone: bool) -> Errors:
    schedule = spec.get("schedule") or ""
    if not schedule:
        yield required("spec.schedule")
        return
    if says := problem(schedule):
        yield invalid("spec.schedule", schedule, says)
    if "TZ" in schedule and not had_zone:
        yield invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    elif "TZ" in schedule and spec.get("timeZone") is not None:
        yield invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")


def _time_zone(zone: str | None) -> Errors:
    if zone is None:
        return
    if not zone:
        yield invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            yield invalid("spec.timeZone", zone, f"unknown time zone {zone}")
            return
    for says in _unknown_zone(zone):
        yield invalid("spec.timeZone", zone, says)


def _unknown_zone(zone: str) -> Iterator[str]:
    from zoneinfo import ZoneInfo

    if zone.lower() == "local":
        yield _EXPLICIT
        if zone == "Local":
            return
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, LookupError):
        yield f"unknown time zone {zone}"
