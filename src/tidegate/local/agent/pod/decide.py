"""The pod's life: which containers to start, which to stop, and when to look again.

Init containers run one after the other; those with `restartPolicy: Always` are sidecars, which stay while the next
ones start. Then all others run side by side. A pod ends by itself when each of them has ended for good, or from outside
(deletion, its deadline): then the containers are stopped first and the sidecars after them, last one first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.local.agent.pod.facts import Attempt, BackOff, Decision, Facts, Spec, Start, Stop
from tidegate.local.agent.pod.status import Outcome, seconds_of, status_of

DEADLINE = Outcome("Failed", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
_GRACE_S = 30


def decide(pod: Spec, facts: Facts, *, now: float, back_off: BackOff | None = None) -> Decision:
    """What to do now, and the status that says so. Deciding again with nothing changed gives the same."""
    back_off = back_off or BackOff()
    draft = _Draft(pod, facts, now, back_off)
    outcome = _imposed_end(pod, now)
    if outcome is None and not _deleted(pod):
        _proceed(draft)
        outcome = draft.outcome
    stops = _stops(pod, facts, now, ending=outcome is not None or _deleted(pod))
    over = (outcome is not None or _deleted(pod)) and not facts.any_alive()
    if over and outcome is None:
        outcome = _outcome_of_deleted(pod, facts)
    status = status_of(pod, facts, outcome=outcome if over else None, now=now, waits=draft.waits)
    wake = min([each for each in (draft.wake_at, _deadline(pod)) if each is not None and each > now], default=None)
    return Decision(status, tuple(draft.starts), stops, wake, over)


@dataclass(slots=True)
class _Draft:
    """What is found on the way through a pod's containers; `waits` says for how long each one is backing off."""

    pod: Spec
    facts: Facts
    now: float
    back_off: BackOff

    starts: list[Start] = field(default_factory=list)
    waits: dict[str, float] = field(default_factory=dict)
    wake_at: float | None = None
    outcome: Outcome | None = None


def is_sidecar(container: Spec) -> bool:
    return container.get("restartPolicy") == "Always"


def restarts(pod: Spec, container: Spec, attempt: Attempt, *, init: bool) -> bool:
    """Whether this container, having ended so, is started again."""
    policy = container.get("restartPolicy") or pod["spec"].get("restartPolicy", "Always")
    if init and not is_sidecar(container):
        return not attempt.succeeded and policy != "Never"
    return policy == "Always" or (policy == "OnFailure" and not attempt.succeeded)


def _deleted(pod: Spec) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _deadline(pod: Spec) -> float | None:
    allowed = pod["spec"].get("activeDeadlineSeconds")
    began = pod.get("status", {}).get("startTime")
    return seconds_of(began) + allowed if allowed is not None and began else None


def _imposed_end(pod: Spec, now: float) -> Outcome | None:
    """An end that was decided elsewhere or before: it stands, whatever the processes do."""
    status = pod.get("status", {})
    if status.get("phase") in ("Succeeded", "Failed"):
        return Outcome(status["phase"], status.get("reason", ""), status.get("message", ""))
    deadline = _deadline(pod)
    return DEADLINE if deadline is not None and now >= deadline else None


def _outcome_of_deleted(pod: Spec, facts: Facts) -> Outcome:
    """A deleted pod has succeeded only if all its containers had."""
    lasts = [facts.last(each["name"]) for each in pod["spec"]["containers"]]
    well = all(last is not None and last.succeeded for last in lasts)
    return Outcome("Succeeded" if well else "Failed")


def _proceed(draft: _Draft) -> None:
    """One step of a pod that is to live: through its init containers, then all others at once."""
    spec = draft.pod["spec"]
    for container in spec.get("initContainers") or []:
        if not _initialised(draft, container):
            return
    for container in spec["containers"]:
        _advance(draft, container, init=False)
    draft.outcome = _natural_end(draft.pod, draft.facts)
    if draft.outcome is not None:
        draft.starts = []  # A sidecar that ended together with the pod is not started again.


