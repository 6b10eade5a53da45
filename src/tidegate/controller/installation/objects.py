"""Everything that is put on a cluster, in order."""

from __future__ import annotations

from tidegate.controller.bootstrap import wanted_definitions
from tidegate.controller.installation.deployment import NAME, Choice, budget, config, deployment, service
from tidegate.controller.installation.rights import cluster_rules, own_rules, roles_for_people
from tidegate.controller.kinds import CLUSTER_QUEUES
from tidegate.controller.namespaces import MANAGED
from tidegate.kube import resources as r
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import Kinds
from tidegate.model.kinds.queue import ROOT

_RBAC = "rbac.authorization.k8s.io"
MANAGED_BY = "app.kubernetes.io/managed-by"

RESOURCES: dict[str, Resource[Object]] = {
    each.kind: each
    for each in (
        r.CRDS, r.NAMESPACES, r.SERVICEACCOUNTS, r.CLUSTERROLES, r.CLUSTERROLEBINDINGS, r.ROLES, r.ROLEBINDINGS,
        r.SERVICES, r.CONFIGMAPS, r.PODDISRUPTIONBUDGETS, r.DEPLOYMENTS, CLUSTER_QUEUES,
    )
}  # fmt: skip


def everything(kinds: Kinds, choice: Choice) -> list[Object]:
    """The definitions first, what runs last."""
    return [*wanted_definitions(), *around(kinds, choice), root()]


def around(kinds: Kinds, choice: Choice) -> list[Object]:
    """All but the definitions and what is defined by them."""
    made = [
        namespace(choice), _account(choice), _role("ClusterRole", cluster_rules(kinds)),
        _binding("ClusterRoleBinding", "ClusterRole", choice), _role("Role", own_rules(), choice.namespace),
        _binding("RoleBinding", "Role", choice, choice.namespace), *roles_for_people(), service(choice), budget(choice),
        *([config(choice)] if choice.kinds else []), deployment(choice),
    ]  # fmt: skip
    for each in made:
        each["metadata"]["labels"] = {**(each["metadata"].get("labels") or {}), MANAGED_BY: NAME}
    return made


def root() -> Object:
    """What Queues belong to that name no ClusterQueue."""
    return {"apiVersion": CLUSTER_QUEUES.api_version, "kind": "ClusterQueue", "metadata": {"name": ROOT}, "spec": {}}


def namespace(choice: Choice) -> Object:
    """Its own, where it does not rule: it must be able to start."""
    labels = {MANAGED: "false", "pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": choice.namespace, "labels": labels}}


def _account(choice: Choice) -> Object:
    meta = {"name": NAME, "namespace": choice.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}


def _role(kind: str, rules: list[Object], namespace: str = "") -> Object:
    meta = {"name": NAME, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": meta, "rules": rules}


def _binding(kind: str, role: str, choice: Choice, namespace: str = "") -> Object:
    meta = {"name": NAME, **({"namespace": namespace} if namespace else {})}
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": choice.namespace}
    return {
        "apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": meta, "subjects": [subject],
        "roleRef": {"apiGroup": _RBAC, "kind": role, "name": NAME},
    }  # fmt: skip
