"""The spec of a Job, in a Job and in a CronJob's template."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, not_supported, required, too_long, too_many
from tidegate.local.kinds import names
from tidegate.local.kinds.core.pod_spec import check_template
from tidegate.local.kinds.rules import (
    MOST_INT32,
    NOT_NEGATIVE,
    Errors,
    child,
    items,
    maybe_one_of,
    not_negative,
    unfit,
    wrong,
)

MOST_PARALLEL_INDEXES = 100_000
MANY_COMPLETIONS = 100_000
MOST_OF_MANY = 10_000
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_STATUSES = ("False", "True", "Unknown")
_OPERATORS = ("In", "NotIn")
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)


def is_indexed(spec: Object) -> bool:
    return spec.get("completionMode") == "Indexed"


def default_job_spec(spec: Object) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    values = {
        "parallelism": 1,
        "backoffLimit": 6 if spec.get("backoffLimitPerIndex") is None else MOST_INT32,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed",
        "manualSelector": False,
    }
    for key, value in values.items():
        if spec.get(key) is None:
            spec[key] = value
    default_failure_policy(spec)


def default_failure_policy(spec: Object) -> None:
    for rule in child(spec, "podFailurePolicy").get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"


def check_job_spec(path: str, spec: Object) -> Errors:
    yield from not_negative(path, spec, *_COUNTS)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if (manager := spec.get("managedBy")) is not None:
        yield from _managed_by(f"{path}.managedBy", manager)
    yield from maybe_one_of(f"{path}.completionMode", spec.get("completionMode"), ("NonIndexed", "Indexed"))
    if is_indexed(spec):
        yield from _indexed(path, spec)
    elif spec.get("completionMode") in (None, "NonIndexed"):
        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(key) is not None:
                yield invalid(f"{path}.{key}", spec[key], "requires indexed completion mode")
    if spec.get("podFailurePolicy") is not None:
        yield from _failure_policy(f"{path}.podFailurePolicy", spec)
    if (policy := spec.get("successPolicy")) is not None:
        if is_indexed(spec):
            yield from _success_policy(f"{path}.successPolicy", spec)
        else:
            yield invalid(f"{path}.successPolicy", policy, "requires indexed completion mode")
    only = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    yield from maybe_one_of(f"{path}.podReplacementPolicy", spec.get("podReplacementPolicy"), only)
    yield from check_template(f"{path}.template", child(spec, "template"))
    yield from _restart_policy(f"{path}.template.spec.restartPolicy", spec)


def _managed_by(path: str, manager: str) -> Errors:
    if not manager:
        yield required(path)
        return
    for part, message in names.domain_prefixed_path(manager):
        yield invalid(path, part, message)
    if len(manager.encode()) > 63:
        yield too_long(path, 63)


def _indexed(path: str, spec: Object) -> Errors:
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > MOST_PARALLEL_INDEXES:
        says = f"must be less than or equal to {MOST_PARALLEL_INDEXES} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", parallelism, says)
    if completions is not None and failed is not None and failed > completions:
        yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > MOST_PARALLEL_INDEXES:
        yield invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {MOST_PARALLEL_INDEXES}")
    if (completions or 0) <= MANY_COMPLETIONS or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        says = f"must be specified when completions is above {MANY_COMPLETIONS}"
        yield required(f"{path}.maxFailedIndexes", says)
    says = (
        f"must be less than or equal to {MOST_OF_MANY} when completions are above {MANY_COMPLETIONS} "
        "and used with backoff limit per index"
    )
    for key, value in (("parallelism", parallelism), ("maxFailedIndexes", failed or 0)):
        if value > MOST_OF_MANY:
            yield invalid(f"{path}.{key}", value, says)


def _restart_policy(path: str, spec: Object) -> Errors:
    policy = child(spec, "template", "spec").get("restartPolicy")
    if policy in ("Always", "", None):
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(path, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _listed(values: tuple[str, ...]) -> str:
    return "valid values: [" + " ".join(f'"{value}"' for value in values) + "]"


def _choice(path: str, value: str, values: tuple[str, ...]) -> Errors:
    if not value:
        yield required(path, _listed(values))
    else:
        yield from maybe_one_of(path, value, values)


def _failure_policy(path: str, spec: Object) -> Errors:
    rules = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > 20:
        yield too_many(f"{path}.rules", len(rules), 20)
    pod = child(spec, "template", "spec")
    containers = {one.get("name") for sort in ("containers", "initContainers") for one in pod.get(sort) or ()}
    for at, rule in items(spec["podFailurePolicy"], "rules", path):
        action = rule.get("action") or ""
        if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield invalid(f"{at}.action", action, "requires the backoffLimitPerIndex to be set")
        else:
            yield from _choice(f"{at}.action", action, _ACTIONS)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
        if codes is not None:
            yield from _exit_codes(f"{at}.onExitCodes", codes, containers)
        if conditions:
            yield from _pod_conditions(at, rule)
        if codes is not None and conditions:
            yield unfit(at, "specifying both OnExitCodes and OnPodConditions is not supported")
        elif codes is None and not conditions:
            yield unfit(at, "specifying one of OnExitCodes and OnPodConditions is required")


def _pod_conditions(path: str, rule: Object) -> Errors:
    if len(rule["onPodConditions"]) > 20:
        yield too_many(f"{path}.onPodConditions", len(rule["onPodConditions"]), 20)
    for at, pattern in items(rule, "onPodConditions", path):
        sort = pattern.get("type") or ""
        yield from wrong(f"{at}.type", sort, names.qualified_name(sort))
        yield from _choice(f"{at}.status", pattern.get("status") or "", _STATUSES)


def _exit_codes(path: str, codes: Object, containers: set[str | None]) -> Errors:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    yield from _choice(f"{path}.operator", operator, _OPERATORS)
    if (name := codes.get("containerName")) is not None and name not in containers:
        says = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, says)
    if not values:
        yield invalid(f"{path}.values", values, "at least one value is required")
    elif len(values) > 255:
        yield too_many(f"{path}.values", len(values), 255)
    seen: set[int] = set()
    for at, value in items(codes, "values", path):
        if operator == "In" and value == 0:
            yield invalid(at, value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(at, value)
        seen.add(value)
    if values != sorted(values):
        yield invalid(f"{path}.values", values, "must be ordered")


def _success_policy(path: str, spec: Object) -> Errors:
    rules = spec["successPolicy"].get("rules") or []
    if not rules:
        says = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{path}.rules", says)
    if len(rules) > 20:
        yield too_many(f"{path}.rules", len(rules), 20)
    for at, rule in items(spec["successPolicy"], "rules", path):
        yield from _success_rule(at, rule, spec.get("completions") or 0)


def _success_rule(path: str, rule: Object, completions: int) -> Errors:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified")
    total = 0
    if indexes is not None:
        if len(indexes) > 64 * 1024:
            yield too_long(f"{path}.succeededIndexes", 64 * 1024)
        try:
            total = count_indexes(indexes, completions)
        except ValueError as error:
            yield invalid(f"{path}.succeededIndexes", indexes, f"error parsing succeededIndexes: {error}")
    if count is None:
        return
    at, most = f"{path}.succeededCount", "must be less than or equal to"
    if count < 0:
        yield invalid(at, count, NOT_NEGATIVE)
    if count > completions:
        yield invalid(at, count, f"{most} {completions} (the number of specified completions)")
    if indexes is not None and count > total:
        says = f"{most} {total} (the number of indexes in the specified succeededIndexes field)"
        yield invalid(at, count, says)


def index_intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """ "1,3-5" as [(1, 1), (3, 5)]; raises ValueError, saying what is wrong."""
    return [_interval(part, completions) for part in text.split(",")] if text else []


def _interval(text: str, completions: int) -> tuple[int, int]:
    parts = text.split("-")
    if len(parts) > 2:
        says = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise ValueError(f'the fragment "{text}" {says}')
    ends = []
    for part in parts:
        if not (part.removeprefix("+").isascii() and part.removeprefix("+").isdecimal()):
            raise ValueError(f'cannot convert string to integer for index: "{part}"')
        if int(part) >= completions:
            raise ValueError(f'too large index: "{part}"')
        ends.append(int(part))
    if len(ends) == 2 and ends[0] >= ends[1]:
        raise ValueError(f"non-increasing order, previous: {ends[0]}, current: {ends[1]}")
    return ends[0], ends[-1]


def count_indexes(text: str, completions: int) -> int:
    """How many indexes `text` lists; raises ValueError if it is no ascending list of indexes below `completions`."""
    total, last = 0, -1
    for first, end in index_intervals(text, completions):
        if last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total
