"""The row of a pod: the one word that says how it is."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.tables.times import Since
from tidegate.local.tables.words import NONE

_SUCCEEDED = [
    {"type": "Completed", "status": "True", "reason": "Succeeded", "message": "The pod has completed successfully."}
]
_FAILED = [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}]


def row_conditions(pod: Object) -> list[Object] | None:
    """Tells clients that wait for it that a pod is over."""
    return {"Succeeded": _SUCCEEDED, "Failed": _FAILED}.get((pod.get("status") or {}).get("phase", ""))


def pod_cells(pod: Object, since: Since) -> list[Any]:
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    tally = _Tally(spec, status)
    reason = tally.reason
    if "deletionTimestamp" in metadata:
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in ("Succeeded", "Failed"):
            reason = "Terminating"
    restarts = str(tally.restarts)
    if tally.restarts and tally.last_restart:
        restarts = f"{tally.restarts} ({since(tally.last_restart)} ago)"
    addresses = status.get("podIPs")
    return [
        metadata.get("name", ""),
        f"{tally.ready}/{tally.total}",
        reason,
        restarts,
        since(metadata.get("creationTimestamp")),
        addresses[0].get("ip") or NONE if addresses else NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def _gates(spec: Object, status: Object) -> str:
    gates = spec.get("readinessGates")
    if not gates:
        return NONE
    conditions = {item["type"]: item.get("status") for item in reversed(status.get("conditions") or [])}
    passed = sum(conditions.get(gate["conditionType"]) == "True" for gate in gates)
    return f"{passed}/{len(gates)}"


class _Tally:
    """What the statuses of a pod's containers come to."""

    __slots__ = ("last_restart", "ready", "reason", "restarts", "total")

    def __init__(self, spec: Object, status: Object) -> None:
        conditions = status.get("conditions") or ()
        self.total = len(spec.get("containers") or ())
        self.ready = self.restarts = 0
        self.last_restart = ""
        self.reason: str = status.get("reason") or status.get("phase", "")
        for condition in conditions:
            if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
                self.reason = "SchedulingGated"
        initializing = False
        if spec.get("initContainers"):
            initializing = self._count_init_containers(spec, status)
        if not initializing or _first_is_true(conditions, "Initialized"):
            self._count_containers(status)

    def _count_init_containers(self, spec: Object, status: Object) -> bool:
        """Goes through the init containers up to the one that holds the pod up; whether there is one."""
        planned = spec["initContainers"]
        sidecars = {item["name"] for item in planned if item.get("restartPolicy") == "Always"}
        self.total += len(sidecars)
        sidecar_restarts, sidecar_restart = 0, ""
        held_up = False
        for at, found in enumerate(status.get("initContainerStatuses") or ()):
            self._count_restarts(found)
            is_sidecar = found.get("name") in sidecars
            if is_sidecar:
                sidecar_restarts += found.get("restartCount", 0)
                sidecar_restart = max(sidecar_restart, _ended(found))
            terminated = (found.get("state") or {}).get("terminated")
            if terminated and not terminated.get("exitCode"):
                continue
            if is_sidecar and found.get("started"):
                self.ready += bool(found.get("ready"))
                continue
            self.reason = _init_reason(found, f"Init:{at}/{len(planned)}")
            held_up = True
            break
        if not held_up or _first_is_true(status.get("conditions") or (), "Initialized"):
            # Once initialized, only those that still run count.
            self.restarts, self.last_restart = sidecar_restarts, sidecar_restart
        return held_up

    def _count_restarts(self, found: Object) -> None:
        self.restarts += found.get("restartCount", 0)
        self.last_restart = max(self.last_restart, _ended(found))

    def _count_containers(self, status: Object) -> None:
        running = False
        error = ""
        for found in reversed(status.get("containerStatuses") or ()):
            self._count_restarts(found)
            state = found.get("state") or {}
            waiting, terminated = state.get("waiting"), state.get("terminated")
            if waiting and waiting.get("reason"):
                self.reason = waiting["reason"]
            elif terminated is not None:
                self.reason = _end_reason(terminated)
                if terminated.get("exitCode"):
                    error = self.reason
            elif found.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            # Some have completed; the pod has not, as long as one runs.
            if running and any(
                item.get("type") == "Ready" and item.get("status") == "True" for item in status.get("conditions") or ()
            ):
                self.reason = "Running"
            else:
                self.reason = error or ("NotReady" if running else self.reason)


def _first_is_true(conditions: Any, kind: str) -> bool:
    for condition in conditions:
        if condition.get("type") == kind:
            return bool(condition.get("status") == "True")
    return False


def _ended(found: Object) -> str:
    """When the container's last run ended; timestamps in this form sort by time."""
    return ((found.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""


def _end_reason(terminated: Object) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _init_reason(found: Object, otherwise: str) -> str:
    state = found.get("state") or {}
    if state.get("terminated"):
        return f"Init:{_end_reason(state['terminated'])}"
    waiting = (state.get("waiting") or {}).get("reason")
    return f"Init:{waiting}" if waiting and waiting != "PodInitializing" else otherwise
