"""The roles every cluster starts with: full and tenant administration, reading, discovery, and the node's own."""

from __future__ import annotations

from tidegate.kube.wire import Object

_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_TO = "rbac.authorization.k8s.io/aggregate-to-"

_WORKLOADS: dict[str, tuple[str, ...]] = {
    "apps": ("daemonsets", "deployments", "deployments/scale", "replicasets", "replicasets/scale", "statefulsets",
             "statefulsets/scale"),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
}  # fmt: skip
_CORE = ("configmaps", "endpoints", "persistentvolumeclaims", "pods", "replicationcontrollers",
         "replicationcontrollers/scale", "serviceaccounts", "services")  # fmt: skip


def _rule(verbs: tuple[str, ...], groups: tuple[str, ...], resources: tuple[str, ...]) -> Object:
    return {"verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources)}


def _paths(*paths: str) -> Object:
    return {"verbs": ["get"], "nonResourceURLs": list(paths)}


def _role(name: str, rules: list[Object], **labels: str) -> Object:
    metadata: Object = {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"} | labels}
    metadata["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    return {"metadata": metadata, "rules": rules}


def _view_rules() -> list[Object]:
    status = tuple(
        f"{name}/status" for name in ("pods", "services", "replicationcontrollers", "persistentvolumeclaims")
    )
    more = ("bindings", "events", "limitranges", "namespaces", "namespaces/status", "pods/log", "resourcequotas",
            "resourcequotas/status")  # fmt: skip
    rules = [_rule(_READ, ("",), (*_CORE, *status, *more)), _rule(_READ, ("discovery.k8s.io",), ("endpointslices",))]
    for group, resources in _WORKLOADS.items():
        with_status = tuple(f"{name}/status" for name in resources if "/" not in name)
        rules.append(_rule(_READ, (group,), (*resources, *with_status)))
    return rules


def _edit_rules() -> list[Object]:
    connect = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy")
    rules = [
        _rule(_READ, ("",), (*connect, "secrets")),
        _rule(("create",), ("",), ("pods/eviction", "serviceaccounts/token")),
        _rule(_WRITE, ("",), (*_CORE, *connect, "events", "secrets")),
        _rule(("impersonate",), ("",), ("serviceaccounts",)),
        _rule((*_READ, *_WRITE), ("coordination.k8s.io",), ("leases",)),
    ]
    return rules + [_rule(_WRITE, (group,), resources) for group, resources in _WORKLOADS.items()]


def _admin_rules() -> list[Object]:
    return [
        _rule(("create",), ("authorization.k8s.io",), ("localsubjectaccessreviews",)),
        _rule((*_READ, *_WRITE), ("rbac.authorization.k8s.io",), ("rolebindings", "roles")),
    ]


def _node_rules() -> list[Object]:
    """What a node's agent does, and no more."""
    return [
        _rule((*_READ, "create", "patch", "update"), ("",), ("nodes", "nodes/status")),
        _rule((*_READ, "delete"), ("",), ("pods",)),
        _rule(("patch", "update"), ("",), ("pods/status",)),
        _rule(("create",), ("",), ("bindings", "pods/binding", "serviceaccounts/token")),
        _rule(_READ, ("",), ("configmaps", "secrets", "services", "endpoints", "namespaces", "serviceaccounts")),
        _rule(_READ, ("discovery.k8s.io",), ("endpointslices",)),
        _rule(("create", "patch", "update"), ("", "events.k8s.io"), ("events",)),
        _rule((*_READ, "create", "patch", "update"), ("coordination.k8s.io",), ("leases",)),
    ]


def cluster_roles() -> list[Object]:
    """`admin`, `edit` and `view` are aggregated: their own rules plus those of every role labelled for them."""
    everything = [_rule(("*",), ("*",), ("*",)), {"verbs": ["*"], "nonResourceURLs": ["*"]}]
    discovery = _paths("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz",
                       "/version", "/version/")  # fmt: skip
    reviews = [
        _rule(("create",), ("authorization.k8s.io",), ("selfsubjectaccessreviews", "selfsubjectrulesreviews")),
        _rule(("create",), ("authentication.k8s.io",), ("selfsubjectreviews",)),
    ]
    issuer = _paths("/.well-known/openid-configuration", "/.well-known/openid-configuration/", "/openid/v1/jwks",
                    "/openid/v1/jwks/")  # fmt: skip
    return [
        _role("cluster-admin", everything),
        _aggregate("admin", "admin"),
        _aggregate("edit", "edit", **{f"{_TO}admin": "true"}),
        _aggregate("view", "view", **{f"{_TO}edit": "true"}),
        _role("system:aggregate-to-admin", _admin_rules(), **{f"{_TO}admin": "true"}),
        _role("system:aggregate-to-edit", _edit_rules(), **{f"{_TO}edit": "true"}),
        _role("system:aggregate-to-view", _view_rules(), **{f"{_TO}view": "true"}),
        _role("system:discovery", [discovery]),
        _role("system:basic-user", reviews),
        _role("system:public-info-viewer", [_paths("/healthz", "/livez", "/readyz", "/version", "/version/")]),
        _role("system:service-account-issuer-discovery", [issuer]),
        _role("system:node", _node_rules()),
    ]


def _aggregate(name: str, to: str, **labels: str) -> Object:
    rule = {"clusterRoleSelectors": [{"matchLabels": {f"{_TO}{to}": "true"}}]}
    return _role(name, [], **labels) | {"aggregationRule": rule}


def cluster_role_bindings() -> list[Object]:
    everyone = ("system:authenticated",)
    return [
        _binding("cluster-admin", ("system:masters",)),
        _binding("system:discovery", everyone),
        _binding("system:basic-user", everyone),
        _binding("system:public-info-viewer", (*everyone, "system:unauthenticated")),
        _binding("system:service-account-issuer-discovery", ("system:serviceaccounts",)),
        _binding("system:node", ("system:nodes",)),
    ]


def _binding(role: str, groups: tuple[str, ...]) -> Object:
    group = "rbac.authorization.k8s.io"
    subjects = [{"kind": "Group", "apiGroup": group, "name": name} for name in groups]
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": role}
    return {"metadata": _role(role, [])["metadata"], "subjects": subjects, "roleRef": reference}
