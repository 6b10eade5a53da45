"""A result for programs: plain values for JSON and YAML. Amounts are Kubernetes quantities, times seconds."""

from __future__ import annotations

from typing import Any

from tidegate.model.ratio import Ratio
from tidegate.model.resources import Resources
from tidegate.scheduler import Standing, message
from tidegate.sim.results.measures import Measures, Summary, summary
from tidegate.sim.scenario.playing import Result
from tidegate.sim.world import Application


def as_document(result: Result, namespace: str | None = None) -> dict[str, Any]:
    """Everything that came of a scenario; who starts when in one namespace or in all."""
    plan = result.plan
    standings = plan.standings if plan is not None else {}
    return _of_live(result, namespace) | {
        "scenario": result.script.name,
        "file": result.script.document.file,
        "seed": result.seed,
        "policy": result.policy,
        "passed": result.passed,
        "failures": [
            {"line": one.line, "field": one.problem.field, "message": one.problem.message} for one in result.failures
        ],
        "timeline": [
            {"at": one.at, "what": one.what, "who": one.who, "detail": one.detail} for one in result.world.timeline
        ],
        "queues": {name: _standing(standing) for name, standing in standings.items()},
        "measures": _summary(summary(result.world, result.history)),
        "workloads": {name: _workload(one, result) for name, one in result.world.applications.items()},
    }


def _of_live(result: Result, namespace: str | None) -> dict[str, Any]:
    if result.script.live is None:
        return {}
    from tidegate.cli.simulate.live import as_starts

    return {"starts": as_starts(result, namespace)}


def _summary(numbers: Summary) -> dict[str, Any]:
    return {
        "seconds": numbers.seconds,
        "fairness": None if numbers.fairness is None else str(Ratio(numbers.fairness)),
        "overall": _measures(numbers.overall),
        "queues": {name: _measures(one) for name, one in numbers.by_queue.items()},
    }


def _measures(one: Measures) -> dict[str, Any]:
    waits = one.waits
    seconds = waits and {
        "mean": str(Ratio(waits.mean)),
        "p50": waits.p50,
        "p90": waits.p90,
        "p99": waits.p99,
        "max": waits.most,
    }
    return {
        "submitted": one.submitted,
        "finished": one.finished,
        "neverAdmitted": one.never_admitted,
        "waitSeconds": seconds,
        "evictions": one.evictions,
        "shrinks": one.shrinks,
        "lostResourceSeconds": Resources(one.work_lost).quantities(),
        "belowDeserved": str(Ratio(one.below_deserved)),
        "belowDeservedSeconds": one.below_deserved_seconds,
        "utilisation": {name: str(Ratio(part)) for name, part in one.used.items()},
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "deserved": standing.deserved.wire(),
        "allocated": standing.allocated.wire(),
        "used": standing.used.wire(),
        "share": str(Ratio(standing.share)),
        "pending": standing.pending,
        "admitted": standing.admitted,
    }


def _workload(application: Application, result: Result) -> dict[str, Any]:
    waiting = [one for one in (result.plan.waiting if result.plan else ()) if one.workload == application.name]
    return {
        "queue": application.queue,
        "state": str(application.state),
        "granted": {group.name: group.granted for group in application.pod_groups},
        "submittedAt": application.created,
        "admittedAt": application.last_admitted_at,
        "finishedAt": application.finished_at,
        "evictions": application.evictions,
        "shrinks": application.shrinks,
        "waiting": [{"podSet": one.pod_set, "reason": str(one.reason), "message": message(one)} for one in waiting],
    }
