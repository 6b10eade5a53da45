"""What Tidegate may do, from the table of kinds: no more than it does.

It reads and writes what is queued, and makes and deletes pods. Of Secrets it sees its own, of configurations too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidegate.controller.doors import dialect, hooks
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds
from tidegate.model.kinds import GROUP, SERVED

READ = ("get", "list", "watch")
_CONFIGURATIONS = (
    "mutatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
)  # fmt: skip
SECRET = "tidegate-webhook"  # noqa: S105 — its name
LEASE = "tidegate-operator"


def _rule(group: str, resources: Iterable[str], verbs: Sequence[str], names: Sequence[str] = ()) -> Object:
    rule: Object = {"apiGroups": [group], "resources": sorted(resources), "verbs": list(verbs)}
    return rule | ({"resourceNames": list(names)} if names else {})


def cluster_rules(kinds: Kinds) -> list[Object]:
    """In all namespaces, and of what has none."""
    definitions = [f"{kind.definition.plural}.{GROUP}" for kind in SERVED]
    ours = sorted({hooks.NAME, dialect.NAME})
    return [
        _rule("", ["limitranges", "namespaces", "nodes"], READ),
        _rule("", ["pods"], [*READ, "create", "update", "delete"]),
        _rule("", ["resourcequotas"], [*READ, "create", "update", "delete"]),
        _rule("", ["events"], ["create", "patch"]),
        _rule("scheduling.k8s.io", ["priorityclasses"], READ),
        _rule("node.k8s.io", ["runtimeclasses"], READ),
        _rule("apiextensions.k8s.io", ["customresourcedefinitions"], READ),
        # Nobody can be allowed to create only what has a certain name; to change, he can.
        _rule("apiextensions.k8s.io", ["customresourcedefinitions"], ["create"]),
        _rule("apiextensions.k8s.io", ["customresourcedefinitions"], ["patch", "update"], definitions),
        _rule("admissionregistration.k8s.io", _CONFIGURATIONS, ["create"]),
        _rule("admissionregistration.k8s.io", _CONFIGURATIONS, [*READ, "update"], ours),
        _rule("scheduling.volcano.sh", ["podgroups"], [*READ, "create", "update", "delete"]),
        *_own_rules(),
        *application_rules(kinds),
    ]


def _own_rules() -> list[Object]:
    every = [kind.definition.plural for kind in SERVED]
    return [
        _rule(GROUP, every, READ),
        _rule(GROUP, ["workloads"], ["create", "update", "patch"]),
        _rule(GROUP, ["queues"], ["create", "update"]),
        _rule(GROUP, ["clusterqueues"], ["create", "update", "delete"]),
        _rule(GROUP, [f"{each}/status" for each in ("clusterqueues", "queuejobs", "queues", "workloads")],
              ["update"]),
    ]  # fmt: skip


def application_rules(kinds: Kinds) -> list[Object]:
    """Applications are changed and never made or deleted. Whoever says that a Workload goes with its application must
    be allowed to touch that one's finalizers."""
    plurals: dict[str, set[str]] = {}
    for entry in kinds.entries:
        plurals.setdefault(entry.group, set()).add(entry.plural)
    rules = []
    for entry in kinds.entries:
        if entry.refers is not None:
            rules.append(_rule(entry.group, [f"{kind.lower()}s" for kind in entry.refers.kinds], READ))
    for group, names in sorted(plurals.items()):
        if applications := names - {"pods"} if not group else names:
            rules.append(_rule(group, applications, [*READ, "update"]))
        rules.append(_rule(group, [f"{name}/finalizers" for name in names], ["update"]))
        if started := [f"{entry.plural}/status" for entry in kinds.entries if entry.started and entry.group == group]:
            rules.append(_rule(group, started, ["update"]))
    return rules


def own_rules() -> list[Object]:
    """In its own namespace: the lease, the certificates, the rules for dialects."""
    return [
        _rule("coordination.k8s.io", ["leases"], ["create"]),
        _rule("coordination.k8s.io", ["leases"], ["get", "update"], [LEASE]),
        _rule("", ["secrets"], ["create"]),
        _rule("", ["secrets"], [*READ, "update"], [SECRET]),
        _rule("", ["configmaps"], READ, [dialect.NAME]),
    ]


def roles_for_people() -> list[Object]:
    """Rights that `view`, `edit` and `admin` get by aggregation: work for those who edit, Queues for those who rule a
    namespace. To grant, which is to write a Workload's status, nobody gets."""
    every = [kind.definition.plural for kind in SERVED]
    work = ["queuejobs", "taskclusters", "taskobjects", "tasks", "workloads"]
    write = ["create", "update", "patch", "delete", "deletecollection"]
    return [
        _for_people("view", [_rule(GROUP, every, READ)]),
        _for_people("edit", [_rule(GROUP, work, write)]),
        _for_people("admin", [_rule(GROUP, ["queues"], write)]),
    ]


def _for_people(role: str, rules: list[Object]) -> Object:
    label = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true"}
    meta = {"name": f"tidegate-{role}", "labels": label}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": meta, "rules": rules}
