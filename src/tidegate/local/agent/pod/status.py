"""The status of a pod as Kubernetes writes it: phase, conditions and what each container is doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tidegate.local.agent.pod.facts import Attempt, Facts, Spec

_LOST = "The container's runner ended without a record, for example in a restart of the machine"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pod ended for good."""

    phase: str
    reason: str = ""
    message: str = ""


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float:
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC).timestamp()


def status_of(
    pod: Spec, facts: Facts, *, outcome: Outcome | None, now: float, waits: Mapping[str, float]
) -> dict[str, Any]:
    """The whole status; what did not change keeps its times."""
    old = pod.get("status", {})
    inits = pod["spec"].get("initContainers") or []
    mains = pod["spec"]["containers"]
    waiting = "PodInitializing" if inits else "ContainerCreating"
    status: dict[str, Any] = {"startTime": old.get("startTime") or stamp(now)}
    status["phase"] = outcome.phase if outcome else _phase(pod, facts)
    if outcome and outcome.reason:
        status |= {"reason": outcome.reason, "message": outcome.message}
    if facts.host_ip:
        status |= {"hostIP": facts.host_ip, "hostIPs": [{"ip": facts.host_ip}]}
    if facts.pod_ip:
        status |= {"podIP": facts.pod_ip, "podIPs": [{"ip": facts.pod_ip}]}
    view = _View(pod, facts, waits, ended=outcome is not None)
    if inits:
        status["initContainerStatuses"] = [view.container(each, waiting, init=True) for each in inits]
    status["containerStatuses"] = [view.container(each, waiting, init=False) for each in mains]
    if generation := pod["metadata"].get("generation"):
        status["observedGeneration"] = generation
    status["conditions"] = _conditions(pod, facts, status, now)
    return status


def _phase(pod: Spec, facts: Facts) -> str:
    """Pending until every container has been started once, Running from then on."""
    began = all(facts.last(each["name"]) is not None for each in pod["spec"]["containers"])
    return "Running" if began else "Pending"


@dataclass(frozen=True, slots=True)
class _View:
    pod: Spec
    facts: Facts
    waits: Mapping[str, float]
    ended: bool

    def container(self, container: Spec, waiting: str, *, init: bool) -> dict[str, Any]:
        name = container["name"]
        attempts = self.facts.attempts.get(name, ())
        last = attempts[-1] if attempts else None
        status: dict[str, Any] = {"name": name, "image": container.get("image", "")}
        status |= {"imageID": self.facts.image_ids.get(name, ""), "restartCount": last.number if last else 0}
        status["state"], past = self._state(name, attempts, waiting)
        status["lastState"] = {"terminated": self._terminated(name, past)} if past else {}
        if last is not None and not self._held_up(name):
            status["containerID"] = self._identity(name, last)
        health = self.facts.health.get(name)
        running = last is not None and last.state == "running"
        status["started"] = running and (health is None or health.started)
        status["ready"] = running and (health is None or (health.started and health.ready))
        if init and container.get("restartPolicy") != "Always":
            status["started"] = running
            status["ready"] = last is not None and last.succeeded
        return status

    def _held_up(self, name: str) -> bool:
        return name in self.waits or name in self.facts.obstacles

    def _state(self, name: str, attempts: tuple[Attempt, ...], waiting: str) -> tuple[dict[str, Any], Attempt | None]:
        """The present state, and the attempt that `lastState` tells of."""
        if not attempts:
            return {"waiting": self._waiting(name, waiting)}, None
        last = attempts[-1]
        before = attempts[-2] if len(attempts) > 1 else None
        if last.state == "running":
            return {"running": {"startedAt": stamp(last.started or last.begun)}}, before
        if last.state == "starting":
            return {"waiting": {"reason": "ContainerCreating"}}, before
        if self.ended or not self._held_up(name):
            return {"terminated": self._terminated(name, last)}, before
        return {"waiting": self._waiting(name, waiting)}, last

    def _waiting(self, name: str, waiting: str) -> dict[str, str]:
        if name in self.waits:
            meta = self.pod["metadata"]
            whose = f"{meta['name']}_{meta['namespace']}({meta['uid']})"
            text = f"back-off {_duration(self.waits[name])} restarting failed container={name} pod={whose}"
            return {"reason": "CrashLoopBackOff", "message": text}
        obstacle = self.facts.obstacles.get(name) or self.facts.obstacle
        if obstacle is not None:
            return {"reason": obstacle.reason, "message": obstacle.message}
        return {"reason": waiting}

    def _identity(self, name: str, attempt: Attempt) -> str:
        return f"tidegate://{self.pod['metadata']['uid']}-{name}-{attempt.number}"

    def _terminated(self, name: str, attempt: Attempt) -> dict[str, Any]:
        lost = attempt.state == "lost"
        reason = attempt.reason or ("Completed" if attempt.code == 0 else "Error")
        told: dict[str, Any] = {"exitCode": 137 if lost else attempt.code}
        told["reason"] = "ContainerStatusUnknown" if lost else reason
        if message := (_LOST if lost else attempt.message):
            told["message"] = message
        told["startedAt"] = stamp(attempt.started or attempt.begun)
        told["finishedAt"] = stamp(attempt.finished or attempt.started or attempt.begun)
        return told | {"containerID": self._identity(name, attempt)}


