"""What may be written to the status of a Job: it must add up, and what has ended stays ended."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, required
from tidegate.local.kinds.batch.job_spec import count_indexes, index_intervals, is_indexed
from tidegate.local.kinds.rules import Errors, child, not_negative, same, unfit

_TERMINAL = ("Failed", "Complete", "FailureTarget")


def _true(job: Object) -> set[str]:
    """The types of the conditions that hold."""
    return {c.get("type") for c in child(job, "status").get("conditions") or () if c.get("status") == "True"}


def check(job: Object, old: Object) -> Errors:
    status, was = child(job, "status"), child(old, "status")
    yield from not_negative("status", status, "active", "succeeded", "failed", "ready", "terminating")
    yield from _uncounted(child(status, "uncountedTerminatedPods"))
    yield from _conditions(job, old)
    yield from _times(job, old)
    yield from _finished(job, old)
    yield from _indexes(job, old)
    ready, active = status.get("ready"), status.get("active") or 0
    changed = ready != was.get("ready") or active != (was.get("active") or 0)
    if ready is not None and ready > active and changed:
        yield invalid("status.ready", ready, "cannot set more ready pods than active")
    yield from _counters(job, old)


def _uncounted(pods: Object) -> Errors:
    seen: set[str] = set()
    for sort in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(sort) or ()):
            path = f"status.uncountedTerminatedPods.{sort}[{index}]"
            if not uid:
                yield invalid(path, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(path, uid)
            seen.add(uid)


# (the conditions that must have changed, the one that holds, the one that must or must not hold with it, must, words)
_TOGETHER = (
    ({"Complete", "Failed"}, "Complete", "Failed", False, "cannot set Complete=True and Failed=true conditions"),
    (
        {"Complete", "FailureTarget"},
        "Complete",
        "FailureTarget",
        False,
        "cannot set Complete=True and FailureTarget=true conditions",
    ),
    (
        {"Failed"},
        "Failed",
        "FailureTarget",
        True,
        "cannot set Failed=True condition without the FailureTarget=true condition",
    ),
    (
        {"Complete", "SuccessCriteriaMet"},
        "Complete",
        "SuccessCriteriaMet",
        True,
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    ),
)


def _conditions(job: Object, old: Object) -> Errors:
    path, now, before = "status.conditions", _true(job), _true(old)
    changed = now ^ before
    for among, one, other, must, says in _TOGETHER:
        if among & changed and one in now and (other in now) != must:
            yield unfit(path, says)
    met = "SuccessCriteriaMet" in now
    for other in ("Failed", "FailureTarget"):
        if met and other in now:
            yield unfit(path, f"cannot set SuccessCriteriaMet=True and {other}=true conditions")
    if child(job, "spec").get("successPolicy") is not None and not met and "Complete" in now:
        says = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        yield unfit(path, says)
    for terminal in _TERMINAL:
        if terminal in before - now:
            yield unfit(path, f"cannot disable the terminal {terminal}=True condition")
    if "SuccessCriteriaMet" in before and not met:
        yield unfit(path, "cannot disable the SuccessCriteriaMet=True condition")
    if "Complete" in before and "SuccessCriteriaMet" not in before and met:
        says = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield unfit(path, says)


def _times(job: Object, old: Object) -> Errors:
    status, was = child(job, "status"), child(old, "status")
    start, end = status.get("startTime"), status.get("completionTime")
    complete = "Complete" in _true(job)
    started, ended = start != was.get("startTime"), end != was.get("completionTime")
    if ended or complete != ("Complete" in _true(old)):
        if end is not None and not complete:
            says = "cannot set completionTime when there is no Complete=True condition"
            yield invalid("status.completionTime", end, says)
        if end is None and complete:
            yield required("status.completionTime", "completionTime is required for Complete jobs")
    if (started or ended) and start and end and end < start:
        yield invalid("status.completionTime", end, "must be equal to or after `startTime`")
    if end is not None and was.get("completionTime") is not None and ended:
        yield invalid("status.completionTime", end, "field is immutable")
    resuming = "Suspended" in _true(old) and "Suspended" not in _true(job)
    if started and was.get("startTime") is not None and not resuming and not child(job, "spec").get("suspend"):
        yield invalid("status.startTime", start, "field is immutable for unsuspended job once set")


def _finished(job: Object, old: Object) -> Errors:
    """Nothing may be left of a finished job: asked when it finishes, and when one of these changes."""
    ends = {"Complete", "Failed"}
    if not ends & _true(job):
        return
    status, was, spec = child(job, "status"), child(old, "status"), child(job, "spec")
    just_now = not ends & _true(old)
    if (status.get("active") or 0) > 0 and (just_now or status["active"] != was.get("active")):
        yield invalid("status.active", status["active"], "active>0 is invalid for finished job")
    never_ran = spec.get("suspend") and spec.get("completions") == 0
    if status.get("startTime") is None and not never_ran and (just_now or was.get("startTime") is not None):
        yield required("status.startTime", "startTime is required for finished job")
    left = child(status, "uncountedTerminatedPods")
    if (left.get("failed") or left.get("succeeded")) and (
        just_now or not same(left, child(was, "uncountedTerminatedPods"))
    ):
        yield invalid("status.uncountedTerminatedPods", left, "must be empty for finished job")
    if (status.get("terminating") or 0) > 0 and (just_now or status["terminating"] != was.get("terminating")):
        yield invalid("status.terminating", status["terminating"], "terminating>0 is invalid for finished job")


def _indexes(job: Object, old: Object) -> Errors:
    status, was, spec = child(job, "status"), child(old, "status"), child(job, "spec")
    done, failed = status.get("completedIndexes") or "", status.get("failedIndexes")
    completions, per_index = spec.get("completions"), spec.get("backoffLimitPerIndex") is not None
    done_changed, failed_changed = done != (was.get("completedIndexes") or ""), failed != was.get("failedIndexes")
    if done_changed and completions is not None:
        yield from _list_of_indexes("completedIndexes", done, completions)
    if failed_changed and completions is not None and per_index and failed is not None:
        yield from _list_of_indexes("failedIndexes", failed, completions)
    if done_changed and done and not is_indexed(spec):
        says = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", done, says)
    if failed_changed and failed is not None and not per_index:
        says = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid("status.failedIndexes", failed, says)
    if (done_changed or failed_changed) and completions is not None and failed is not None:
        yield from _overlap(done, failed, completions)
    if failed_changed and "Failed" in _true(job) and "FailureTarget" not in _true(job):
        says = "cannot set Failed=True condition without the FailureTarget=true condition"
        yield unfit("status.conditions", says)


def _list_of_indexes(field: str, text: str, completions: int) -> Errors:
    try:
        count_indexes(text, completions)
    except ValueError as error:
        yield invalid(f"status.{field}", text, f"error parsing {field}: {error}")


def _overlap(done: str, failed: str, completions: int) -> Errors:
    try:
        pairs = [(a, b) for a in index_intervals(done, completions) for b in index_intervals(failed, completions)]
    except ValueError:
        return
    for a, b in pairs:
        if a[0] <= b[1] and b[0] <= a[1]:
            says = f"failedIndexes and completedIndexes overlap at index: {max(a[0], b[0])}"
            yield invalid("status.failedIndexes", failed, says)
            return


def _counters(job: Object, old: Object) -> Errors:
    status, was, spec = child(job, "status"), child(old, "status"), child(job, "spec")
    # An indexed job may be made smaller, and with it the number of indexes that count as done.
    elastic = is_indexed(spec) and spec.get("completions") == spec.get("parallelism")
    for key in ("failed", "succeeded"):
        if (status.get(key) or 0) < (was.get(key) or 0) and not (key == "succeeded" and elastic):
            yield invalid(f"status.{key}", status.get(key) or 0, f"cannot decrease the {key} counter")
