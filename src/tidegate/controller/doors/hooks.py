"""The webhook configurations, from the table of kinds; pure.

A Tidegate that does not answer stops what is created in the namespaces it rules, and nothing anywhere else: the server
picks namespaces by their labels before it calls. Why each choice: docs/decisions/0007-doors-on-a-cluster.md.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidegate.controller.doors.reviewing import APPLICATIONS, CHANGES, CLUSTER_QUEUES_DOOR, GRANTERS, WORKLOADS
from tidegate.controller.namespaces import MANAGED
from tidegate.kube.wire import Object
from tidegate.model.jobs import JobKind, Kinds
from tidegate.model.kinds import GROUP, VERSION
from tidegate.workloads.names import BEFORE, FLAVOR, GRANTED, POD_SET, QUEUE, REQUESTS, SUBMITTER, WORKLOAD

NAME = "tidegate"
"""Of both configurations."""
TIMEOUT_S = 5
SYSTEM = ("kube-node-lease", "kube-public", "kube-system")
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label that every namespace has."""
MAY_GRANT = (
    f"authorizer.group('{GROUP}').resource('workloads').subresource('status')"
    ".namespace(request.namespace).check('update').allowed()"
)
"""Whoever may write what is granted could grant himself anything: Tidegate, and those who administer the cluster."""
OURS = (SUBMITTER, GRANTED, BEFORE, WORKLOAD, POD_SET, FLAVOR, QUEUE, REQUESTS)
"""Annotations that only Tidegate writes."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the server finds the webhooks: behind a Service (namespace and name), or at a URL; and whom to trust."""

    service: tuple[str, str] | None = None
    url: str = ""
    trusted: bytes = b""

    def client_config(self, path: str) -> dict[str, Any]:
        bundle = {"caBundle": base64.b64encode(self.trusted).decode()} if self.trusted else {}
        if self.service is None:
            return {"url": f"{self.url.rstrip('/')}{path}", **bundle}
        namespace, name = self.service
        return {"service": {"namespace": namespace, "name": name, "path": path, "port": 443}, **bundle}


@dataclass(frozen=True, slots=True)
class Where:
    """In which namespaces Tidegate rules."""

    everywhere: bool = False
    own: str = ""
    """The namespace it runs in itself, where it must be able to start."""

    def labelled(self) -> Object:
        return _selector({"key": MANAGED, "operator": "In", "values": ["true"]})

    def unlabelled(self) -> Object:
        """Those that say nothing, but for the system's; a selector knows no prefixes, so a condition sees to those."""
        return _selector({"key": MANAGED, "operator": "NotIn", "values": ["true", "false"]}, self._not_spared())

    def at_all(self) -> Object:
        """With a label or without, but for the system's."""
        return _selector({"key": MANAGED, "operator": "NotIn", "values": ["false"]}, self._not_spared())

    def _not_spared(self) -> Object:
        spared = sorted({*SYSTEM, *([self.own] if self.own else [])})
        return {"key": NAMESPACE_NAME, "operator": "NotIn", "values": spared}


def _selector(*expressions: Object) -> Object:
    """What must be empty is said to be, so that it is put back when somebody fills it."""
    return {"matchLabels": {}, "matchExpressions": list(expressions)}


NOT_OF_THE_SYSTEM = {"name": "not-of-the-system", "expression": "!request.namespace.startsWith('kube-')"}


def rules(entries: Iterable[JobKind], operations: list[str]) -> list[Object]:
    """One rule per API group and versions."""
    plurals: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for entry in entries:
        plurals.setdefault((entry.group, tuple(entry.versions)), set()).add(entry.plural)
    return [
        {
            "apiGroups": [group], "apiVersions": list(versions), "resources": sorted(names),
            "operations": operations, "scope": "Namespaced",
        }
        for (group, versions), names in sorted(plurals.items())
    ]  # fmt: skip


def changed(key: str, of: str) -> str:
    """Whether a label or an annotation is another than before."""
    return f"{_value('object', of, key)} != {_value('oldObject', of, key)}"


def _value(obj: str, of: str, key: str) -> str:
    return f"(has({obj}.metadata.{of}) && '{key}' in {obj}.metadata.{of} ? {obj}.metadata.{of}['{key}'] : '')"