def _duration(seconds: float) -> str:
    """As Go prints it: 10s, 1m20s, 5m0s."""
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:g}s"
    return f"{whole // 60}m{whole % 60}s"


def _conditions(pod: Spec, facts: Facts, status: dict[str, Any], now: float) -> list[dict[str, Any]]:
    ended = status["phase"] if status["phase"] in ("Succeeded", "Failed") else ""
    uninitialised = [each["name"] for each in status.get("initContainerStatuses", []) if not _passed(pod, each)]
    unready = [each["name"] for each in status["containerStatuses"] if not each["ready"]]
    containers = _verdict(unready, ended, "ContainersNotReady", "containers with unready status")
    ready = containers
    if containers[0]:
        met = {each["type"] for each in pod.get("status", {}).get("conditions", []) if each["status"] == "True"}
        gates = [each["conditionType"] for each in pod["spec"].get("readinessGates") or []]
        if missing := [gate for gate in gates if gate not in met]:
            text = f'the status of pod readiness gate {missing[0]!r} is not "True", but False'
            ready = (False, "ReadinessGatesNotReady", text)
    if ended == "Succeeded":
        initialised = (True, "PodCompleted", "")
    else:
        initialised = _verdict(uninitialised, "", "ContainersNotInitialized", "containers with incomplete status")
    made = bool(facts.attempts) and not ended
    wanted = {
        "PodReadyToStartContainers": (made, "", ""),
        "Initialized": initialised,
        "Ready": ready,
        "ContainersReady": containers,
        "PodScheduled": (True, "", ""),
    }
    old = {each["type"]: each for each in pod.get("status", {}).get("conditions", [])}
    return [_condition(kind, told, old.get(kind), now) for kind, told in wanted.items()]


def _passed(pod: Spec, status: dict[str, Any]) -> bool:
    container = next(each for each in pod["spec"]["initContainers"] if each["name"] == status["name"])
    return bool(status["started"] if container.get("restartPolicy") == "Always" else status["ready"])


def _verdict(wrong: list[str], ended: str, reason: str, text: str) -> tuple[bool, str, str]:
    if ended:
        return False, "PodCompleted" if ended == "Succeeded" else "PodFailed", ""
    if wrong:
        return False, reason, f"{text}: [{' '.join(wrong)}]"
    return True, "", ""


def _condition(kind: str, told: tuple[bool, str, str], old: dict[str, Any] | None, now: float) -> dict[str, Any]:
    true, reason, message = told
    status = "True" if true else "False"
    since = (
        old["lastTransitionTime"] if old and old["status"] == status and old.get("lastTransitionTime") else stamp(now)
    )
    condition: dict[str, Any] = {"type": kind, "status": status, "lastTransitionTime": since, "lastProbeTime": None}
    # An empty text overwrites: a patch merges conditions by type, and a reason that no longer holds must go.
    return condition | {"reason": reason or None, "message": message or None}
