"""Which fields of which kinds a field selector may name, and how they are read from an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.kube.wire import Object

Getter = Callable[[Object], str]


def at(path: str, default: str = "") -> Getter:
    """A getter for a dotted path; what is absent reads as `default`."""
    parts = path.split(".")

    def get(obj: Object) -> str:
        value: Any = obj
        for part in parts:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return default
        return str(value).lower() if isinstance(value, bool) else str(value)

    return get


META = {"metadata.name": at("metadata.name"), "metadata.namespace": at("metadata.namespace")}


_NAMED = {"metadata.name": META["metadata.name"]}


def _plain(*paths: str) -> dict[str, Getter]:
    return META | {path: at(path) for path in paths}


_COMPONENT, _REPORTING = at("source.component"), at("reportingComponent")
_OBJECT = "involvedObject."
_EVENT = _plain(
    "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
    "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "type",
    "reportingComponent",
) | {"source": lambda event: _COMPONENT(event) or _REPORTING(event)}  # fmt: skip
# Events are kept in the core group's form, whichever group asks.
_REGARDING = _plain("reason", "type") | {"reportingController": _REPORTING} | {
    f"regarding.{path.removeprefix(_OBJECT)}": get for path, get in _EVENT.items() if path.startswith(_OBJECT)
}  # fmt: skip

SELECTABLE: dict[tuple[str, str], dict[str, Getter]] = {
    ("", "pods"): _plain(
        "spec.nodeName", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP",
        "status.nominatedNodeName",
    ) | {"spec.restartPolicy": at("spec.restartPolicy"), "spec.hostNetwork": at("spec.hostNetwork", "false")},
    ("", "events"): _EVENT,
    ("events.k8s.io", "events"): _REGARDING,
    ("", "secrets"): _plain("type"),
    ("", "namespaces"): _NAMED | {"status.phase": at("status.phase"), "name": META["metadata.name"]},
    ("", "nodes"): _NAMED | {"spec.unschedulable": at("spec.unschedulable", "false")},
    ("", "services"): _plain("spec.clusterIP", "spec.type"),
    ("", "replicationcontrollers"): META | {"status.replicas": at("status.replicas", "0")},
    ("apps", "replicasets"): META | {"status.replicas": at("status.replicas", "0")},
    ("batch", "jobs"): META | {"status.successful": at("status.succeeded", "0")},
    ("certificates.k8s.io", "certificatesigningrequests"): {
        "metadata.name": META["metadata.name"], "spec.signerName": at("spec.signerName"),
    },
}  # fmt: skip
