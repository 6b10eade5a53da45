"""What only Tidegate writes: a policy that the API server keeps by itself, whether Tidegate runs or not; pure.

Nobody signs for somebody else, grants himself pods, lifts a gate or moves a pod: of updates of pods the doors are not
asked. What was written into an application the door keeps itself, since it writes that down in other people's updates.
"""

from __future__ import annotations

from tidegate.controller.doors.hooks import MAY_GRANT, NAME, OURS, Where, changed, rules
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds
from tidegate.model.kinds import GROUP, VERSION
from tidegate.workloads.names import BEFORE, GATE, QUEUE, WORKLOAD

_API = "admissionregistration.k8s.io/v1"
_POD = "request.resource.resource == 'pods'"


def policy(kinds: Kinds) -> Object:
    """The rules, for every kind that is queued and for Workloads."""
    workloads = {
        "apiGroups": [GROUP], "apiVersions": [VERSION], "resources": ["workloads"], "operations": ["UPDATE"],
        "scope": "Namespaced",
    }  # fmt: skip
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [*rules(kinds.entries, ["UPDATE"]), workloads],
            "excludeResourceRules": [],
            "namespaceSelector": {},
            "objectSelector": {},
        },
        # Cheap first: of all updates few touch what is ours, and only those are looked at.
        "matchConditions": [
            {"name": "touches", "expression": f"({_differs()}) || ({_lifts()}) || ({_moves()})"},
            {"name": "by-others", "expression": f"!{MAY_GRANT}"},
        ],
        "validations": [
            {
                "expression": f"!({_differs()})",
                "message": f"Tidegate alone writes the annotations {', '.join(OURS)}; leave them as they are.",
            },
            {
                "expression": f"!({_lifts()})",
                "message": f"Tidegate lifts {GATE} when the pod is granted; see `tidegate why` for what it waits for.",
            },
            {
                "expression": f"!({_moves()})",
                "message": "A pod stays in the Queue that it was created for; delete it, and create it for another.",
            },
        ],
    }
    meta = {"name": NAME, "labels": {"app.kubernetes.io/managed-by": "tidegate"}}
    return {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": meta, "spec": spec}


def binding(where: Where) -> Object:
    """Where they hold."""
    selector = where.at_all() if where.everywhere else where.labelled()
    spec = {
        "policyName": NAME,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": selector, "objectSelector": {}},
    }
    meta = {"name": NAME, "labels": {"app.kubernetes.io/managed-by": "tidegate"}}
    return {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta, "spec": spec}


def _differs() -> str:
    """Whether an annotation of ours is another than before."""
    notes = [changed(key, "annotations") for key in OURS if key != BEFORE]
    return " || ".join([*notes, f"({_POD} && {changed(BEFORE, 'annotations')})"])


def _moves() -> str:
    """Whether a pod that is counted to a Queue, or waits for one, names another."""
    counted = f"(has(oldObject.metadata.annotations) && '{WORKLOAD}' in oldObject.metadata.annotations)"
    return f"{_POD} && ({counted} || {_gated('oldObject')}) && {changed(QUEUE, 'labels')}"


def _lifts() -> str:
    """Whether our gate is taken off a pod."""
    return f"{_POD} && {_gated('oldObject')} && !({_gated('object')})"


def _gated(of: str) -> str:
    return f"(has({of}.spec.schedulingGates) && {of}.spec.schedulingGates.exists(g, g.name == '{GATE}'))"