def _matters() -> Object:
    """Of all changes few are of what a door looks at: what an application wants, where it waits, and our own notes."""
    spec = "has(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec != oldObject.spec)"
    notes = [changed(key, "annotations") for key in OURS]
    return {"name": "matters", "expression": " || ".join([spec, changed(QUEUE, "labels"), *notes])}


def _hook(name: str, path: str, target: Target, **more: Any) -> Object:
    said = {
        "name": f"{name}.{GROUP}", "clientConfig": target.client_config(path), "admissionReviewVersions": ["v1"],
        "sideEffects": "None", "matchPolicy": "Equivalent", "timeoutSeconds": TIMEOUT_S, "failurePolicy": "Fail",
        "objectSelector": {}, "matchConditions": [],
    }  # fmt: skip
    return {**said, **more}


def mutating(kinds: Kinds, target: Target, where: Where) -> Object:
    """What is created is held, gated, signed or refused; what is changed stays within what was granted."""
    judged = rules(kinds.entries, ["CREATE"])
    # A pod is as it was created; what of it is not to be changed the policy says.
    updated = rules([entry for entry in kinds.entries if entry.group or entry.kind != "Pod"], ["UPDATE"])
    by_hand = {
        "apiGroups": [GROUP], "apiVersions": [VERSION], "resources": ["workloads"], "operations": ["CREATE"],
        "scope": "Namespaced",
    }  # fmt: skip
    not_ours = {"name": "made-by-hand", "expression": f"!{MAY_GRANT}"}
    hooks = []
    for name, selector, conditions in _places(where):
        # Not asked again after others: what the door wrote would then look as if the user had.
        common = {"namespaceSelector": selector, "reinvocationPolicy": "Never"}
        more = {"matchConditions": conditions, **common}
        hooks.append(_hook(f"applications-{name}", APPLICATIONS, target, rules=judged, **more))
        matters = [*conditions, _matters()]
        for by, path, who in (("people", CHANGES, [not_ours]), ("granters", GRANTERS, _granters(target))):
            more = {"rules": updated, "matchConditions": [*matters, *who], **common}
            hooks.append(_hook(f"changes-by-{by}-{name}", path, target, **more))
        both = [*conditions, not_ours]
        hooks.append(_hook(f"workloads-{name}", WORKLOADS, target, rules=[by_hand], matchConditions=both, **common))
    return _configuration("MutatingWebhookConfiguration", hooks)


def _granters(target: Target) -> list[Object]:
    """Who may grant is believed what he notes. Tidegate's own writes pass unchanged: where its account is its own, it
    need not ask itself."""
    conditions = [{"name": "may-grant", "expression": MAY_GRANT}]
    if target.service is not None:
        account = f"system:serviceaccount:{target.service[0]}:{target.service[1]}"
        conditions.append({"name": "by-others", "expression": f"request.userInfo.username != '{account}'"})
    return conditions


def _places(where: Where) -> list[tuple[str, Object, list[Object]]]:
    places: list[tuple[str, Object, list[Object]]] = [("labelled", where.labelled(), [])]
    if where.everywhere:
        places.append(("unlabelled", where.unlabelled(), [NOT_OF_THE_SYSTEM]))
    return places


def validating(target: Target) -> Object:
    """ClusterQueues that would be no tree are refused; while nobody answers they are let in, and stand outside it."""
    rule = {
        "apiGroups": [GROUP], "apiVersions": [VERSION], "resources": ["clusterqueues"],
        "operations": ["CREATE", "UPDATE"], "scope": "Cluster",
    }  # fmt: skip
    has_parent = {"name": "has-a-parent", "expression": "has(object.spec) && has(object.spec.parent)"}
    hook = _hook(
        "clusterqueues", CLUSTER_QUEUES_DOOR, target, rules=[rule], failurePolicy="Ignore",
        matchConditions=[has_parent], namespaceSelector={},
    )  # fmt: skip
    return _configuration("ValidatingWebhookConfiguration", [hook])


def _configuration(kind: str, hooks: list[Object]) -> Object:
    meta = {"name": NAME, "labels": {"app.kubernetes.io/managed-by": "tidegate"}}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": meta, "webhooks": hooks}
