"""podFailurePolicy and successPolicy: what a failed pod means, and when enough has succeeded."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.local.controllers.job.objects import FailurePolicy, FailureRule, Job, OnExitCodes
from tidegate.local.controllers.pods import Pod
from tidegate.model.indexes import parse_indexes


class Failure(NamedTuple):
    """What a failed pod means for its Job. `fails_job` is the message if the whole Job fails by it."""

    counts: bool = True
    fails_index: bool = False
    fails_job: str = ""


def meaning(policy: FailurePolicy | None, pod: Pod) -> Failure:
    """By the first rule that matches; without one a failure counts."""
    for position, rule in enumerate(policy.rules if policy else ()):
        what = _matched(rule, pod)
        if what is None:
            continue
        match rule.action:
            case "Ignore":
                return Failure(counts=False)
            case "FailIndex":
                return Failure(fails_index=True)
            case "FailJob":
                return Failure(fails_job=f"{what} matching FailJob rule at index {position}")
            case "Count":
                return Failure()
    return Failure()


def _matched(rule: FailureRule, pod: Pod) -> str | None:
    """What in the pod meets the rule, in words."""
    named = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.on_exit_codes is not None:
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
            ended = status.state.terminated
            if ended and ended.exit_code and _meets(status.name, ended.exit_code, rule.on_exit_codes):
                return f"Container {status.name} for pod {named} failed with exit code {ended.exit_code}"
        return None
    wanted = {(each.type, each.status) for each in rule.on_pod_conditions}
    for condition in pod.status.conditions:
        if (condition.type, condition.status) in wanted:
            return f"Pod {named} has condition {condition.type}"
    return None


def _meets(container: str, exit_code: int, rule: OnExitCodes) -> bool:
    if rule.container_name is not None and rule.container_name != container:
        return False
    return (exit_code in rule.values) == (rule.operator == "In")


def success_rule_met(job: Job, succeeded: set[int]) -> str:
    """The message of the first rule of the success policy that is met; empty if none is."""
    if job.spec.success_policy is None or not succeeded:
        return ""
    for position, rule in enumerate(job.spec.success_policy.rules):
        enough = len(succeeded)
        needed = rule.succeeded_count
        if rule.succeeded_indexes is not None:
            wanted = parse_indexes(rule.succeeded_indexes, job.spec.completions or 0)
            if not wanted:
                continue
            enough = len(wanted & succeeded)
            needed = min(len(wanted), needed) if needed is not None else len(wanted)
        if needed is not None and enough >= needed:
            return f"Matched rules at index {position}"
    return ""
