"""Whether what was expected is so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tidegate.model.duration import Duration
from tidegate.model.kinds.bounds import AmountBound, Bound, GrantedBound, RatioBound
from tidegate.model.kinds.scenario import Expectation
from tidegate.model.kinds.workload import State, WaitingReason
from tidegate.model.problems import Path as Field
from tidegate.model.quantity import Quantity
from tidegate.model.ratio import Ratio
from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler import Plan, Standing
from tidegate.sim.scenario.script import Expected
from tidegate.sim.world import Application, World

Failing = Iterator[tuple[Field, str]]
"""Fields whose expectation does not hold, with what was expected and what is."""


def failing(expected: Expected, world: World, plan: Plan) -> Failing:
    """What of an expectation is not so."""
    if expected.workload is not None:
        application = world.applications[expected.workload]
        yield from _workload(expected.expectation, application, plan, expected.field)
    else:
        assert expected.place is not None
        standing = plan.standings.get(expected.place)
        yield from _place(expected.expectation, standing, _pending(expected.place, standing, world), expected.field)


def _workload(wanted: Expectation, application: Application, plan: Plan, field: Field) -> Failing:
    if wanted.state is not None and application.state is not wanted.state:
        yield (*field, "state"), _differs(wanted.state, application.state)
    for pod_set, bound in wanted.granted.items():
        yield from _granted(bound, application.group(pod_set).granted, (*field, "granted", pod_set))
    if wanted.reason is not None:
        reasons = waiting_reasons(application, plan)
        if wanted.reason not in reasons:
            yield (*field, "reason"), _differs(wanted.reason, " and ".join(reasons) or "that nothing waits")
    yield from _number(wanted.evictions, application.evictions, (*field, "evictions"))
    yield from _number(wanted.shrinks, application.shrinks, (*field, "shrinks"))
    if wanted.admitted_at is not None:
        at = application.last_admitted_at
        if at is None:
            yield (*field, "admittedAt"), _differs(wanted.admitted_at.wire(), "that it was never admitted")
        else:
            yield from _number(wanted.admitted_at, Duration(at), (*field, "admittedAt"))


def waiting_reasons(application: Application, plan: Plan) -> list[WaitingReason]:
    """Why its asks wait, each reason once."""
    if application.state is State.FINISHED:
        return []
    return list(dict.fromkeys(one.reason for one in plan.waiting if one.workload == application.name))


def _granted(bound: GrantedBound, granted: Mapping[str, int], field: Field) -> Failing:
    if bound.in_all is not None:
        yield from _number(bound.in_all, sum(granted.values()), field)
    for flavor, count in bound.by_flavor.items():
        yield from _number(count, granted.get(flavor, 0), (*field, flavor))


def _place(wanted: Expectation, standing: Standing | None, pending: int, field: Field) -> Failing:
    deserved = standing.deserved.total() if standing else NOTHING
    allocated = standing.allocated.total() if standing else NOTHING
    yield from _amounts(wanted.deserved, deserved, (*field, "deserved"))
    yield from _amounts(wanted.allocated, allocated, (*field, "allocated"))
    if wanted.share is not None:
        share = standing.share if standing else Fraction(0)
        if not _is_share(wanted.share, share):
            yield (*field, "share"), _differs(wanted.share.wire(), Ratio(share))
    yield from _number(wanted.pending, pending, (*field, "pending"))


def _pending(place: str, standing: Standing | None, world: World) -> int:
    """A Queue that hangs on nothing stands nowhere, yet workloads wait at it."""
    if standing is not None:
        return standing.pending
    there = [one for one in world.waiting_or_running.values() if one.queue == place and one.active]
    return sum(one.admitted_at is None for one in there)


def _amounts(bounds: Mapping[str, AmountBound], amounts: Resources, field: Field) -> Failing:
    for resource, bound in bounds.items():
        amount = Quantity(amounts.of(resource), "binary" if "memory" in resource else "decimal")
        yield from _number(bound, amount, (*field, resource))


def _number(bound: Bound | None, value: Any, field: Field) -> Failing:
    if bound is not None and not bound.holds(value):
        yield field, _differs(_shown(bound), value)


def _is_share(bound: RatioBound, share: Fraction) -> bool:
    """A share without an exact decimal, such as a third, is compared in as many digits (two or more) as are written."""
    if bound.holds(share):
        return True
    exact = bound.between.least
    if exact is None or exact != bound.between.most or _has_decimal(share):
        return False
    digits = max(2, len(str(Ratio(exact)).partition(".")[2]))
    return bool(abs(share - exact) * 10**digits <= Fraction(1, 2))


def _has_decimal(share: Fraction) -> bool:
    rest = share.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _shown(bound: Bound) -> str:
    wire = bound.wire()
    if not isinstance(wire, dict):
        return str(wire)
    words = {"min": "at least", "max": "at most"}
    return " and ".join(f"{words[end]} {value}" for end, value in wire.items())


def _differs(wanted: object, found: object) -> str:
    return f"expected {wanted}, found {found}"
