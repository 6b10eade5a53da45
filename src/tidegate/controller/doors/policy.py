"""What only Tidegate writes: a policy that the API server keeps by itself, whether Tidegate runs or not; pure.

Nobody signs for somebody else, grants himself pods, or lifts a gate: not by an update either, which the doors are not
asked about.
"""

from __future__ import annotations

from tidegate.controller.doors.hooks import MAY_GRANT, NAME, Where, rules
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds
from tidegate.model.kinds import GROUP, VERSION
from tidegate.workloads.names import BEFORE, FLAVOR, GATE, GRANTED, POD_SET, QUEUE, SUBMITTER, WORKLOAD

_OURS = (SUBMITTER, GRANTED, BEFORE, WORKLOAD, POD_SET, FLAVOR, QUEUE)
_API = "admissionregistration.k8s.io/v1"


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
            {"name": "touches", "expression": f"({_differs()}) || ({_lifts()})"},
            {"name": "by-others", "expression": f"!{MAY_GRANT}"},
        ],
        "validations": [
            {
                "expression": f"!({_differs()})",
                "message": f"Tidegate alone writes the annotations {', '.join(_OURS)}; leave them as they are.",
            },
            {
                "expression": f"!({_lifts()})",
                "message": f"Tidegate lifts {GATE} when the pod is granted; see `tidegate why` for what it waits for.",
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
    return " || ".join(f"{_value('object', key)} != {_value('oldObject', key)}" for key in _OURS)


def _value(of: str, key: str) -> str:
    there = f"has({of}.metadata.annotations) && '{key}' in {of}.metadata.annotations"
    return f"({there} ? {of}.metadata.annotations['{key}'] : '')"


def _lifts() -> str:
    """Whether our gate is taken off a pod."""
    return f"request.resource.resource == 'pods' && {_gated('oldObject')} && !({_gated('object')})"


def _gated(of: str) -> str:
    return f"(has({of}.spec.schedulingGates) && {of}.spec.schedulingGates.exists(g, g.name == '{GATE}'))"