def _initialised(draft: _Draft, container: Spec) -> bool:
    """Whether the next container may start; moves this one along if not (and keeps a sidecar running if so)."""
    last = draft.facts.last(container["name"])
    if is_sidecar(container):
        _advance(draft, container, init=True)
        health = draft.facts.health.get(container["name"])
        running = last is not None and last.state == "running" and (health is None or health.started)
        return running or _mains_began(draft.pod, draft.facts)
    if last is not None and last.succeeded:
        return True
    if last is not None and not last.alive and not restarts(draft.pod, container, last, init=True):
        draft.outcome = Outcome("Failed")
        draft.starts = []
        return False
    _advance(draft, container, init=True)
    return False


def _mains_began(pod: Spec, facts: Facts) -> bool:
    return any(facts.last(each["name"]) is not None for each in pod["spec"]["containers"])


def _advance(draft: _Draft, container: Spec, *, init: bool) -> None:
    """Starts a container that is due, or notes when it will be."""
    name = container["name"]
    last = draft.facts.last(name)
    if draft.facts.obstacle is not None or name in draft.facts.obstacles:
        return
    if last is None:
        draft.starts.append(Start(name, 0, 0))
        return
    if last.alive or not restarts(draft.pod, container, last, init=init):
        return
    delay_s = draft.back_off.delay_s(last)
    due = (last.finished or last.begun) + delay_s
    if due <= draft.now:
        draft.starts.append(Start(name, last.number + 1, draft.back_off.step_after(last)))
        return
    draft.waits[name] = delay_s
    draft.wake_at = due if draft.wake_at is None else min(draft.wake_at, due)


def _natural_end(pod: Spec, facts: Facts) -> Outcome | None:
    """The end of a pod whose containers have all ended for good."""
    ends: list[Attempt] = []
    for container in pod["spec"]["containers"]:
        last = facts.last(container["name"])
        if last is None or last.alive or restarts(pod, container, last, init=False):
            return None
        ends.append(last)
    return Outcome("Succeeded" if all(end.succeeded for end in ends) else "Failed")


def _stops(pod: Spec, facts: Facts, now: float, *, ending: bool) -> tuple[Stop, ...]:
    if not ending:
        return tuple(_unhealthy(pod, facts))
    grace_s = _grace_left(pod, now)
    mains = _running(pod["spec"]["containers"], facts)
    inits = pod["spec"].get("initContainers") or []
    first = mains + _running([each for each in inits if not is_sidecar(each)], facts)
    sidecars = _running([each for each in inits if is_sidecar(each)], facts)
    chosen = first or sidecars[-1:]
    return tuple(Stop(name, attempt.number, grace_s, "Killing") for name, attempt in chosen)


def _running(containers: list[Spec], facts: Facts) -> list[tuple[str, Attempt]]:
    lasts = [(each["name"], facts.last(each["name"])) for each in containers]
    return [(name, last) for name, last in lasts if last is not None and last.alive]


def _grace_left(pod: Spec, now: float) -> float:
    """Seconds until the kill. A deleted pod's `deletionTimestamp` is that moment already."""
    if _deleted(pod):
        granted = pod["metadata"].get("deletionGracePeriodSeconds")
        granted = _grace_s(pod) if granted is None else granted
        return float(max(0, min(granted, seconds_of(pod["metadata"]["deletionTimestamp"]) - now + 1)))
    return float(_grace_s(pod))


def _grace_s(pod: Spec) -> int:
    grace = pod["spec"].get("terminationGracePeriodSeconds")
    return _GRACE_S if grace is None else int(grace)


def _unhealthy(pod: Spec, facts: Facts) -> list[Stop]:
    """Containers whose liveness or startup probe has failed too often."""
    found: list[Stop] = []
    for name, health in facts.health.items():
        last = facts.last(name)
        if health.failure and last is not None and last.state == "running":
            grace_s = _grace_s(pod) if health.grace_s is None else health.grace_s
            found.append(Stop(name, last.number, float(grace_s), health.failure))
    return found
